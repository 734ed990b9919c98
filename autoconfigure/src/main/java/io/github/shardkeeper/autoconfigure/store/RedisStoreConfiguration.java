package io.github.shardkeeper.autoconfigure.store;

import java.time.Duration;

import io.lettuce.core.RedisClient;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.annotation.Order;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.autoconfigure.payload.ConverterSelection;
import io.github.shardkeeper.autoconfigure.properties.OnApplication;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.autoconfigure.source.ConditionalOnTopicSource;
import io.github.shardkeeper.autoconfigure.source.SourceSelection;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.cluster.barrier.BarrierStore;
import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.cluster.parameter.ParameterStore;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.cluster.signal.SignalStore;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.operations.housekeeping.OffsetCopies;
import io.github.shardkeeper.operations.housekeeping.TopicTrimming;
import io.github.shardkeeper.redis.RedisClock;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisRuntimeHints;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.checkpoint.RedisDeadLetterStore;
import io.github.shardkeeper.redis.checkpoint.RedisTopicGroups;
import io.github.shardkeeper.redis.cluster.ClusterLink;
import io.github.shardkeeper.redis.cluster.RedisBarrierStore;
import io.github.shardkeeper.redis.cluster.RedisLockStore;
import io.github.shardkeeper.redis.cluster.RedisParameterStore;
import io.github.shardkeeper.redis.cluster.RedisSignalStore;
import io.github.shardkeeper.redis.cluster.RedisViewStore;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.coordination.RedisMoveHistory;
import io.github.shardkeeper.redis.stream.RecordIds;
import io.github.shardkeeper.redis.stream.RedisStreamSource;
import io.github.shardkeeper.redis.stream.TopicUsers;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.ShardTrimmer;
import io.github.shardkeeper.source.SourceRegistry;

/** Stores and source on Redis, reached with {@code spring.data.redis.*}. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "shardkeeper.store", havingValue = "redis", matchIfMissing = true)
public class RedisStoreConfiguration {

	/** Defined before what depends on it. */
	@Configuration(proxyBeanMethods = false)
	@Order(1)
	@ConditionalOnClass({ RedisConnector.class, RedisConnectionFactory.class, LettuceConnectionFactory.class,
			RedisClient.class })
	@ImportRuntimeHints(RedisRuntimeHints.class)
	static class WithLettuce {

		/** Long enough for a busy Redis; several attempts fit into the lease. */
		private static final Duration MAX_CONTROL_TIMEOUT = Duration.ofSeconds(1);

		@Bean
		@ConditionalOnMissingBean(CoordinationStore.class)
		RedisCoordinationStore shardkeeperCoordinationStore(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings) {
			if (RedisConnectionConfiguration.isStarted()) {
				// The instance subscribes when it joins its group.
				connector.connectPubSubAhead();
			}
			return new RedisCoordinationStore(connector, properties.keyPrefix(), settings.group(),
					controlTimeout(settings), wait(properties), properties.redis().trustEmpty());
		}

		private static Duration controlTimeout(CoordinationSettings settings) {
			Duration third = settings.lease().dividedBy(3);
			return (third.compareTo(MAX_CONTROL_TIMEOUT) < 0) ? third : MAX_CONTROL_TIMEOUT;
		}

		@Bean
		MoveHistory shardkeeperMoveHistory(RedisConnector connector, ShardkeeperProperties properties,
				ShardkeeperSettings settings, CoordinationSettings coordination) {
			return new RedisMoveHistory(connector, properties.keyPrefix(), coordination.group(),
					RedisConnector.DATA_TIMEOUT, settings.history());
		}

		@Bean
		@ConditionalOnMissingBean(CheckpointStore.class)
		RedisCheckpointStore shardkeeperCheckpointStore(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings, ShardkeeperSettings all, ObjectProvider<FormerDatabase> database) {
			RedisCheckpointStore store = new RedisCheckpointStore(connector, properties.keyPrefix(), settings.group(),
					RedisConnector.DATA_TIMEOUT, wait(properties));
			store.carryBackFrom((topic) -> !all.isInDatabase(topic), () -> {
				FormerDatabase before = database.getIfAvailable();
				return (before != null) ? before.checkpoints() : null;
			});
			return store;
		}

		/** Missing with an application's checkpoint store, which has the dead letters. */
		@Bean
		@ConditionalOnMissingBean
		@ConditionalOnBean(RedisCheckpointStore.class)
		DeadLetterStore shardkeeperDeadLetterStore(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings) {
			return new RedisDeadLetterStore(connector, properties.keyPrefix(), settings.group(),
					RedisConnector.DATA_TIMEOUT);
		}

		@Bean
		BroadcastStores shardkeeperBroadcastStores(RedisConnector connector, ShardkeeperProperties properties,
				ShardkeeperSettings settings, CoordinationSettings coordination) {
			return new BroadcastStores(settings, coordination, (name) -> new BroadcastStores.Stores(
					new RedisCheckpointStore(connector, properties.keyPrefix(), name, RedisConnector.DATA_TIMEOUT,
							wait(properties)),
					new RedisDeadLetterStore(connector, properties.keyPrefix(), name, RedisConnector.DATA_TIMEOUT)),
					() -> MemoryCheckpointStore.besides(new RedisClock(connector)));
		}

		private static ReplicaWait wait(ShardkeeperProperties properties) {
			ShardkeeperProperties.Redis redis = properties.redis();
			return new ReplicaWait(redis.waitForReplicas(),
					redis.waitTimeoutUnder(properties.session().times().lease()));
		}

		@Bean
		@ConditionalOnTopicSource("redis")
		RedisStreamSource shardkeeperRedisSource(RedisConnector connector, ShardkeeperProperties properties,
				SourceSelection selection) {
			ShardkeeperProperties.RecordIds ids = properties.redis().recordIds();
			return new RedisStreamSource(connector, properties.keyPrefix(), selection.shardCounts("redis"),
					RedisConnector.DATA_TIMEOUT, wait(properties), new RecordIds(ids.retention(), ids.maxCount()));
		}

		/**
		 * Other groups on the topics are a feature; applications that do not know of each
		 * other are not.
		 */
		@Bean
		@Lazy(false)
		@ConditionalOnTopicSource("redis")
		TopicUsers shardkeeperTopicUsers(RedisConnector connector, ShardkeeperProperties properties,
				SourceSelection selection, RedisStreamSource source, ConverterSelection converters,
				ShardCoordinator coordinator) {
			TopicUsers users = new TopicUsers(connector, properties.keyPrefix(), coordinator.settings().group(),
					selection.shardCounts("redis"), converters::format, RedisConnector.DATA_TIMEOUT);
			source.compare(users);
			coordinator.addProblems("applications", () -> users.problems().values());
			return users;
		}

		@Bean
		TopicGroups shardkeeperTopicGroups(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings) {
			return new RedisTopicGroups(connector, properties.keyPrefix(), settings.group(),
					RedisConnector.DATA_TIMEOUT, wait(properties));
		}

		@Bean
		@ConditionalOnBean(ShardTrimmer.class)
		TopicTrimming shardkeeperTopicTrimming(ShardkeeperSettings settings, ShardkeeperProperties properties,
				ShardConsumerRunner runner, SourceRegistry sources, ObjectProvider<ShardTrimmer> trimmers,
				TopicGroups groups, MemberRuntime runtime) {
			return new TopicTrimming(settings.trimRules(), properties.topics().keySet(), runner::topics, sources,
					(topic) -> SourceSelection.capability(sources, topic, ShardTrimmer.class, trimmers), groups,
					runtime, TopicTrimming.INTERVAL, ShardConsumerRunner.PHASE + 1);
		}

		/** Other groups wait for these offsets before they trim. */
		@Bean
		@ConditionalOnBean(ShardTrimmer.class)
		@Conditional(JdbcTransactionConfiguration.OnJdbcTransaction.class)
		OffsetCopies shardkeeperOffsetCopies(ShardkeeperSettings settings, ShardConsumerRunner runner,
				CheckpointStore checkpoints, SourceRegistry sources, ObjectProvider<ShardTrimmer> trimmers,
				TopicGroups groups, MemberRuntime runtime) {
			return new OffsetCopies(
					(topic) -> settings.isInDatabase(topic)
							&& SourceSelection.capability(sources, topic, ShardTrimmer.class, trimmers) != null,
					runner::shards, checkpoints, groups, runtime, ShardConsumerRunner.PHASE + 1);
		}

	}

	/**
	 * Stores of the cluster tools, which are a module of their own. Missing with an
	 * application's coordination store, which has the sessions.
	 */
	@Configuration(proxyBeanMethods = false)
	@Order(2)
	@ConditionalOnClass({ ViewStore.class, RedisConnector.class, RedisClient.class })
	@ConditionalOnBean(RedisCoordinationStore.class)
	@Conditional(OnApplication.class)
	static class ClusterStores {

		@Bean
		ClusterLink shardkeeperClusterLink(RedisConnector connector, ShardkeeperProperties properties,
				CoordinationSettings settings) {
			return new ClusterLink(connector, properties.keyPrefix(), settings.group(),
					WithLettuce.controlTimeout(settings), WithLettuce.wait(properties));
		}

		@Bean
		ViewStore shardkeeperViewStore(ClusterLink link) {
			return new RedisViewStore(link);
		}

		@Bean
		LockStore shardkeeperLockStore(ClusterLink link) {
			return new RedisLockStore(link);
		}

		@Bean
		BarrierStore shardkeeperBarrierStore(ClusterLink link) {
			return new RedisBarrierStore(link);
		}

		@Bean
		SignalStore shardkeeperSignalStore(ClusterLink link) {
			return new RedisSignalStore(link);
		}

		@Bean
		ParameterStore shardkeeperParameterStore(ClusterLink link) {
			return new RedisParameterStore(link);
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

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(RedisClient.class)
	@ConditionalOnMissingClass("io.github.shardkeeper.redis.RedisConnector")
	static class WithoutRedisModule {

		@Bean
		@ConditionalOnMissingBean
		CoordinationStore shardkeeperCoordinationStore() {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.store' is 'redis', but 'shardkeeper-redis' is not on the class path.",
					"Use the dependency 'io.github.shardkeeper:shardkeeper-spring-boot-starter', add "
							+ "'io.github.shardkeeper:shardkeeper-redis', or set 'shardkeeper.store: memory' for a first "
							+ "look without Redis.");
		}

	}

}
