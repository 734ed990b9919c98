package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.MemberReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Whole applications, several in this JVM, on a real Redis (and one without).
 */
class InOneJvmTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=4",
			"shardkeeper.consumer.commit.interval=100ms");

	private ConfigurableApplicationContext start(String name, String... properties) {
		return this.instances.start(Application.class, name, properties);
	}

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	@Test
	void shardsAreBalancedAsInstancesJoinAndLeave() {
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, Map.of("one", 4L));
		start("two");
		awaitLoads(one, Map.of("one", 2L, "two", 2L));
		ConfigurableApplicationContext three = start("three");
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(loads(one)).containsOnlyKeys("one", "two", "three");
			assertThat(loads(one).values().stream().sorted().toList()).containsExactly(1L, 1L, 2L);
			assertThat(report(one).shards()).allMatch((shard) -> shard.state().equals("OWNED"));
		});
		three.close();
		awaitLoads(one, Map.of("one", 2L, "two", 2L));
		assertThat(report(one).members()).hasSize(2);
	}

	@Test
	@Tag("proof")
	@Promise("Least movement")
	void deploymentMovesShardsToNewVersion() {
		Map<String, ConfigurableApplicationContext> old = new TreeMap<>();
		old.put("a", start("a", "shardkeeper.version=1.9"));
		old.put("b", start("b", "shardkeeper.version=1.9"));
		awaitLoads(old.get("a"), Map.of("a", 2L, "b", 2L));
		ConfigurableApplicationContext c = start("c", "shardkeeper.version=1.10");
		Awaitility.await().atMost(PATIENCE).until(() -> loads(c).getOrDefault("c", 0L) == 1);
		assertThat(report(c).members()).extracting(MemberReport::instance, MemberReport::version)
			.containsExactlyInAnyOrder(tuple("a", "1.9"), tuple("b", "1.9"), tuple("c", "1.10"));

		// Plain balancing would move a shard of the first to the second.
		String first = (loads(c).get("a") == 2) ? "a" : "b";
		String second = first.equals("a") ? "b" : "a";
		old.get(first).close();
		awaitLoads(c, Map.of(second, 1L, "c", 3L));

		ConfigurableApplicationContext d = start("d", "shardkeeper.version=1.10");
		awaitLoads(c, Map.of(second, 1L, "c", 2L, "d", 1L));
		old.get(second).close();
		awaitLoads(c, Map.of("c", 2L, "d", 2L));

		for (int key = 0; key < 20; key++) {
			d.getBean(ShardTemplate.class).send("orders", "key-" + key, new Order("key-" + key, key));
		}
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(sums(d)).hasSize(20));
	}

	@Test
	@Promise("State exactly once")
	void stateAndOffsetMoveExactly() {
		ConfigurableApplicationContext one = start("one");
		ShardTemplate template = one.getBean(ShardTemplate.class);
		int perKey = 300;
		List<ConfigurableApplicationContext> others = new ArrayList<>();
		for (int number = 1; number <= perKey; number++) {
			List<ShardTemplate.Outgoing> records = new ArrayList<>();
			for (int key = 0; key < 10; key++) {
				records.add(new ShardTemplate.Outgoing("key-" + key, new Order("key-" + key, number)));
			}
			template.sendAll("orders", records);
			if (number == 100 || number == 200) {
				others.add(start("other-" + number));
			}
		}
		others.forEach(ConfigurableApplicationContext::close);

		long sum = perKey * (perKey + 1L) / 2;
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			Map<String, Long> sums = sums(one);
			for (int key = 0; key < 10; key++) {
				assertThat(sums).containsEntry("key-" + key, sum);
			}
		});
	}

	@Test
	void callbacksSurroundConsumption() {
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, Map.of("one", 4L));
		Handler handler = one.getBean(Handler.class);
		Awaitility.await().atMost(PATIENCE).until(() -> handler.assigned.size() == 4);
		one.close();

		assertThat(handler.revoked).hasSize(4).containsExactlyInAnyOrderElementsOf(handler.assigned);
		// Writes of @OnShardRevoked are part of the final commit.
		ConfigurableApplicationContext two = start("two");
		assertThat(two.getBean(ShardStateReader.class).read(ShardId.of("orders", 0), String.class))
			.containsEntry("farewell", "one");
	}

	@Test
	void failedRecordIsRetriedOnRestoredState() {
		ConfigurableApplicationContext one = start("one");
		Handler handler = one.getBean(Handler.class);
		handler.failures.set(2);
		one.getBean(ShardTemplate.class).send("orders", "key", new Order("key", 5));

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(sums(one)).containsEntry("key", 5L));
		assertThat(handler.calls).hasValue(3);
	}

	@Test
	@Tag("proof")
	void retriedRecordIsHealthDetail() {
		ConfigurableApplicationContext one = start("one", "shardkeeper.consumer.retry.max-attempts=1000");
		Handler handler = one.getBean(Handler.class);
		handler.failures.set(Integer.MAX_VALUE);
		one.getBean(ShardTemplate.class).send("orders", "key", new Order("key", 5));
		ShardkeeperHealthIndicator health = one.getBean(ShardkeeperHealthIndicator.class);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> String.valueOf(health.health().getDetails()).contains("keeps failing"));

		assertThat(health.health().getStatus()).isEqualTo(Status.UP);
		assertThat(String.valueOf(health.health().getDetails().get("retrying")))
			.contains("Handler.handle", "java.lang.IllegalStateException at", "orders/")
			.doesNotContain("fails on purpose");
		handler.failures.set(0);
		Awaitility.await().atMost(PATIENCE).until(() -> !health.health().getDetails().containsKey("retrying"));
	}

	@Test
	@Tag("proof")
	void unconvertiblePayloadHaltsOnlyItsShardIfConfigured() {
		ConfigurableApplicationContext one = start("one", "shardkeeper.consumer.on-failure=halt");
		ShardTemplate template = one.getBean(ShardTemplate.class);
		ShardId halted = template.shardFor("orders", "bad");
		String other = otherKey(template, halted);
		ShardTemplate.Appended bad = template.send("orders", "bad", "not json");
		template.send("orders", "bad", new Order("bad", 1));
		template.send("orders", other, new Order(other, 1));

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(sums(one)).containsEntry(other, 1L).doesNotContainKey("bad");
			assertThat(report(one).shards()).filteredOn((shard) -> shard.problem() != null)
				.singleElement()
				.satisfies((shard) -> {
					assertThat(shard.id()).isEqualTo(halted.id());
					assertThat(shard.problem()).contains(bad.offset().value()).contains("Order");
				});
		});
	}

	@Test
	@Tag("proof")
	void wrongPayloadClassHaltsTopic() {
		ConfigurableApplicationContext one = start("one",
				"shardkeeper.topics.orders.consumer.max-conversion-failures=3");
		ShardTemplate template = one.getBean(ShardTemplate.class);
		ShardId halted = template.shardFor("orders", "bad");
		for (int i = 0; i < 100; i++) {
			template.send("orders", "bad", "not json");
		}
		ShardkeeperHealthIndicator health = one.getBean(ShardkeeperHealthIndicator.class);
		Awaitility.await().atMost(PATIENCE).until(() -> health.health().getStatus().equals(Status.DOWN));
		assertThat(String.valueOf(health.health().getDetails().get("problems"))).contains(
				"3 records in a row could not be converted", "Order", "consumer.max-conversion-failures",
				halted.toString());
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(one.getBean(DeadLetters.class).count("orders")).containsEntry(halted, 2L));
	}

	@Test
	@Tag("proof")
	@Promise("Other shards continue")
	void keyOfOtherTypeIsReportedAndOtherShardsContinue() {
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, Map.of("one", 4L));
		StringRedisTemplate redis = one.getBean(StringRedisTemplate.class);
		ShardTemplate template = one.getBean(ShardTemplate.class);
		ShardId spoilt = template.shardFor("orders", "key");
		String stream = this.instances.name() + ":{orders#" + spoilt.id() + "}:stream:" + spoilt.id();
		redis.opsForValue().set(stream, "not a stream");
		String other = otherKey(template, spoilt);
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			template.send("orders", other, new Order(other, 1));
			assertThat(sums(one).getOrDefault(other, 0L)).isGreaterThan(2);
			assertThat(report(one).shards()).filteredOn((shard) -> shard.problem() != null)
				.singleElement()
				.satisfies((shard) -> {
					assertThat(shard.id()).isEqualTo(spoilt.id());
					assertThat(shard.problem()).contains(stream).contains("WRONGTYPE");
				});
		});

		redis.delete(stream);
		template.send("orders", "key", new Order("key", 5));
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(sums(one)).containsEntry("key", 5L);
			assertThat(report(one).shards()).allMatch((shard) -> shard.problem() == null);
		});
	}

	/** Also when the last stop ran out of time because a handler did not return. */
	@Test
	@Tag("proof")
	void restartWaitsForHandlerOfEarlierRun() {
		ConfigurableApplicationContext one = start("one", "spring.lifecycle.timeout-per-shutdown-phase=1s");
		Handler handler = one.getBean(Handler.class);
		handler.stuck = new CountDownLatch(1);
		one.getBean(ShardTemplate.class).send("orders", "key", new Order("key", 5));
		Awaitility.await().atMost(PATIENCE).until(() -> handler.calls.get() == 1);
		one.stop();
		one.start();
		ShardId shard = one.getBean(ShardTemplate.class).shardFor("orders", "key");
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(one.getBean(ShardConsumerRunner.class).problems()).containsKey(shard));
		assertThat(handler.calls).hasValue(1);

		handler.stuck.countDown();
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(sums(one)).containsEntry("key", 5L));
	}

	/**
	 * With keys the call is not the worker's own turn, and after two stops the waiting
	 * worker is an abandoned one itself: both have turns left when the call returns.
	 */
	@ParameterizedTest
	@CsvSource({ "shard, 2", "key, 1", "key, 2" })
	@Tag("proof")
	void restartsResumeOnceHandlerReturns(String ordering, int stops) {
		ConfigurableApplicationContext one = start("one", "spring.lifecycle.timeout-per-shutdown-phase=1s",
				"shardkeeper.consumer.ordering=" + ordering);
		Handler handler = one.getBean(Handler.class);
		handler.stuck = new CountDownLatch(1);
		one.getBean(ShardTemplate.class).send("orders", "key", new Order("key", 5));
		Awaitility.await().atMost(PATIENCE).until(() -> handler.calls.get() == 1);
		ShardId shard = one.getBean(ShardTemplate.class).shardFor("orders", "key");
		for (int stop = 1; stop <= stops; stop++) {
			one.stop();
			one.start();
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(one.getBean(ShardConsumerRunner.class).problems()).containsKey(shard));
		}
		assertThat(handler.calls).hasValue(1);

		handler.stuck.countDown();
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(sums(one)).containsEntry("key", 5L));
		one.getBean(ShardTemplate.class).send("orders", "key", new Order("key", 6));
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(sums(one)).containsEntry("key", 11L);
			assertThat(one.getBean(ShardConsumerRunner.class).problems()).isEmpty();
		});
	}

	@Test
	void lostSessionIsReplacedAndResumesFromCommit() {
		ConfigurableApplicationContext one = start("one");
		one.getBean(ShardTemplate.class).send("orders", "key", new Order("key", 5));
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(sums(one)).containsEntry("key", 5L));
		String member = report(one).self();

		StringRedisTemplate redis = one.getBean(StringRedisTemplate.class);
		redis.delete(redis.keys(this.instances.name() + ":{" + this.instances.name() + "}:*"));
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(report(one).self()).isNotNull().isNotEqualTo(member));
		one.getBean(ShardTemplate.class).send("orders", "key", new Order("key", 6));

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(sums(one)).containsEntry("key", 11L));
	}

	@Test
	void worksInMemory() {
		ConfigurableApplicationContext one = start("one", "shardkeeper.store=memory");
		one.getBean(ShardTemplate.class).send("orders", "key", new Order("key", 5));

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(sums(one)).containsEntry("key", 5L));
		assertThat(report(one).shards()).hasSize(4).allMatch((shard) -> shard.state().equals("OWNED"));
	}

	@Test
	void worksOnVirtualThreads() {
		ConfigurableApplicationContext one = start("one", "spring.threads.virtual.enabled=true");
		one.getBean(ShardTemplate.class).send("orders", "key", new Order("key", 5));

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(sums(one)).containsEntry("key", 5L));
		boolean virtual = Runtime.version().feature() >= 21;
		assertThat(one.getBean(Handler.class).onVirtualThread).isEqualTo(virtual);
	}

	/** Shards, their state and the group lie in slots of different nodes. */
	@Test
	@Tag("proof")
	void worksOnACluster() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.start(3)) {
			String nodes = "spring.data.redis.cluster.nodes=" + cluster.addresses();
			ConfigurableApplicationContext one = start("one", nodes);
			awaitLoads(one, Map.of("one", 4L));
			ConfigurableApplicationContext two = start("two", nodes);
			awaitLoads(one, Map.of("one", 2L, "two", 2L));
			for (int key = 0; key < 20; key++) {
				one.getBean(ShardTemplate.class).send("orders", "key-" + key, new Order("key-" + key, key));
			}
			two.close();
			one.getBean(ShardTemplate.class).send("orders", "key-7", new Order("key-7", 1));

			Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
				assertThat(sums(one)).hasSize(20).containsEntry("key-7", 8L).containsEntry("key-19", 19L);
				assertThat(loads(one)).isEqualTo(Map.of("one", 4L));
			});
			one.close();
		}
	}

	@Test
	@Tag("proof")
	void canBeStoppedAndStartedAgain() {
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, Map.of("one", 4L));
		one.stop();
		one.start();
		one.getBean(ShardTemplate.class).send("orders", "key", new Order("key", 5));

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(sums(one)).containsEntry("key", 5L));
	}

	private String otherKey(ShardTemplate template, ShardId not) {
		String key = "other";
		while (template.shardFor("orders", key).equals(not)) {
			key += "-";
		}
		return key;
	}

	private static GroupReport report(ConfigurableApplicationContext instance) {
		return instance.getBean(GroupReporter.class).report();
	}

	private static Map<String, Long> loads(ConfigurableApplicationContext instance) {
		return report(instance).shards()
			.stream()
			.collect(Collectors.groupingBy((ShardReport shard) -> String.valueOf(shard.owner()).split("~")[0],
					TreeMap::new, Collectors.counting()));
	}

	private static void awaitLoads(ConfigurableApplicationContext instance, Map<String, Long> loads) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(loads(instance)).isEqualTo(loads));
	}

	private static Map<String, Long> sums(ConfigurableApplicationContext instance) {
		Map<String, Long> sums = new TreeMap<>();
		ShardStateReader reader = instance.getBean(ShardStateReader.class);
		for (int shard = 0; shard < 4; shard++) {
			reader.read(ShardId.of("orders", shard), String.class).forEach((key, value) -> {
				if (key.startsWith("sum:")) {
					sums.put(key.substring(4), Long.parseLong(value));
				}
			});
		}
		return sums;
	}

	record Order(String key, int number) {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		final List<String> assigned = new CopyOnWriteArrayList<>();

		final List<String> revoked = new CopyOnWriteArrayList<>();

		final AtomicInteger failures = new AtomicInteger();

		final AtomicInteger calls = new AtomicInteger();

		volatile boolean onVirtualThread;

		volatile CountDownLatch stuck = new CountDownLatch(0);

		@ShardConsumer("orders")
		void handle(ShardRecord<Order> order, ShardContext context, ShardState state) {
			this.onVirtualThread = Thread.currentThread().toString().startsWith("VirtualThread");
			assertThat(context.isHeld()).isTrue();
			this.calls.incrementAndGet();
			awaitUninterruptibly(this.stuck);
			assertThat(order.key()).isEqualTo(order.payload().key());
			state.increment("sum:" + order.key(), order.payload().number());
			if (this.failures.getAndDecrement() > 0) {
				throw new IllegalStateException("fails on purpose");
			}
		}

		/** Waits like a handler that ignores its interruption. */
		private static void awaitUninterruptibly(CountDownLatch latch) {
			while (latch.getCount() > 0) {
				try {
					latch.await();
				}
				catch (InterruptedException ex) {
					// Ignored on purpose.
				}
			}
		}

		@OnShardAssigned
		void assigned(ShardContext context) {
			this.assigned.add(context.shard().id());
		}

		@OnShardRevoked
		void revoked(ShardContext context, ShardState state) {
			state.put("farewell", context.member().instance());
			this.revoked.add(context.shard().id());
		}

	}

}
