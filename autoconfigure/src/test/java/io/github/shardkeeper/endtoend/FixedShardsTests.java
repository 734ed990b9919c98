package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.fixed.ShardNames;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whole applications with shards without records.
 */
@Timeout(120)
class FixedShardsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final String[] TIMES = { "shardkeeper.session.lease=3s",
			"shardkeeper.session.heartbeat-interval=100ms", "shardkeeper.consumer.commit.interval=50ms" };

	private static final Runs runs = new Runs();

	@BeforeEach
	void reset() {
		runs.reset();
	}

	@Test
	@Tag("proof")
	void runsOfAShardNeverOverlapWhileInstancesComeGoAndDie() {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(TIMES)) {
			KnownGroup.begin(group.name());
			String[] properties = { "shardkeeper.topics.tenants.source=fixed",
					"shardkeeper.topics.tenants.names=acme,globex,initech,stark,umbrella,wayne",
					"shardkeeper.topics.tenants.schedule.cron=* * * * * *" };
			group.start(Application.class, "one", properties);
			ConfigurableApplicationContext two = group.start(Application.class, "two", properties);
			ConfigurableApplicationContext three = group.start(Application.class, "three", properties);
			eventually(() -> assertThat(owners(two)).hasSize(6).containsValues("one", "two", "three"));
			awaitRunsOfEachShard(2);
			group.kill("one");
			eventually(() -> assertThat(owners(two)).hasSize(6).doesNotContainValue("one"));
			awaitRunsOfEachShard(2);
			three.close();
			eventually(() -> assertThat(owners(two).values()).containsOnly("two"));
			awaitRunsOfEachShard(2);

			assertThat(runs.overlaps).isEmpty();
			assertThat(report(two).shards()).allSatisfy((shard) -> {
				assertThat(shard.offset()).isNull();
				assertThat(shard.schedule().nextRun()).isAfter(Instant.now().minusSeconds(20));
				assertThat(shard.schedule().lastRun()).isBefore(shard.schedule().nextRun().plusSeconds(20));
			});
			assertThat(two.getBean(ShardkeeperHealthIndicator.class).health().getStatus()).isEqualTo(Status.UP);
		}
	}

	/**
	 * An interval of an hour: each shard has one run in this test, unless it is repeated.
	 */
	@ParameterizedTest
	@CsvSource({ "repeat, 2", "skip, 1" })
	@Tag("proof")
	void runOfAKilledInstanceIsRepeatedOrSkipped(String onInterruption, int expected) throws InterruptedException {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(TIMES)) {
			KnownGroup.begin(group.name());
			String[] properties = { "shardkeeper.topics.tenants.source=fixed",
					"shardkeeper.topics.tenants.names=acme,globex,initech",
					"shardkeeper.topics.tenants.schedule.interval=1h",
					"shardkeeper.topics.tenants.schedule.on-interruption=" + onInterruption };
			runs.held = "globex";
			group.start(Application.class, "one", properties);
			assertThat(runs.holding.await(30, TimeUnit.SECONDS)).isTrue();
			ConfigurableApplicationContext two = group.start(Application.class, "two", properties);
			group.start(Application.class, "three", properties);
			eventually(() -> assertThat(runs.ended()).containsExactlyInAnyOrder("acme", "initech"));
			if (expected == 1) {
				eventually(() -> assertThat(shard(two, "globex").schedule().runningSince()).isNotNull());
			}
			group.kill("one");
			eventually(() -> assertThat(owners(two)).hasSize(3).doesNotContainValue("one"));
			eventually(() -> assertThat(shard(two, "globex").schedule()).satisfies((schedule) -> {
				assertThat(schedule.runningSince()).isNull();
				assertThat(schedule.lastRun()).isNotNull();
			}));

			eventually(() -> assertThat(runs.begun("globex")).isEqualTo(expected));
			assertThat(runs.begun("acme")).as("also after a move").isEqualTo(1);
			assertThat(runs.overlaps).isEmpty();
			assertThat(shard(two, "globex").schedule().nextRun()).isAfter(Instant.now().plusSeconds(3000));
			assertThat(states(two, "globex")).isEqualTo((expected == 2) ? Map.of("runs", 1L) : Map.of());
		}
	}

	/**
	 * The killed instance goes on for as long as its lease lasts, and commits nothing.
	 */
	@ParameterizedTest
	@CsvSource({ "repeat, 2", "skip, 1" })
	@Tag("proof")
	void killRepeatsNoFinishedRunOfABurst(String onInterruption, int most) {
		List<String> names = IntStream.range(0, 30).mapToObj((number) -> "tenant-" + number).toList();
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(TIMES)) {
			KnownGroup.begin(group.name());
			String[] properties = { "shardkeeper.topics.tenants.source=fixed",
					"shardkeeper.topics.tenants.names=" + String.join(",", names),
					"shardkeeper.topics.tenants.schedule.cron=* * * * * *",
					"shardkeeper.topics.tenants.schedule.missed-runs=all",
					"shardkeeper.topics.tenants.schedule.on-interruption=" + onInterruption };
			try (ConfigurableApplicationContext before = group.start(Application.class, "before", properties)) {
				eventually(() -> assertThat(report(before).shards()).hasSize(names.size())
					.allSatisfy((shard) -> assertThat(shard.schedule()).isNotNull()));
			}
			names.forEach((name) -> missRuns(group.name(), name));
			runs.reset();
			group.start(Application.class, "one", properties);
			eventually(() -> assertThat(runs.times).hasSizeGreaterThan(500));
			group.kill("one");
			ConfigurableApplicationContext two = group.start(Application.class, "two", properties);
			eventually(() -> assertThat(report(two).shards()).allSatisfy((shard) -> {
				assertThat(shard.owner()).startsWith("two");
				assertThat(shard.schedule().nextRun()).isAfter(Instant.now().minusSeconds(5));
			}));

			Map<String, Long> calls = runs.times.stream()
				.collect(Collectors.groupingBy((run) -> run, Collectors.counting()));
			assertThat(calls.values()).as("calls of each run").allMatch((times) -> times <= most);
			assertThat(calls.values().stream().filter((times) -> times > 1)).as("runs that were repeated")
				.hasSizeLessThanOrEqualTo(names.size());
			assertThat(calls).hasSizeGreaterThan(90 * names.size());
		}
	}

	/** Sets a shard back by more than a minute and a half: its runs are missed. */
	private static void missRuns(String group, String name) {
		String key = "%s:{%s/tenants/%s}:checkpoint".formatted(group, group, name);
		Instant next = Instant.now().minusSeconds(98).truncatedTo(ChronoUnit.SECONDS);
		EmbeddedRedis.shared()
			.call((redis) -> redis.hset(key, "offset",
					redis.hget(key, "offset").replaceFirst("next=[^;]+", "next=" + next)));
	}

	@Test
	void namesOfABeanComeAndGo() {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(TIMES)) {
			KnownGroup.begin(group.name());
			String[] properties = { "shardkeeper.topics.tenants.source=fixed",
					"shardkeeper.topics.tenants.names-bean=directory",
					"shardkeeper.topics.tenants.schedule.interval=100ms" };
			runs.names = List.of("acme", "globex", "no name");
			ConfigurableApplicationContext one = group.start(Application.class, "one", properties);
			ConfigurableApplicationContext two = group.start(Application.class, "two", properties);
			eventually(() -> assertThat(owners(one)).containsOnlyKeys("acme", "globex"));
			awaitRunsOfEachShard(2);
			assertThat(health(one)).contains("1 names of shards of 'tenants' are not valid", "'no name'");

			runs.names = List.of("globex", "initech");
			eventually(() -> assertThat(owners(one)).containsOnlyKeys("globex", "initech"));
			eventually(() -> assertThat(shard(one, "acme").state()).isEqualTo("FREE"));
			assertThat(runs.revoked).contains("acme");
			eventually(() -> assertThat(one.getBean(ShardkeeperHealthIndicator.class).health().getStatus())
				.isEqualTo(Status.UP));
			int before = runs.begun("acme");
			awaitRunsOfEachShard(3);
			assertThat(runs.begun("acme")).isEqualTo(before);

			runs.names = null;
			eventually(() -> assertThat(health(two)).contains("The shards of 'tenants' cannot be listed",
					"caused by the test"));
			awaitRunsOfEachShard(3);

			runs.names = List.of("acme", "globex", "initech");
			eventually(() -> assertThat(runs.begun("acme")).isGreaterThan(before));
			eventually(() -> assertThat(states(one, "acme").get("runs")).as("its state is kept")
				.isGreaterThan(before - 1L));
			assertThat(runs.overlaps).isEmpty();
		}
	}

	/** Each instance calls the handler for each name, and stops with a name that goes. */
	@Test
	void namesOfABroadcastTopicComeAndGo() {
		try (EmbeddedGroup group = EmbeddedGroup.inMemory(TIMES)) {
			runs.names = List.of("acme", "globex");
			ConfigurableApplicationContext one = group.start(Application.class, "one",
					"shardkeeper.topics.tenants.source=fixed", "shardkeeper.topics.tenants.mode=broadcast",
					"shardkeeper.topics.tenants.names-bean=directory",
					"shardkeeper.topics.tenants.schedule.interval=50ms");
			awaitRunsOfEachShard(2);
			runs.names = List.of("globex");
			eventually(() -> assertThat(runs.revoked).containsExactly("acme"));
			int before = runs.begun("acme");
			awaitRunsOfEachShard(3);
			assertThat(runs.begun("acme")).isEqualTo(before);
			runs.names = List.of("acme", "globex");

			eventually(() -> assertThat(runs.begun("acme")).isGreaterThan(before));
			assertThat(one.getBean(ShardkeeperHealthIndicator.class).health().getStatus()).isEqualTo(Status.UP);
		}
	}

	/** Each listed shard has so many more runs. */
	private static void awaitRunsOfEachShard(int more) {
		List<String> names = (runs.names != null) ? runs.names.stream().filter((name) -> !name.contains(" ")).toList()
				: List.of();
		Map<String, Integer> before = new ConcurrentHashMap<>();
		Set<String> expected = names.isEmpty() ? Set.copyOf(runs.ended()) : Set.copyOf(names);
		expected.forEach((name) -> before.put(name, runs.begun(name)));
		eventually(() -> before.forEach((name, count) -> {
			if (!runs.revoked.contains(name)) {
				assertThat(runs.begun(name)).as(name).isGreaterThanOrEqualTo(count + more);
			}
		}));
	}

	private static Map<String, String> owners(ConfigurableApplicationContext instance) {
		return report(instance).shards()
			.stream()
			.filter((shard) -> shard.state().equals("OWNED"))
			.collect(Collectors.toMap(ShardReport::id, (shard) -> new MemberId(shard.owner()).instance()));
	}

	private static ShardReport shard(ConfigurableApplicationContext instance, String name) {
		return report(instance).shards().stream().filter((shard) -> shard.id().equals(name)).findAny().orElseThrow();
	}

	private static Map<String, Long> states(ConfigurableApplicationContext instance, String name) {
		return instance.getBean(ShardStateReader.class).read(new ShardId("tenants", name), Long.class);
	}

	private static GroupReport report(ConfigurableApplicationContext instance) {
		return instance.getBean(GroupReporter.class).report();
	}

	private static String health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health().getDetails().toString();
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(50)).untilAsserted(assertion);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler() {
			return new Handler();
		}

		@Bean
		ShardNames directory() {
			return new ShardNames() {

				@Override
				public Collection<String> names(String topic) {
					List<String> names = runs.names;
					if (names == null) {
						throw new IllegalStateException("caused by the test");
					}
					return names;
				}

				@Override
				public Duration interval() {
					return Duration.ofMillis(100);
				}

			};
		}

	}

	static class Handler {

		@ShardConsumer("tenants")
		void run(ShardContext shard, ShardState state) throws InterruptedException {
			runs.begin(shard);
			try {
				if (shard.shard().id().equals(runs.held) && runs.holding.getCount() > 0) {
					runs.holding.countDown();
					new CountDownLatch(1).await();
				}
				state.increment("runs", 1);
				runs.ended.add(shard.shard().id());
			}
			finally {
				runs.end(shard);
			}
		}

		@OnShardRevoked
		void revoked(ShardContext shard) {
			runs.revoked.add(shard.shard().id());
		}

	}

	/** What all instances have done. */
	static final class Runs {

		private final List<String> begun = new CopyOnWriteArrayList<>();

		private final List<String> ended = new CopyOnWriteArrayList<>();

		/** Shard and time of each run that was begun. */
		private final Queue<String> times = new ConcurrentLinkedQueue<>();

		private final List<String> overlaps = new CopyOnWriteArrayList<>();

		private final Set<String> revoked = ConcurrentHashMap.newKeySet();

		private final Map<String, String> running = new ConcurrentHashMap<>();

		private volatile CountDownLatch holding = new CountDownLatch(1);

		private volatile String held;

		private volatile List<String> names;

		void reset() {
			this.begun.clear();
			this.times.clear();
			this.ended.clear();
			this.overlaps.clear();
			this.revoked.clear();
			this.running.clear();
			this.holding = new CountDownLatch(1);
			this.held = null;
			this.names = null;
		}

		void begin(ShardContext shard) {
			String name = shard.shard().id();
			String other = this.running.putIfAbsent(name, shard.member().value());
			if (other != null) {
				this.overlaps.add(name + " on " + other + " and " + shard.member());
			}
			this.begun.add(name);
			shard.scheduledTime().ifPresent((time) -> this.times.add(name + " " + time));
		}

		void end(ShardContext shard) {
			this.running.remove(shard.shard().id(), shard.member().value());
		}

		int begun(String name) {
			return (int) this.begun.stream().filter(name::equals).count();
		}

		List<String> ended() {
			return List.copyOf(this.ended);
		}

	}

}
