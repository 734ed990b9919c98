package io.github.shardkeeper.autoconfigure.properties;

import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesSource;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.StringUtils;

import io.github.shardkeeper.Internal;

/**
 * Properties of the source {@code sls}. Immutable.
 *
 * @param endpoint Host of the region's service, such as cn-hangzhou.log.aliyuncs.com,
 * without port, path and credentials. Reached with https, unless it begins with http://.
 * Must be set if a topic has the source sls.
 * @param project Project of the logstores. Must be set if a topic has the source sls.
 * @param accessKeyId Id of the access key. Must be set, unless there is a
 * CredentialsProvider bean.
 * @param accessKeySecret Secret of the access key. Must be set, unless there is a
 * CredentialsProvider bean.
 * @param securityToken Security token of a temporary access key. For tokens that change
 * define a CredentialsProvider bean.
 * @param region Region such as cn-hangzhou, to sign requests with version 4 of the
 * signature instead of version 1.
 * @param proxy HTTP proxy as host:port.
 * @param pollInterval Interval of reads of a shard that has no new records. Above 0, at
 * most a day.
 * @param shardInterval Interval at which the shards of the logstores are listed. Above 0,
 * at most a day.
 * @param fetchCount Maximum number of log groups that a request reads. 1 to 1000.
 * @param threads Maximum number of requests at a time that read, and the same for those
 * that append. 1 to 64.
 * @param requestTimeout Maximum time for a connection, and for each part of a reply.
 * Above 0, at most a day.
 * @param consumerGroup Name of an SLS consumer group that shows the positions of the
 * checkpoints.
 * @param topics Logstores, by the name of the topic. Without an entry, a topic reads the
 * logstore of the same name.
 */
@Internal
public record SlsSourceProperties(@Nullable String endpoint, @Nullable String project, @Nullable String accessKeyId,
		@Nullable String accessKeySecret, @Nullable String securityToken, @Nullable String region,
		@Nullable String proxy, @DefaultValue("500ms") Duration pollInterval,
		@DefaultValue("10s") Duration shardInterval, @DefaultValue("100") int fetchCount,
		@DefaultValue("4") int threads, @DefaultValue("10s") Duration requestTimeout, @Nullable String consumerGroup,
		@DefaultValue Map<String, SlsTopicProperties> topics) {

	/** Without credentials. */
	@Override
	public String toString() {
		return "SlsSourceProperties[endpoint=%s, project=%s, topics=%s]".formatted(this.endpoint, this.project,
				this.topics);
	}

	/** Returns a text without spaces around it, or {@code null} for none. */
	public static @Nullable String textOrNull(@Nullable String value) {
		return StringUtils.hasText(value) ? value.strip() : null;
	}

	/**
	 * Logstore that a topic reads.
	 *
	 * @param logstore Name of the logstore that the topic reads. Defaults to the name of
	 * the topic.
	 * @param keyField Content field that is the key of a record, for logs of other
	 * producers.
	 */
	@ConfigurationPropertiesSource
	public record SlsTopicProperties(@Nullable String logstore, @Nullable String keyField) {

		public SlsTopicProperties {
			logstore = textOrNull(logstore);
			keyField = textOrNull(keyField);
		}

	}

}
