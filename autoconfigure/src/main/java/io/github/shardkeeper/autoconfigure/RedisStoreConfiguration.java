package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.lettuce.core.RedisClient;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.consumer.TopicTrimming;
import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CoordinationSettings;
import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.DeadLetterStore;
import io.github.shardkeeper.coordination.MemberRuntime;
import io.github.shardkeeper.coordination.TopicGroups;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.checkpoint.RedisDeadLetterStore;
import io.github.shardkeeper.redis.checkpoint.RedisTopicGroups;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.stream.RedisStreamSource;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.ShardTrimmer;
import io.github.shardkeeper.source.TrimRule;

/**
 * Everything on Redis, by the connection factory that {@code spring.data.redis.*} has
 * made.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "shardkeeper.store", havingValue = "redis", matchIfMissing = true)
class RedisStoreConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ RedisConnectionFactory.class, LettuceConnectionFactory.class, RedisClient.class })
	static class WithLettuce {

		/** Long enough for a busy Redis, short enough to tell before the lease ends. */
		private static final Duration LONGEST_CONTROL_TIMEOUT = Duration.ofSeconds(1);

		private static final Duration DATA_TIMEOUT = Duration.ofSeconds(5);

		@Bean
		@ConditionalOnMissingBean
		RedisConnector shardkeeperRedisConnector(ObjectProvider<RedisConnectionFactory> factory) {
			RedisConnectionFactory unique = factory.getIfUnique();
			if (unique == null) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.store' is 'redis', but there is no single RedisConnectionFactory bean.",
						"Let Spring Boot create it from 'spring.data.redis.*', mark one of several as @Primary, "
								+ "or set 'shardkeeper.store: memory' for a first look without Redis.");
			}
			return new RedisConnector(unique);
		}

		@Bean
		@ConditionalOnMissingBean
		CoordinationStore shardkeeperCoordinationStore(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings) {
			Duration third = settings.lease().dividedBy(3);
			return new RedisCoordinationStore(connector, properties.keyPrefix(), settings.group(),
					(third.compareTo(LONGEST_CONTROL_TIMEOUT) < 0) ? third : LONGEST_CONTROL_TIMEOUT, wait(properties));
		}

		@Bean
		@ConditionalOnMissingBean(CheckpointStore.class)
		RedisCheckpointStore shardkeeperCheckpointStore(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings) {
			return new RedisCheckpointStore(connector, properties.keyPrefix(), settings.group(), DATA_TIMEOUT,
					wait(properties));
		}

		/**
		 * Not where the application keeps its checkpoints elsewhere, and the letters with
		 * them.
		 */
		@Bean
		@ConditionalOnMissingBean
		@ConditionalOnBean(RedisCheckpointStore.class)
		DeadLetterStore shardkeeperDeadLetterStore(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings) {
			return new RedisDeadLetterStore(connector, properties.keyPrefix(), settings.group(), DATA_TIMEOUT);
		}

		@Bean
		@ConditionalOnMissingBean
		BroadcastStores shardkeeperBroadcastStores(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings) {
			return new BroadcastStores(properties, settings,
					(name) -> new BroadcastStores.Stores(
							new RedisCheckpointStore(connector, properties.keyPrefix(), name, DATA_TIMEOUT,
									wait(properties)),
							new RedisDeadLetterStore(connector, properties.keyPrefix(), name, DATA_TIMEOUT)));
		}

		private static ReplicaWait wait(ShardkeeperProperties properties) {
			return new ReplicaWait(properties.redis().waitForReplicas(), properties.redis().waitTimeout());
		}

		@Bean
		@ConditionalOnMissingBean(ShardSource.class)
		RedisStreamSource shardkeeperSource(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings) {
			return new RedisStreamSource(connector, properties.keyPrefix(),
					ShardkeeperAutoConfiguration.shardCounts(properties), DATA_TIMEOUT, wait(properties));
		}

		@Bean
		@ConditionalOnMissingBean
		TopicGroups shardkeeperTopicGroups(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings) {
			return new RedisTopicGroups(connector, properties.keyPrefix(), settings.group(), DATA_TIMEOUT,
					wait(properties));
		}

		@Bean
		@ConditionalOnMissingBean
		@ConditionalOnBean(ShardTrimmer.class)
		TopicTrimming shardkeeperTopicTrimming(ShardkeeperProperties properties, ShardConsumerRunner runner,
				ShardSource source, ShardTrimmer trimmer, TopicGroups groups, MemberRuntime runtime) {
			Map<String, TrimRule> rules = new HashMap<>();
			properties.topics().forEach((name, topic) -> {
				ShardkeeperProperties.Trim trim = topic.trim();
				if (trim.maxLength() != null || trim.maxAge() != null) {
					rules.put(name, new TrimRule(trim.maxLength(), trim.maxAge(), trim.beyondCheckpoints()));
				}
			});
			return new TopicTrimming(rules, runner::topics, source, trimmer, groups, runtime, TopicTrimming.INTERVAL);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass("io.lettuce.core.RedisClient")
	static class WithoutLettuce {

		@Bean
		@ConditionalOnMissingBean
		CoordinationStore shardkeeperCoordinationStore() {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.store' is 'redis', but the Lettuce client is not on the class path.",
					"Add the dependency 'org.springframework.boot:spring-boot-starter-data-redis', "
							+ "or set 'shardkeeper.store: memory' for a first look without Redis.");
		}

	}

}
