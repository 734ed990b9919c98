package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.RetiredTopics;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.protocol.leader.UnattendedShards;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * An application with two topics is deployed again with one of them.
 */
@Tag("proof")
@Promise("Automatic recovery")
class RetiredTopicsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final String[] KEYS = { "ann", "bob", "eve", "joe", "kim", "leo" };

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=2",
			"shardkeeper.topics.old.shards=4", "shardkeeper.session.lease=1s",
			"shardkeeper.session.heartbeat-interval=100ms", "shardkeeper.session.timeout=10m",
			"shardkeeper.consumer.commit.interval=50ms", "shardkeeper.consumer.retry.max-attempts=1");

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	@Test
	void forgottenTopicDisappearsAndResumesFromItsData() {
		Set<Long> tokens = consumeBothTopics("both");
		letAMinutePassForRetiredShards();
		ConfigurableApplicationContext one = this.instances.start(Orders.class, "one");
		ConfigurableApplicationContext two = this.instances.start(Orders.class, "two");
		awaitRetired(one);
		awaitRetired(two);
		DeadLetters letters = one.getBean(DeadLetters.class);
		assertThat(letters.list(DeadLetterFilter.topic("old"), null, 10).letters()).hasSize(1);

		assertThat(retired(two).forget("old")).isEqualTo(4);

		awaitHealthy(one, two);
		assertThat(report(one)).extracting(ShardReport::topic).containsOnly("orders");
		assertThat(retired(one).forget("old")).as("unknown topic").isZero();
		assertThat(letters.list(DeadLetterFilter.topic("old"), null, 10).letters()).as("its data").hasSize(1);

		ConfigurableApplicationContext three = this.instances.start(Both.class, "three");
		send(three);
		OldHandler handler = three.getBean(OldHandler.class);
		eventually(() -> assertThat(handler.counts).hasSize(KEYS.length).containsOnly(2L));
		assertThat(tokens(three)).allSatisfy((token) -> assertThat(tokens).allMatch((past) -> past < token));
		awaitHealthy(one, two, three);
	}

	@Test
	void dataOfGroupIsRemovedAndDataOfTopicStays() {
		consumeBothTopics("both");
		letAMinutePassForRetiredShards();
		ConfigurableApplicationContext one = this.instances.start(Orders.class, "one");
		awaitRetired(one);
		Set<String> shards = new TreeSet<>();
		keysOfTheGroup("old").forEach((key) -> shards.add(key.replaceAll(".*/old/(\\w+)}:.*", "$1")));
		assertThat(shards).as("with data").isNotEmpty();
		Collection<String> ofTheTopic = this.redis.keys(this.instances.name() + ":{old*");
		long ofOrders = keysOfTheGroup("orders").size();

		assertThat(retired(one).forgetWithData("old")).isEqualTo(4);

		awaitHealthy(one);
		assertThat(keysOfTheGroup("old")).isEmpty();
		assertThat(keysOfTheGroup("orders")).hasSize((int) ofOrders);
		ofTheTopic.removeIf((key) -> key.endsWith(":groups"));
		assertThat(this.redis.keys(this.instances.name() + ":{old*")).containsAll(ofTheTopic)
			.anyMatch((key) -> key.contains(":stream:"));
		assertThat(this.redis.opsForSet().members(this.instances.name() + ":{old}:groups")).isEmpty();
		assertThat(retired(one).forgetWithData("old")).as("again").isZero();

		// Like a new group: from the first record, without state.
		OldHandler handler = this.instances.start(Both.class, "two").getBean(OldHandler.class);
		eventually(() -> assertThat(handler.counts).hasSize(KEYS.length).containsOnly(1L));
	}

	/** Shards and group lie in slots of different nodes. */
	@Test
	void dataOnAllNodesOfClusterIsRemoved() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.start(3)) {
			String nodes = "spring.data.redis.cluster.nodes=" + cluster.addresses();
			consumeBothTopics("both", nodes);
			ConfigurableApplicationContext one = this.instances.start(Orders.class, "one", nodes);
			StringRedisTemplate onCluster = one.getBean(StringRedisTemplate.class);
			String ofTheGroup = "*{" + this.instances.name() + "/old[/}]*";
			assertThat(onCluster.keys(ofTheGroup)).isNotEmpty();

			assertThat(retired(one).forgetWithData("old")).isEqualTo(4);

			assertThat(onCluster.keys(ofTheGroup)).isEmpty();
			awaitHealthy(one);
			one.close();
		}
	}

	/** Its data was kept at first, and is removed later. */
	@Test
	void dataOfForgottenTopicCanBeRemovedLater() {
		consumeBothTopics("both");
		ConfigurableApplicationContext one = this.instances.start(Orders.class, "one");
		retired(one).forget("old");
		assertThat(keysOfTheGroup("old")).isNotEmpty();

		assertThat(retired(one).forgetWithData("old")).isEqualTo(4);

		assertThat(keysOfTheGroup("old")).isEmpty();
	}

	@Test
	void consumedTopicIsNotForgotten() {
		ConfigurableApplicationContext both = this.instances.start(Both.class, "both");
		send(both);
		OldHandler handler = both.getBean(OldHandler.class);
		eventually(() -> assertThat(handler.counts).hasSize(KEYS.length));
		ConfigurableApplicationContext one = this.instances.start(Orders.class, "one");
		awaitHealthy(both, one);
		eventually(() -> assertThat(report(one)).filteredOn((shard) -> shard.topic().equals("old")).hasSize(4));
		Set<Long> tokens = tokens(one);
		Set<String> keys = keysOfTheGroup("old");

		for (ConfigurableApplicationContext instance : List.of(both, one)) {
			assertThatIllegalStateException().isThrownBy(() -> retired(instance).forget("old"))
				.withMessageContaining("'old' is not retired")
				.withMessageMatching("(?s).* both~\\w+\\. .*");
			assertThatIllegalStateException().isThrownBy(() -> retired(instance).forgetWithData("old"))
				.withMessageContaining("both~");
		}

		assertThat(tokens(one)).isEqualTo(tokens);
		assertThat(keysOfTheGroup("old")).containsAll(keys);
		send(both);
		eventually(() -> assertThat(handler.counts).hasSize(2 * KEYS.length).contains(2L));
	}

	/** The tokens under which the retired topic was consumed. */
	private Set<Long> consumeBothTopics(String name, String... properties) {
		ConfigurableApplicationContext both = this.instances.start(Both.class, name, properties);
		send(both);
		both.getBean(ShardTemplate.class).send("old", "ann", "bad");
		OldHandler handler = both.getBean(OldHandler.class);
		eventually(() -> {
			assertThat(handler.counts).hasSize(KEYS.length).containsOnly(1L);
			assertThat(both.getBean(DeadLetters.class).list(DeadLetterFilter.topic("old"), null, 10).letters())
				.hasSize(1);
			assertThat(report(both)).filteredOn((shard) -> shard.topic().equals("old")).hasSize(4);
		});
		Set<Long> tokens = tokens(both);
		both.close();
		return tokens;
	}

	/** Makes the group's records that old while no instance runs. */
	private void letAMinutePassForRetiredShards() {
		String key = this.instances.name() + ":{" + this.instances.name() + "}:shards";
		Pattern record = Pattern.compile("(FREE\\|\\d+\\|\\|\\|)(\\d+)(\\|0)");
		this.redis.<String, String>opsForHash()
			.entries(key)
			.forEach(
					(shard, value) -> this.redis.opsForHash()
						.put(key, shard, record.matcher(value)
							.replaceAll((parts) -> parts.group(1)
									+ (Long.parseLong(parts.group(2)) - UnattendedShards.RETIRED_AFTER.toMillis())
									+ parts.group(3))));
	}

	private static void send(ConfigurableApplicationContext instance) {
		for (String key : KEYS) {
			instance.getBean(ShardTemplate.class).send("old", key, "one");
		}
	}

	private Set<String> keysOfTheGroup(String topic) {
		return this.redis.keys("*{" + this.instances.name() + "/" + topic + "[/}]*");
	}

	private static RetiredTopics retired(ConfigurableApplicationContext instance) {
		return instance.getBean(RetiredTopics.class);
	}

	private static Set<Long> tokens(ConfigurableApplicationContext instance) {
		Set<Long> tokens = new TreeSet<>();
		report(instance).stream()
			.filter((shard) -> shard.topic().equals("old"))
			.forEach((shard) -> tokens.add(shard.token()));
		return tokens;
	}

	private static List<ShardReport> report(ConfigurableApplicationContext instance) {
		GroupReport report = instance.getBean(GroupReporter.class).report();
		assertThat(report.error()).isNull();
		return report.shards();
	}

	private static void awaitRetired(ConfigurableApplicationContext instance) {
		eventually(() -> {
			Health health = health(instance);
			assertThat(health.getDetails().get("retired")).asString()
				.contains("RetiredTopics.forget", "'old': old/0, old/1, old/2, old/3, since ");
			assertThat(health.getStatus()).isEqualTo(Status.UP);
		});
	}

	private static void awaitHealthy(ConfigurableApplicationContext... instances) {
		eventually(() -> assertThat(List.of(instances)).allSatisfy((instance) -> {
			assertThat(health(instance).getStatus()).isEqualTo(Status.UP);
			assertThat(health(instance).getDetails()).doesNotContainKeys("retired", "unattended");
			assertThat(report(instance)).extracting(ShardReport::state).containsOnly("OWNED");
		}));
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(assertion);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Orders {

		@Bean
		OrdersHandler ordersHandler() {
			return new OrdersHandler();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Both extends Orders {

		@Bean
		OldHandler oldHandler() {
			return new OldHandler();
		}

	}

	static class OrdersHandler {

		@ShardConsumer("orders")
		void handle(ShardRecord<String> order) {
		}

	}

	static class OldHandler {

		/** By each call, how often its key has been seen. */
		final List<Long> counts = new CopyOnWriteArrayList<>();

		@ShardConsumer("old")
		void handle(ShardRecord<String> record, ShardState state) {
			if (record.payload().equals("bad")) {
				throw new IllegalStateException("bad");
			}
			long count = state.get(record.key(), Long.class).orElse(0L) + 1;
			state.put(record.key(), count);
			this.counts.add(count);
		}

	}

}
