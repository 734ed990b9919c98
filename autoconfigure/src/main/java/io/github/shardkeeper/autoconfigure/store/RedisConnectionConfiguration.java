package io.github.shardkeeper.autoconfigure.store;

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.core.SpringProperties;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.autoconfigure.client.RedisClientOptionsCustomizer;
import io.github.shardkeeper.autoconfigure.client.ShardkeeperRedis;
import io.github.shardkeeper.autoconfigure.source.SourceSelection;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/** Connections to Redis, reached with {@code spring.data.redis.*}. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "shardkeeper.store", havingValue = "redis", matchIfMissing = true)
@ConditionalOnClass({ RedisConnector.class, RedisConnectionFactory.class, LettuceConnectionFactory.class,
		RedisClient.class })
public class RedisConnectionConfiguration {

	@Bean
	RedisConnector shardkeeperRedisConnector(ObjectProvider<RedisConnectionFactory> byDefault,
			@ShardkeeperRedis ObjectProvider<RedisConnectionFactory> qualified,
			ObjectProvider<RedisClientOptionsCustomizer> customizers, ObjectProvider<MeterListeners.OfScripts> meters,
			ConfigurableListableBeanFactory beans) {
		RedisConnectionFactory used = connectionFactory(byDefault, qualified, beans);
		RedisConnector connector = new RedisConnector(used, customizers
			.orderedStream().<Consumer<ClientOptions.Builder>>map((customizer) -> customizer::customize).toList());
		List<String> names = factoryNames(beans);
		if (names.size() > 1) {
			names.stream()
				.filter((name) -> beans.getSingleton(name) == used)
				.forEach((name) -> connector.reportChoice(name, names));
		}
		meters.ifAvailable((timed) -> connector.onScriptAnswered(timed.listener()));
		if (beans.containsBean(SourceSelection.beanName("redis")) && isStarted()) {
			// The shards of its topics are looked up when the application starts.
			connector.connectAhead();
		}
		return connector;
	}

	/**
	 * Returns the one that is qualified, or else the one that an injection point without
	 * a qualifier gets.
	 */
	private static RedisConnectionFactory connectionFactory(ObjectProvider<RedisConnectionFactory> byDefault,
			ObjectProvider<RedisConnectionFactory> qualified, ConfigurableListableBeanFactory beans) {
		List<RedisConnectionFactory> own = qualified.stream().toList();
		if (own.size() > 1) {
			throw new ShardkeeperConfigurationException(
					"%d RedisConnectionFactory beans have @ShardkeeperRedis.".formatted(own.size()),
					"Leave it on one of them: all data of Shardkeeper are in one Redis.");
		}
		RedisConnectionFactory unique = own.isEmpty() ? byDefault.getIfUnique() : own.get(0);
		if (unique == null) {
			List<String> names = factoryNames(beans);
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.store' is 'redis', but there is no single RedisConnectionFactory bean: "
							+ (names.isEmpty() ? "there is none."
									: "there are '%s', of which none is the default."
										.formatted(String.join("', '", names))),
					names.isEmpty()
							? "Let Spring Boot create it from 'spring.data.redis.*', or set 'shardkeeper.store: memory' "
									+ "for a first look without Redis."
							: "Mark the one for Shardkeeper with @ShardkeeperRedis, or make it the default: declare "
									+ "every other one with @Bean(defaultCandidate = false), or mark it as @Primary. A "
									+ "Redis that evicts keys, such as a cache, is not fit for it.");
		}
		return unique;
	}

	private static List<String> factoryNames(ConfigurableListableBeanFactory beans) {
		return List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RedisConnectionFactory.class));
	}

	/**
	 * Returns whether the beans are started: not for a checkpoint of the process, which
	 * fails if a connection is open, or for a class data archive.
	 */
	static boolean isStarted() {
		return Stream
			.of(DefaultLifecycleProcessor.CHECKPOINT_PROPERTY_NAME, DefaultLifecycleProcessor.EXIT_PROPERTY_NAME)
			.map(SpringProperties::getProperty)
			.noneMatch(DefaultLifecycleProcessor.ON_REFRESH_VALUE::equalsIgnoreCase);
	}

}
