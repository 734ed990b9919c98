package io.github.shardkeeper.autoconfigure.source;

import java.util.LinkedHashMap;
import java.util.Map;

import com.aliyun.openservices.log.Client;
import com.aliyun.openservices.log.common.auth.CredentialsProvider;
import com.aliyun.openservices.log.common.auth.DefaultCredentials;
import com.aliyun.openservices.log.common.auth.StaticCredentialsProvider;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.StringUtils;

import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Topic;
import io.github.shardkeeper.autoconfigure.properties.SlsSourceProperties;
import io.github.shardkeeper.autoconfigure.properties.SlsSourceProperties.SlsTopicProperties;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.sls.SlsSettings;
import io.github.shardkeeper.sls.SlsShardSource;
import io.github.shardkeeper.source.ResetPolicy;

/** Source {@code sls}, reached with {@code shardkeeper.sls.*}. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnTopicSource("sls")
public class SlsSourceConfiguration {

	private static final String PREFIX = "shardkeeper.sls.";

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ SlsShardSource.class, Client.class })
	static class WithClient {

		@Bean
		SlsShardSource shardkeeperSlsSource(SourceSelection selection, ShardkeeperProperties properties,
				ObjectProvider<CredentialsProvider> provider) {
			SlsSourceProperties sls = properties.sls();
			String endpoint = require(sls.endpoint(), "endpoint",
					"Set it to the host of the region's service, for example 'cn-hangzhou.log.aliyuncs.com'.");
			String project = require(sls.project(), "project", "Set it to the project of the logstores.");
			return new SlsShardSource(settings(endpoint, project, sls, selection.topics("sls")),
					credentials(sls, provider));
		}

		private static SlsSettings settings(String endpoint, String project, SlsSourceProperties sls,
				Map<String, Topic> topics) {
			try {
				return new SlsSettings(endpoint, project, logstores(sls, topics), sls.pollInterval(),
						sls.shardInterval(), sls.fetchCount(), sls.threads(), sls.requestTimeout(),
						SlsSourceProperties.textOrNull(sls.region()), SlsSourceProperties.textOrNull(sls.proxy()),
						SlsSourceProperties.textOrNull(sls.consumerGroup()));
			}
			catch (IllegalArgumentException ex) {
				throw new ShardkeeperConfigurationException("%s.".formatted(ex.getMessage()),
						"Correct the property; the reference lists all properties and their rules.", ex);
			}
		}

		private static Map<String, SlsSettings.Logstore> logstores(SlsSourceProperties sls, Map<String, Topic> topics) {
			Map<String, SlsSettings.Logstore> logstores = new LinkedHashMap<>();
			topics.forEach((name, topic) -> {
				SlsTopicProperties own = sls.topics().get(name);
				String logstore = (own != null) ? own.logstore() : null;
				ResetPolicy reset = topic.reset();
				logstores.put(name, new SlsSettings.Logstore((logstore != null) ? logstore : name,
						(own != null) ? own.keyField() : null, (reset != null) ? reset : ResetPolicy.EARLIEST));
			});
			return logstores;
		}

		private static CredentialsProvider credentials(SlsSourceProperties sls,
				ObjectProvider<CredentialsProvider> provider) {
			// Several without a primary one fail here.
			CredentialsProvider bean = provider.getIfAvailable();
			boolean hasKey = StringUtils.hasText(sls.accessKeyId()) || StringUtils.hasText(sls.accessKeySecret());
			if (bean != null && (hasKey || StringUtils.hasText(sls.securityToken()))) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.sls' has credentials, and there is also a CredentialsProvider bean.",
						"Remove the properties 'access-key-id', 'access-key-secret' and 'security-token', or the bean.");
			}
			if (bean != null) {
				return bean;
			}
			String otherwise = "Set 'shardkeeper.sls.access-key-id' and 'shardkeeper.sls.access-key-secret', or define "
					+ "a bean of the type com.aliyun.openservices.log.common.auth.CredentialsProvider.";
			return new StaticCredentialsProvider(
					new DefaultCredentials(require(sls.accessKeyId(), "access-key-id", otherwise),
							require(sls.accessKeySecret(), "access-key-secret", otherwise),
							SlsSourceProperties.textOrNull(sls.securityToken())));
		}

		private static String require(@Nullable String value, String property, String otherwise) {
			String text = SlsSourceProperties.textOrNull(value);
			if (text == null) {
				throw new ShardkeeperConfigurationException(
						"'%s%s' is not set, but a topic has the source 'sls'.".formatted(PREFIX, property), otherwise);
			}
			return text;
		}

	}

}
