package io.github.shardkeeper.worker;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.handler.CallHooks;
import io.github.shardkeeper.handler.MessageArguments;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.output.TestTargets;
import io.github.shardkeeper.schedule.RunRules.MissedRuns;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Schedules;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.testsupport.SilentLogs;
import io.github.shardkeeper.testsupport.UnreliableNetwork;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.WorkerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Seeded schedules of one shard with a run every ten seconds. Clocks step back and forth
 * by up to two minutes; owners are killed, also in the middle of a burst of missed runs;
 * handlers fail; each commit may arrive late, in another order than it was sent, or be
 * lost, and so may its reply. No run is called after it, or a later one, was finished; a
 * kill repeats one run at most, and none with {@code on-interruption: skip}; and the
 * state counts each run once.
 */
@MoreInProof
class ScheduledRunsSimulationTests {

	private static final int SCHEDULES = Schedules.count("shardkeeper.scheduled-runs.schedules", 100, 1_000);

	private final SilentLogs logs = SilentLogs.begin();

	@AfterEach
	void speak() {
		this.logs.close();
	}

	@ParameterizedTest
	@EnumSource
	void finishedRunStaysFinished(OnInterruption onInterruption) {
		int calls = 0;
		int again = 0;
		for (long seed = 1; seed <= SCHEDULES; seed++) {
			Schedule schedule = new Schedule(seed, onInterruption);
			schedule.run();
			calls += schedule.calls;
			again += schedule.calls - schedule.called.size();
		}
		System.out.printf("%s: %d schedules with %d calls, %d of them again%n", onInterruption, SCHEDULES, calls,
				again);
		assertThat(again).as("calls that have failed").isPositive();
	}

	private static final class Schedule {

		private static final ShardId SHARD = ShardId.of("orders", 1);

		private static final Duration PERIOD = Duration.ofSeconds(10);

		private static final int STEPS = 80;

		private final long seed;

		private final OnInterruption onInterruption;

		private final RandomGenerator random;

		private final Runs bean = new Runs(this);

		private final MemoryCheckpointStore store = new MemoryCheckpointStore(InstantSource.fixed(Instant.EPOCH));

		private final ShardHandler handler;

		private final UnreliableNetwork unreliable;

		/** True time. */
		private Instant time = Instant.parse("2026-11-23T00:00:00Z");

		private Owner owner;

		private int tokens;

		private int calls;

		private final Set<Instant> called = new HashSet<>();

		/** Runs whose last call has failed. */
		private final Set<Instant> failed = new HashSet<>();

		/** Runs whose calls by this owner have returned. */
		private final Set<Instant> returned = new HashSet<>();

		private final List<String> violations = new ArrayList<>();

		Schedule(long seed, OnInterruption onInterruption) {
			this.seed = seed;
			this.onInterruption = onInterruption;
			this.random = new Random(seed);
			this.unreliable = new UnreliableNetwork(this.random);
			DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
			beans.registerSingleton("handler", this.bean);
			TopicSchedule configured = new TopicSchedule("*/10 * * * * *", null, null, onInterruption, MissedRuns.ALL,
					null);
			this.handler = new ShardHandlerDetector(new AnnotatedBeans(beans),
					new JsonPayloadConverter(new JsonMapper()), MessageArguments.NONE, CallHooks.NONE,
					(topic) -> configured)
				.detect(Map.of("orders", 2), (topic) -> false)
				.get("orders");
			this.owner = new Owner();
		}

		void run() {
			for (int step = 0; step < STEPS; step++) {
				step();
				assertThat(this.violations).as("seed %d, step %d", this.seed, step).isEmpty();
			}
			settle();
			assertThat(this.violations).as("seed %d, at the end", this.seed).isEmpty();
			Map<String, String> counted = new TreeMap<>(this.store.read(SHARD).state());
			assertThat(counted.values()).as("seed %d: %s", this.seed, counted).containsOnly("1");
			List<Instant> runs = counted.keySet().stream().map(Instant::parse).toList();
			Instant last = runs.get(runs.size() - 1);
			assertThat(last).as("seed %d: last run", this.seed).isAfter(this.time.minus(PERIOD));
			if (this.onInterruption == OnInterruption.REPEAT) {
				assertThat(runs).as("seed %d: without a gap", this.seed)
					.containsExactlyElementsOf(Stream.iterate(runs.get(0), (run) -> run.plus(PERIOD))
						.takeWhile((run) -> !run.isAfter(last))
						.toList());
			}
		}

		private void step() {
			switch (this.random.nextInt(8)) {
				case 0, 1, 2 -> this.owner.pass(Duration.ofMillis(this.random.nextInt(12_000)));
				case 3 -> this.bean.failing = this.random.nextInt(3) == 0;
				case 4, 5 -> this.unreliable.arrive();
				case 6 -> {
					if (this.random.nextBoolean()) {
						kill();
					}
				}
				default -> this.owner.stepClock();
			}
			for (int turns = this.random.nextInt(4); turns > 0; turns--) {
				this.owner.pass(Duration.ZERO);
			}
		}

		/** A while later there is another owner, with a clock of its own. */
		private void kill() {
			// State and position are one commit.
			Set<String> finished = this.store.read(SHARD).state().keySet();
			long uncommitted = this.returned.stream().filter((run) -> !finished.contains(run.toString())).count();
			if (uncommitted > 1) {
				this.violations.add(uncommitted + " runs were not committed when their owner was killed");
			}
			this.returned.clear();
			this.time = this.time.plusMillis(this.random.nextInt(60_000));
			this.owner = new Owner();
			if (this.random.nextBoolean()) {
				this.owner.stepClock();
			}
			this.owner.pass(Duration.ZERO);
		}

		private void settle() {
			this.unreliable.calm();
			this.bean.failing = false;
			this.owner.ahead = Duration.ZERO;
			// An owner whose commit is late has no time to catch up until it has arrived.
			for (int calm = 0; calm < 20; calm += this.unreliable.isEmpty() ? 1 : 0) {
				this.unreliable.arrive();
				this.owner.pass(PERIOD);
				for (int turn = 0; turn < 5; turn++) {
					this.owner.pass(Duration.ZERO);
				}
			}
		}

		private void called(Instant run) {
			this.calls++;
			this.store.read(SHARD)
				.state()
				.keySet()
				.stream()
				.filter((finished) -> finished.compareTo(run.toString()) >= 0)
				.findAny()
				.ifPresent((finished) -> this.violations
					.add("The run of %s is called after that of %s was finished".formatted(run, finished)));
			boolean first = this.called.add(run);
			if (!first && this.onInterruption == OnInterruption.SKIP && !this.failed.contains(run)) {
				this.violations.add("The run of %s is called twice".formatted(run));
			}
			this.failed.remove(run);
		}

		private void ended(Instant run, boolean failing) {
			(failing ? this.failed : this.returned).add(run);
		}

		/** The store, as owners see it. */
		private CheckpointStore network() {
			return (CheckpointStore) Proxy.newProxyInstance(CheckpointStore.class.getClassLoader(),
					new Class<?>[] { CheckpointStore.class }, (proxy, method, arguments) -> {
						if (method.getName().equals("commit")) {
							return this.unreliable.transfer(
									() -> this.store
										.commit((ShardId) arguments[0], (Token) arguments[1], (Commit) arguments[2])
										.join(),
									() -> new StoreUnavailableException("lost, caused by the test",
											new IllegalStateException()));
						}
						try {
							return method.invoke(this.store, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
					});
		}

		/** A process that owns the shard. */
		private final class Owner {

			private final SettableClock clock = new SettableClock();

			private final ManualThreads threads = new ManualThreads(this.clock);

			private final Lease lease = new Lease(Duration.ofDays(1), this.clock.now());

			/** By how much its wall clock is wrong. */
			private Duration ahead = Duration.ZERO;

			Owner() {
				ConsumerSettings settings = new TestSettings().get();
				this.lease.renew(this.clock.now(), this.clock.now());
				WorkerContext context = new WorkerContext("group",
						new WorkerContext.Stores(network(), new TestReader(),
								new OutputSettings(new TestTargets(), 20, 1_000_000)),
						new WorkerContext.Runtime(this.clock, () -> Schedule.this.time.plus(this.ahead), this.threads,
								this.threads.timer()),
						new WorkerContext.Topics((topic) -> settings, new BufferBudget(Long.MAX_VALUE),
								new StateCache(1_000_000), new StateValues(new JsonMapper(), List.of())),
						new WorkerContext.Observers(ConsumerMeters.NONE, ConsumerEvents.NONE,
								(shard, token, fence, completed) -> {
								}, false),
						this.lease);
				new ShardWorker(SHARD, new Token(++Schedule.this.tokens), MemberId.of("me", "1"), Schedule.this.handler,
						context, CompletableFuture.completedFuture(null));
			}

			void stepClock() {
				this.ahead = Duration.ofMillis(Schedule.this.random.nextInt(-120_000, 120_000));
			}

			void pass(Duration duration) {
				Schedule.this.time = Schedule.this.time.plus(duration);
				this.lease.renew(this.clock.now(), this.clock.now());
				this.threads.pass(duration);
			}

		}

	}

	static final class Runs {

		private final Schedule schedule;

		private boolean failing;

		Runs(Schedule schedule) {
			this.schedule = schedule;
		}

		@ShardConsumer("orders")
		void run(ShardContext shard, ShardState state) {
			Instant run = shard.scheduledTime().orElseThrow();
			this.schedule.called(run);
			state.increment(run.toString(), 1);
			this.schedule.ended(run, this.failing);
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

}
