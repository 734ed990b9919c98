package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Somebody removes a key of a shard: no record is counted from what is left.
 */
@Tag("proof")
@Promise("State exactly once")
class MissingShardKeysTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final int BEFORE = 50;

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.session.lease=1s", "shardkeeper.session.heartbeat-interval=200ms",
			"shardkeeper.consumer.commit.interval=100ms");

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	private final String keys = this.instances.name() + ":{" + this.instances.name() + "/" + SHARD + "}:";

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	@Test
	void ownerWritesTheStateBack() {
		ConfigurableApplicationContext one = consumeBefore();
		this.redis.delete(this.keys + "state");

		one.getBean(ShardTemplate.class).send("orders", "key", "another");
		awaitState(one, Map.of("order", BEFORE, "another", 1));
		assertThat(health(one)).isEqualTo(Status.UP);
	}

	@Test
	void ownerWritesTheOffsetBack() {
		ConfigurableApplicationContext one = consumeBefore();
		this.redis.delete(this.keys + "checkpoint");

		send(one, 1);
		awaitCount(one, BEFORE + 1);
		this.instances.kill("one");
		ConfigurableApplicationContext two = this.instances.start(Counting.class, "two");
		send(two, 1);
		awaitCount(two, BEFORE + 2);
	}

	@Test
	void nextOwnerWaitsUntilTheStateIsRestored() {
		consumeBefore();
		ConfigurableApplicationContext two = replaceWithout("state");
		awaitProblem(two, "entries are missing", this.keys + "state has 0 of the 1",
				"HDEL " + this.keys + "checkpoint sizes");
		assertThat(two.getBean(Counting.class).handled).isEmpty();

		this.redis.rename("aside:" + this.keys + "state", this.keys + "state");
		awaitCount(two, BEFORE + 1);
		assertThat(health(two)).isEqualTo(Status.UP);
	}

	@Test
	void nextOwnerWithoutAnOffsetDoesNotCountAgain() {
		consumeBefore();
		ConfigurableApplicationContext two = replaceWithout("checkpoint");
		awaitProblem(two, this.keys + "checkpoint is missing");
		assertThat(two.getBean(Counting.class).handled).isEmpty();

		this.redis.rename("aside:" + this.keys + "checkpoint", this.keys + "checkpoint");
		awaitCount(two, BEFORE + 1);
	}

	@Test
	void resetBuildsTheStateAnew() {
		consumeBefore();
		ConfigurableApplicationContext two = replaceWithout("state");
		awaitProblem(two, "entries are missing");

		two.getBean(ShardPositions.class).reset(SHARD, StartPosition.EARLIEST);
		awaitCount(two, BEFORE + 1);
		assertThat(health(two)).isEqualTo(Status.UP);
	}

	@Test
	void acceptedLossIsConsumedFrom() {
		consumeBefore();
		ConfigurableApplicationContext two = replaceWithout("state");
		awaitProblem(two, "entries are missing");

		this.redis.opsForHash().delete(this.keys + "checkpoint", "sizes");
		awaitCount(two, 1);
	}

	private ConfigurableApplicationContext consumeBefore() {
		ConfigurableApplicationContext one = this.instances.start(Counting.class, "one");
		send(one, BEFORE);
		awaitCount(one, BEFORE);
		return one;
	}

	private ConfigurableApplicationContext replaceWithout(String key) {
		this.instances.kill("one");
		this.redis.rename(this.keys + key, "aside:" + this.keys + key);
		ConfigurableApplicationContext two = this.instances.start(Counting.class, "two");
		send(two, 1);
		return two;
	}

	private static void send(ConfigurableApplicationContext instance, int records) {
		for (int i = 0; i < records; i++) {
			instance.getBean(ShardTemplate.class).send("orders", "key", "order");
		}
	}

	private static void awaitCount(ConfigurableApplicationContext instance, int count) {
		awaitState(instance, Map.of("order", count));
	}

	private static void awaitState(ConfigurableApplicationContext instance, Map<String, Integer> state) {
		Awaitility.await()
			.atMost(PATIENCE)
			.ignoreExceptions()
			.untilAsserted(() -> assertThat(instance.getBean(ShardStateReader.class).read(SHARD, Integer.class))
				.isEqualTo(state));
	}

	private static void awaitProblem(ConfigurableApplicationContext instance, String... contents) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(instance.getBean(GroupReporter.class).report().shards()).singleElement()
				.extracting(ShardReport::problem)
				.asString()
				.contains(contents));
		assertThat(health(instance)).isEqualTo(Status.DOWN);
	}

	private static Status health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health().getStatus();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Counting {

		final List<String> handled = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void count(String order, ShardState state) {
			this.handled.add(order);
			state.increment(order, 1);
		}

	}

}
