package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardPreparing;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardAssignedEvent;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRevokedEvent;
import io.github.shardkeeper.ShardSessionLostEvent;
import io.github.shardkeeper.ShardSessionResumedEvent;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Moves that do not go straight, and a Redis that forgets: whole applications in this JVM
 * on a real Redis of their own.
 */
@ExtendWith(OutputCaptureExtension.class)
class HandoverTests {

	private static final int SHARDS = 4;

	private Duration lease = Duration.ofMillis(1500);

	private final String run = UUID.randomUUID().toString();

	private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

	private final List<Handler> handlers = new ArrayList<>();

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final Overlaps overlaps = new Overlaps();

	@AfterEach
	void stop() {
		this.handlers.forEach((handler) -> handler.stuck.countDown());
		this.instances.forEach(ConfigurableApplicationContext::close);
		this.redis.close();
	}

	@Test
	@Tag("proof")
	@Promise("One consumer")
	void stuckHandlerHoldsMoveAndIsReported() {
		ConfigurableApplicationContext one = start("one", "--shardkeeper.handover.timeout=300ms");
		awaitLoads(one, Map.of("one", 4L));
		Handler stuck = one.getBean(Handler.class);
		sendToAll(one, 1);
		await().until(() -> stuck.calls.get() == SHARDS);
		stuck.stuck = new CountDownLatch(1);
		sendToAll(one, 2);
		await().until(() -> stuck.calls.get() == 2 * SHARDS);
		ConfigurableApplicationContext two = start("two", "--shardkeeper.handover.timeout=300ms");

		await().until(() -> stuck.interruptions.get() >= 4);
		await().untilAsserted(() -> {
			Health health = one.getBean(ShardkeeperHealthIndicator.class).health();
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(String.valueOf(health.getDetails().get("problems"))).contains(
					"Has been waiting to be handed over for",
					"a call of Handler.handle(String, ShardContext, ShardState) has not returned",
					"it is at io.github.shardkeeper.endtoend.HandoverTests$Handler.work(HandoverTests.java:");
			assertThat(String.valueOf(health.getDetails().get("unattended"))).contains("one~", "to release it");
		});
		assertThat(two.getBean(Handler.class).assigned).isEmpty();

		stuck.stuck.countDown();
		awaitLoads(one, Map.of("one", 2L, "two", 2L));
		awaitSums(one, 3);
		await().until(() -> one.getBean(ShardkeeperHealthIndicator.class).health().getStatus().equals(Status.UP));
		assertThat(this.overlaps.seen()).isEmpty();
	}

	@Test
	@Promise("No zombie writes")
	void forcedMoveResumesElsewhereAndRefusesWritesOfStuckOwner() {
		String[] force = { "--shardkeeper.handover.timeout=300ms", "--shardkeeper.handover.on-timeout=force" };
		ConfigurableApplicationContext one = start("one", force);
		awaitLoads(one, Map.of("one", 4L));
		Handler stuck = one.getBean(Handler.class);
		stuck.stuck = new CountDownLatch(1);
		sendToAll(one, 1);
		await().until(() -> stuck.calls.get() == SHARDS);
		ConfigurableApplicationContext two = start("two", force);

		await().until(() -> two.getBean(Handler.class).calls.get() == 2);
		assertThat(this.overlaps.seen()).as("the user's own choice").hasSize(2);
		stuck.stuck.countDown();
		awaitSums(one, 1);
		sendToAll(one, 2);
		awaitSums(one, 3);
		assertThat(loads(one)).isEqualTo(Map.of("one", 2L, "two", 2L));
	}

	@Test
	@Tag("proof")
	void cancelledMoveLeavesOwnerConsuming(CapturedOutput output) {
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, Map.of("one", 4L));
		Map<String, Long> tokens = tokens(one);
		Handler stuck = one.getBean(Handler.class);
		stuck.stuck = new CountDownLatch(1);
		sendToAll(one, 1);
		await().until(() -> stuck.calls.get() == SHARDS);
		ConfigurableApplicationContext two = start("two");
		await().until(() -> states(one).getOrDefault("REVOKING", 0L) == 2);
		two.close();
		await().until(() -> output.getOut().split("its move was cancelled", -1).length == 3);
		assertThat(states(one)).isEqualTo(Map.of("OWNED", 4L));

		stuck.stuck.countDown();
		sendToAll(one, 2);
		awaitSums(one, 3);
		assertThat(tokens(one)).isEqualTo(tokens);
		assertThat(stuck.assigned).hasSize(4);
		assertThat(stuck.revoked).isEmpty();
		assertThat(stuck.calls).as("no record twice").hasValue(2 * SHARDS);
	}

	@Test
	@Tag("proof")
	void nextOwnerPreparesWhileOldOwnerConsumes() {
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, Map.of("one", 4L));
		Handler stuck = one.getBean(Handler.class);
		stuck.stuck = new CountDownLatch(1);
		sendToAll(one, 1);
		await().until(() -> stuck.calls.get() == SHARDS);
		ConfigurableApplicationContext two = start("two");
		Handler next = two.getBean(Handler.class);

		await().until(() -> next.prepared.size() == 2);
		assertThat(next.assigned).isEmpty();
		assertThat(stuck.revoked).isEmpty();
		stuck.stuck.countDown();
		awaitLoads(one, Map.of("one", 2L, "two", 2L));
		await().until(() -> next.assigned.size() == 2);
		assertThat(next.assigned).containsExactlyInAnyOrderElementsOf(next.prepared);
		assertThat(next.prepared).hasSize(2);
	}

	@Test
	@Tag("proof")
	void shardWaitsQuietPeriodAfterPlannedMove() {
		String quiet = "--shardkeeper.handover.quiet-period=1s";
		ConfigurableApplicationContext one = start("one", quiet);
		awaitLoads(one, Map.of("one", 4L));
		ConfigurableApplicationContext two = start("two", quiet);
		await().until(() -> states(one).getOrDefault("QUIET", 0L) == 2);
		assertThat(two.getBean(Handler.class).assigned).isEmpty();

		awaitLoads(one, Map.of("one", 2L, "two", 2L));
		assertThat(one.getBean(Handler.class).revoked).hasSize(2);
		Map<String, Long> released = one.getBean(Handler.class).revokedAt;
		two.getBean(Handler.class).assignedAt.forEach((shard, at) -> assertThat(at - released.get(shard))
			.isGreaterThanOrEqualTo(Duration.ofSeconds(1).toNanos()));
	}

	@Test
	@Tag("proof")
	@Promise("State exactly once")
	void redisEmptiedUnderRunningMembersMovesNothingAndLosesNoState() {
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, Map.of("one", 4L));
		ConfigurableApplicationContext two = start("two");
		awaitLoads(one, Map.of("one", 2L, "two", 2L));
		sendToAll(one, 1);
		awaitSums(one, 1);
		for (int number = 2; number <= 4; number++) {
			Map<String, Long> tokens = tokens(one);
			this.redis.call((commands) -> commands.flushall());
			// Nothing is sent meanwhile: the records of this Redis are gone too.
			await().until(() -> states(one).getOrDefault("OWNED", 0L) == 4);
			int sum = number * (number - 1) / 2;
			awaitSums(one, sum);
			sendToAll(one, number);
			awaitSums(one, sum + number);

			assertThat(tokens(one)).isEqualTo(tokens);
		}
		assertThat(one.getBean(Handler.class).assigned).hasSize(4);
		assertThat(two.getBean(Handler.class).assigned).hasSize(2);
		assertThat(two.getBean(Handler.class).revoked).isEmpty();
		assertThat(one.getBean(Handler.class).calls.get() + two.getBean(Handler.class).calls.get())
			.as("no record twice")
			.isEqualTo(4 * SHARDS);
		assertThat(this.overlaps.seen()).isEmpty();
		// The state was really written back.
		one.close();
		awaitLoads(two, Map.of("two", 4L));
		sendToAll(two, 5);
		awaitSums(two, 15);
	}

	@Test
	@Tag("proof")
	@Promise("State exactly once")
	void redisEmptiedWhileLeasesEndLosesNoState() {
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, Map.of("one", 4L));
		ConfigurableApplicationContext two = start("two");
		awaitLoads(one, Map.of("one", 2L, "two", 2L));
		sendToAll(one, 1);
		awaitSums(one, 1);
		Map<String, Long> tokens = tokens(one);
		this.redis.stop();
		await().until(() -> hasLostItsSession(one) && hasLostItsSession(two));
		this.redis.restart();

		await().until(() -> states(one).getOrDefault("OWNED", 0L) == 4);
		awaitSums(one, 1);
		sendToAll(one, 2);
		awaitSums(one, 3);
		assertThat(tokens(one)).isEqualTo(tokens);
		assertThat(one.getBean(Handler.class).assigned).hasSize(4);
		assertThat(two.getBean(Handler.class).assigned).hasSize(2);
		assertThat(two.getBean(Handler.class).revoked).isEmpty();
		assertThat(one.getBean(Handler.class).calls.get() + two.getBean(Handler.class).calls.get())
			.as("no record twice")
			.isEqualTo(2 * SHARDS);
		assertThat(this.overlaps.seen()).isEmpty();
		// The state was really written back.
		one.close();
		awaitLoads(two, Map.of("two", 4L));
		sendToAll(two, 3);
		awaitSums(two, 6);
	}

	private static boolean hasLostItsSession(ConfigurableApplicationContext instance) {
		return instance.getBean(Handler.class).events.stream().anyMatch(ShardSessionLostEvent.class::isInstance);
	}

	@Test
	@Tag("proof")
	void applicationIsNotifiedOfLostAndNewSession() {
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, Map.of("one", 4L));
		Handler handler = one.getBean(Handler.class);
		await().until(() -> handler.events.size() == 4);
		assertThat(handler.events).allMatch(ShardAssignedEvent.class::isInstance);
		String member = one.getBean(GroupReporter.class).report().self();
		handler.events.clear();
		this.redis.stop();
		await().until(() -> handler.events.size() == 1);
		assertThat(handler.events.get(0)).isInstanceOfSatisfying(ShardSessionLostEvent.class, (event) -> {
			assertThat(event.group()).isEqualTo(this.run);
			assertThat(event.member()).hasToString(member);
		});

		this.redis.restart();
		await().until(() -> handler.events.size() == 2);
		assertThat(handler.events.get(1)).isInstanceOfSatisfying(ShardSessionResumedEvent.class, (event) -> {
			assertThat(event.newSession()).isTrue();
			assertThat(event.member()).isNotEqualTo(member);
		});
		sendToAll(one, 1);
		awaitSums(one, 1);
		assertThat(handler.events).as("its shards are where they were").hasSize(2);
	}

	@Test
	@Tag("proof")
	void applicationIsNotifiedOfResumedSession() {
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, Map.of("one", 4L));
		Handler handler = one.getBean(Handler.class);
		await().until(() -> handler.events.size() == 4);
		handler.events.clear();
		this.redis.freeze();
		await().until(() -> handler.events.size() == 1);
		this.redis.thaw();
		await().until(() -> handler.events.size() == 2);

		assertThat(handler.events.get(0)).isInstanceOf(ShardSessionLostEvent.class);
		assertThat(handler.events.get(1)).isInstanceOfSatisfying(ShardSessionResumedEvent.class,
				(event) -> assertThat(event.newSession()).isFalse());
	}

	@Test
	@Tag("proof")
	void stopIsQuickAndSilent(CapturedOutput output) {
		// Long enough that a busy machine does not warn of slow replies.
		this.lease = Duration.ofSeconds(4);
		ConfigurableApplicationContext one = start("one");
		ConfigurableApplicationContext two = start("two");
		awaitLoads(one, Map.of("one", 2L, "two", 2L));
		sendToAll(one, 1);
		awaitSums(one, 1);
		int before = output.getAll().length();

		assertThat(closing(two)).as("with an instance that takes over").isLessThan(this.lease);
		assertThat(loads(one)).isEqualTo(Map.of("one", 4L));
		assertThat(closing(one)).as("the last one").isLessThan(this.lease);
		assertThat(output.getAll().substring(before)).contains("Left group").doesNotContain(" WARN ", " ERROR ");
	}

	private static Duration closing(ConfigurableApplicationContext instance) {
		long begun = System.nanoTime();
		instance.close();
		return Duration.ofNanos(System.nanoTime() - begun);
	}

	private ConfigurableApplicationContext start(String name, String... properties) {
		List<String> arguments = new ArrayList<>(
				List.of("--shardkeeper.group=" + this.run, "--shardkeeper.instance-id=" + name,
						"--shardkeeper.consumer.commit.interval=100ms", "--shardkeeper.topics.orders.shards=" + SHARDS,
						"--shardkeeper.session.lease=" + this.lease.toMillis() + "ms",
						"--shardkeeper.session.heartbeat-interval=100ms", "--spring.main.banner-mode=off",
						"--spring.data.redis.port=" + this.redis.port()));
		arguments.addAll(List.of(properties));
		ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.initializers((created) -> created.getBeanFactory().registerSingleton("overlaps", this.overlaps))
			.run(arguments.toArray(String[]::new));
		this.instances.add(context);
		this.handlers.add(context.getBean(Handler.class));
		return context;
	}

	/** One record to each shard. */
	private static void sendToAll(ConfigurableApplicationContext instance, int number) {
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		Map<ShardId, String> keys = new TreeMap<>();
		for (int key = 0; keys.size() < SHARDS; key++) {
			keys.putIfAbsent(template.shardFor("orders", "key-" + key), "key-" + key);
		}
		keys.values().forEach((key) -> template.send("orders", key, Integer.toString(number)));
	}

	/** Waits until each shard's committed sum is that. */
	private static void awaitSums(ConfigurableApplicationContext instance, long sum) {
		ShardStateReader reader = instance.getBean(ShardStateReader.class);
		await().untilAsserted(() -> {
			for (int shard = 0; shard < SHARDS; shard++) {
				assertThat(reader.read(ShardId.of("orders", shard), Long.class)).containsEntry("sum", sum);
			}
		});
	}

	private static List<ShardReport> shards(ConfigurableApplicationContext instance) {
		return instance.getBean(GroupReporter.class).report().shards();
	}

	private static Map<String, Long> tokens(ConfigurableApplicationContext instance) {
		return shards(instance).stream().collect(Collectors.toMap(ShardReport::id, ShardReport::token));
	}

	private static Map<String, Long> states(ConfigurableApplicationContext instance) {
		return shards(instance).stream().collect(Collectors.groupingBy(ShardReport::state, Collectors.counting()));
	}

	private static Map<String, Long> loads(ConfigurableApplicationContext instance) {
		return shards(instance).stream()
			.filter((shard) -> shard.state().equals("OWNED"))
			.collect(Collectors.groupingBy((shard) -> String.valueOf(shard.owner()).split("~")[0],
					Collectors.counting()));
	}

	private static void awaitLoads(ConfigurableApplicationContext instance, Map<String, Long> loads) {
		await().untilAsserted(() -> assertThat(loads(instance)).isEqualTo(loads));
	}

	private static ConditionFactory await() {
		return Awaitility.await().pollInterval(Duration.ofMillis(10)).atMost(Duration.ofSeconds(20));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler(Overlaps overlaps) {
			return new Handler(overlaps);
		}

	}

	/** Which shards were handled twice at a time, over all instances. */
	static final class Overlaps {

		private final Map<ShardId, AtomicInteger> running = new ConcurrentHashMap<>();

		private final List<ShardId> seen = new CopyOnWriteArrayList<>();

		void begin(ShardId shard) {
			if (this.running.computeIfAbsent(shard, (id) -> new AtomicInteger()).getAndIncrement() > 0) {
				this.seen.add(shard);
			}
		}

		void end(ShardId shard) {
			this.running.get(shard).decrementAndGet();
		}

		List<ShardId> seen() {
			return this.seen;
		}

	}

	static class Handler {

		final List<String> prepared = new CopyOnWriteArrayList<>();

		final List<String> assigned = new CopyOnWriteArrayList<>();

		final List<String> revoked = new CopyOnWriteArrayList<>();

		final Map<String, Long> assignedAt = new ConcurrentHashMap<>();

		final Map<String, Long> revokedAt = new ConcurrentHashMap<>();

		final List<Object> events = new CopyOnWriteArrayList<>();

		final AtomicInteger calls = new AtomicInteger();

		final AtomicInteger interruptions = new AtomicInteger();

		volatile CountDownLatch stuck = new CountDownLatch(0);

		private final Overlaps overlaps;

		Handler(Overlaps overlaps) {
			this.overlaps = overlaps;
		}

		@ShardConsumer("orders")
		void handle(String number, ShardContext shard, ShardState state) {
			this.overlaps.begin(shard.shard());
			this.calls.incrementAndGet();
			state.increment("sum", Long.parseLong(number));
			work();
			this.overlaps.end(shard.shard());
		}

		/** Waits like a handler that ignores its interruption. */
		private void work() {
			while (this.stuck.getCount() > 0) {
				try {
					this.stuck.await();
				}
				catch (InterruptedException ex) {
					this.interruptions.incrementAndGet();
				}
			}
		}

		@OnShardPreparing
		void prepare(ShardContext shard) {
			assertThat(shard.isHeld()).isFalse();
			this.prepared.add(shard.shard().id());
		}

		@OnShardAssigned
		void assigned(ShardContext shard) {
			this.assignedAt.put(shard.shard().id(), System.nanoTime());
			this.assigned.add(shard.shard().id());
		}

		@OnShardRevoked
		void revoked(ShardContext shard) {
			this.revokedAt.put(shard.shard().id(), System.nanoTime());
			this.revoked.add(shard.shard().id());
		}

		@EventListener({ ShardSessionLostEvent.class, ShardSessionResumedEvent.class, ShardAssignedEvent.class,
				ShardRevokedEvent.class })
		void hear(Object event) {
			this.events.add(event);
		}

	}

}
