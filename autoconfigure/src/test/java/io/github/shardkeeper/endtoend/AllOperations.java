package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterSignals;
import io.github.shardkeeper.cluster.DoubleBarrier;
import io.github.shardkeeper.cluster.DoubleBarriers;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.operations.housekeeping.TopicTrimming;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.ShardTrimmer;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.TrimRule;

/**
 * Everything that an application does with the topic {@code orders}, in steps that Redis
 * may refuse. Confined to one thread.
 */
final class AllOperations {

	static final ShardId SHARD = ShardId.of("orders", 0);

	/** Settings with which commands of all kinds are sent soon. */
	static final String[] SETTINGS = { "shardkeeper.topics.orders.shards=1",
			"shardkeeper.topics.orders.trim.max-length=1000", "shardkeeper.topics.orders.trim.max-age=1h",
			"shardkeeper.session.lease=500ms", "shardkeeper.session.timeout=1s",
			"shardkeeper.session.heartbeat-interval=50ms", "shardkeeper.consumer.commit.interval=20ms",
			"shardkeeper.consumer.retry.max-attempts=1", "shardkeeper.consumer.on-failure=retry-queue",
			"shardkeeper.consumer.retry-queue.delays=10ms", "shardkeeper.assignment.strategy=load-aware",
			"management.endpoints.web.exposure.include=shards" };

	private static final DeadLetterFilter LETTERS = DeadLetterFilter.topic("orders");

	private final ConfigurableApplicationContext instance;

	AllOperations(ConfigurableApplicationContext instance) {
		this.instance = instance;
	}

	/** Everything that an application does, or has done, in the course of time. */
	List<Step> steps() {
		ShardTemplate template = this.instance.getBean(ShardTemplate.class);
		DeadLetters letters = this.instance.getBean(DeadLetters.class);
		return List.of(() -> template.send("orders", "k", "good"), () -> template.send("orders", "k", "bad"),
				() -> template.send("orders", new Outgoing("k", "good").withId("id")),
				() -> letters.list(LETTERS, null, 1).letters().forEach((letter) -> letters.drop(letter.id())),
				() -> letters.sendBack(LETTERS), () -> letters.count("orders"), () -> letters.waiting("orders"),
				() -> this.instance.getBean(ShardOperations.class).waiting("orders", "0", null, null, false),
				() -> this.instance.getBean(ShardStateReader.class).read(SHARD, Long.class),
				() -> this.instance.getBean(GroupReporter.class).report(),
				() -> this.instance.getBean(GroupReporter.class).shard(SHARD),
				() -> this.instance.getBean(MoveHistory.class).read(null, 10), this::lock, this::meet, this::signal,
				() -> this.instance.getBean(ClusterParameters.class).set("speed", "1", ClusterParameters.Update.ALWAYS),
				() -> this.instance.getBean(ClusterParameters.class).history("speed"),
				() -> this.instance.getBean(ShardOperations.class).onGroup(null, Map.of("action", "rebalance")));
	}

	private void lock() {
		ClusterLock lock = this.instance.getBean(ClusterLocks.class).get("lock");
		if (lock.tryLock()) {
			lock.unlock();
		}
	}

	private void meet() {
		DoubleBarrier barrier = this.instance.getBean(DoubleBarriers.class).get("barrier");
		try {
			barrier.abort();
			barrier.enter(1, Duration.ofMillis(100));
			barrier.leave(Duration.ofMillis(100));
		}
		catch (TimeoutException | BarrierBrokenException ex) {
			// The store does not reply, or the session has ended.
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void signal() {
		try {
			this.instance.getBean(ClusterSignals.class).send("signal", "payload").awaitAll(Duration.ofMillis(100));
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Some more of it, after which it takes some time until records are handled again.
	 */
	List<Step> disturbances() {
		ShardPositions positions = this.instance.getBean(ShardPositions.class);
		ShardTopics topics = this.instance.getBean(ShardTopics.class);
		return List.of(() -> positions.seek(SHARD, new StartPosition.Latest()),
				() -> topics.raise("orders", 1 + topics.shards("orders")));
	}

	/** Something that may be refused. */
	@FunctionalInterface
	interface Step {

		void perform();

		/** Message of a refusal, if any. */
		default List<String> run() {
			try {
				perform();
				return List.of();
			}
			catch (StoreUnavailableException ex) {
				return List.of(ex.getMessage());
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		final AtomicInteger handled = new AtomicInteger();

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			this.handled.incrementAndGet();
			state.increment(payload, 1);
			if (payload.equals("bad")) {
				throw new IllegalStateException("bad");
			}
			state.put("last", payload);
			state.remove("last");
		}

		@ClusterParameter("speed")
		private volatile int speed = 1;

		@OnClusterSignal("signal")
		void signaled() {
		}

		/** Its interval is too long for a test. */
		@Bean
		static BeanDefinitionRegistryPostProcessor noDefaultTrimming() {
			return (registry) -> registry.removeBeanDefinition("shardkeeperTopicTrimming");
		}

		@Bean
		TopicTrimming trimming(ShardConsumerRunner runner, SourceRegistry sources, ShardTrimmer trimmer,
				TopicGroups groups, MemberRuntime runtime) {
			return new TopicTrimming(Map.of("orders", new TrimRule(1000L, Duration.ofHours(1), false)), Set.of(),
					runner::topics, sources, (topic) -> trimmer, groups, runtime, Duration.ofMillis(100),
					ShardConsumerRunner.PHASE + 1);
		}

	}

}
