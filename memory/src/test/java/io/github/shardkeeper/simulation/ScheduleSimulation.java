package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.consumer.SimulatedConsumers;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.schedule.RunRules.MissedRuns;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.simulation.SimulatedNetwork.Way;
import io.github.shardkeeper.source.fixed.FixedShardSource;
import io.github.shardkeeper.time.Lease;

/**
 * A simulation of a group whose shards have a run every second: instances with real
 * coordinators and workers, which crash, freeze, are cut off, leave and join, so that
 * shards move, while the clock of each steps back and forth. No run is called once it, or
 * a later one, is finished; an owner repeats one run at most that had returned, and with
 * {@code on-interruption: skip} no run is called twice unless it has failed; no two calls
 * of a shard run at a time. In the end all clocks are right, and the state has counted
 * each run once; without {@code skip} none is missing. The seed decides everything.
 */
final class ScheduleSimulation {

	private static final String TOPIC = "runs";

	private static final Duration LEASE = Duration.ofSeconds(3);

	private static final Duration TIMEOUT = Duration.ofSeconds(6);

	private static final Duration PERIOD = Duration.ofSeconds(1);

	/**
	 * By how much a clock is wrong at most. A shard makes up no more than 100 runs, so
	 * twice this and an outage have to be shorter.
	 */
	private static final int LONGEST_STEP_MILLIS = 30_000;

	private static final Duration FAULTS = Duration.ofSeconds(20);

	/** From the last fault until all shards have caught up with the right time. */
	private static final Duration BOUND = Duration.ofSeconds(120);

	private final SplittableRandom random;

	private final VirtualTime time;

	private final OnInterruption onInterruption;

	/** Changes the checkpoints that an instance sees, given its clock. */
	private final BiFunction<CheckpointStore, InstantSource, CheckpointStore> tampering;

	private final boolean calm;

	private final Duration longestDelay;

	private final SimulatedNetwork network;

	private final MemoryCoordinationStore store;

	private final MemoryCheckpointStore checkpoints;

	private final SimulatedConsumers consumers;

	private final FixedShardSource shards;

	private final List<Instance> instances = new ArrayList<>();

	private final Map<String, Integer> faults = new TreeMap<>();

	private final Map<ShardId, List<Call>> running = new HashMap<>();

	private final Map<ShardId, Set<Instant>> called = new HashMap<>();

	/** Runs whose last call has thrown. */
	private final Set<Run> failed = new HashSet<>();

	private final Map<Run, Token> returned = new HashMap<>();

	private final Map<Tenure, Instant> repeated = new HashMap<>();

	private long lastFaultAt;

	private boolean ending;

	private int calls;

	ScheduleSimulation(long seed, VirtualTime time, OnInterruption onInterruption,
			BiFunction<CheckpointStore, InstantSource, CheckpointStore> tampering) {
		this.random = new SplittableRandom(seed);
		this.time = time;
		this.onInterruption = onInterruption;
		this.tampering = tampering;
		this.calm = this.random.nextInt(3) == 0;
		this.longestDelay = Duration.ofMillis(this.calm ? 0 : this.random.nextInt(1, 40));
		this.network = new SimulatedNetwork(time, this.random,
				Duration.ofMillis(this.calm ? 2 : this.random.nextInt(1, 150)),
				this.calm ? 0 : this.random.nextInt(20, 200));
		InstantSource clock = this::now;
		this.store = new MemoryCoordinationStore(clock);
		this.checkpoints = new MemoryCheckpointStore(clock);
		int count = 1 + this.random.nextInt(4);
		this.shards = new FixedShardSource(Map.of(TOPIC, FixedShardSource.count(count)), Map.of());
		this.consumers = new SimulatedConsumers(new Runs(), Map.of(TOPIC, count),
				new TopicSchedule("* * * * * *", null, null, onInterruption, MissedRuns.ALL, null));
	}

	/** The right time. */
	private Instant now() {
		return Instant.parse("2026-11-23T00:00:00Z").plusNanos(this.time.now());
	}

	/** Runs the schedule; returns the first failure. */
	@Nullable Throwable run() {
		int count = 2 + this.random.nextInt(3);
		for (int i = 0; i < count; i++) {
			in(this.random.nextInt(500), this::startInstance);
		}
		for (int left = this.random.nextInt(7); left > 0; left--) {
			in(3500 + this.random.nextInt((int) FAULTS.toMillis()), this::fault);
		}
		for (int left = this.random.nextInt(9); left > 0; left--) {
			in(500 + this.random.nextInt((int) FAULTS.toMillis()), this::stepClock);
		}
		in(FAULTS.toMillis() + 4000, () -> {
			this.network.calmDown();
			this.ending = true;
			this.instances.forEach((instance) -> instance.ahead = Duration.ZERO);
			this.lastFaultAt = Math.max(this.lastFaultAt, this.time.now());
			if (members().isEmpty()) {
				startInstance();
			}
			look();
		});
		return this.time.run();
	}

	int calls() {
		return this.calls;
	}

	/** Returns the number of calls for runs that were called before. */
	int callsAgain() {
		return this.calls - this.called.values().stream().mapToInt(Set::size).sum();
	}

	Map<String, Integer> faults() {
		return this.faults;
	}

	private void in(long millis, Runnable event) {
		this.time.at(this.time.now() + Duration.ofMillis(millis).toNanos(), null, event);
	}

	private List<Instance> members() {
		return this.instances.stream().filter((instance) -> !instance.gone).toList();
	}

	private void startInstance() {
		Instance instance = new Instance("i" + this.instances.size());
		this.instances.add(instance);
		this.time.at(this.time.now(), instance.process, instance::start);
	}

	private void happened(String fault, Duration lasts) {
		this.faults.merge(fault, 1, Integer::sum);
		this.lastFaultAt = Math.max(this.lastFaultAt, this.time.now() + lasts.toNanos());
	}

	private void stepClock() {
		List<Instance> members = members();
		if (!members.isEmpty()) {
			happened("step of a clock", Duration.ZERO);
			members.get(this.random.nextInt(members.size())).stepClock();
		}
	}

	private void fault() {
		List<Instance> members = members();
		if (members.isEmpty()) {
			startInstance();
			return;
		}
		Instance one = members.get(this.random.nextInt(members.size()));
		Duration duration = Duration.ofMillis(this.random.nextInt(100, 8000));
		switch (this.random.nextInt(8)) {
			case 0, 1 -> {
				happened("crash", TIMEOUT);
				one.die();
				in(this.random.nextInt(3000), this::startInstance);
			}
			case 2 -> {
				happened("pause", duration);
				one.process.freeze(duration);
			}
			case 3 -> {
				happened("cut", duration);
				Stream.of(Way.values()).forEach((way) -> one.link.cut(way, duration));
			}
			case 4 -> {
				happened("cut of checkpoints", duration);
				one.link.cut(Way.DATA, duration);
			}
			case 5 -> {
				happened("store away", duration);
				this.network.restartStore(duration);
			}
			case 6 -> {
				happened("leave", TIMEOUT);
				one.leave();
				in(this.random.nextInt(3000), this::startInstance);
			}
			default -> {
				happened("join", LEASE);
				startInstance();
			}
		}
	}

	/** Whether all have come to rest; if not in time, that is a failure. */
	private void look() {
		String late = late();
		if (late == null && this.time.now() >= this.lastFaultAt) {
			this.shards.topics().get(TOPIC).forEach(TOPIC, this::check);
			this.time.end();
		}
		else if (this.time.now() - this.lastFaultAt > BOUND.toNanos()) {
			fail("No rest since the last fault: %s, %s", late, this.store.readChanges(0, -1));
		}
		else {
			in(250, this::look);
		}
	}

	private @Nullable String late() {
		List<String> late = new ArrayList<>();
		this.shards.topics().get(TOPIC).forEach(TOPIC, (shard) -> {
			TreeSet<Instant> finished = finished(shard);
			if (finished.isEmpty() || finished.last().isBefore(now().minus(PERIOD.multipliedBy(2)))) {
				late.add(shard + " has finished " + (finished.isEmpty() ? "nothing" : finished.last()));
			}
		});
		return late.isEmpty() ? null : late.toString();
	}

	private void check(ShardId shard) {
		TreeSet<Instant> finished = finished(shard);
		this.checkpoints.read(shard).state().forEach((run, count) -> {
			if (!count.equals("1")) {
				fail("%s: the state has counted the run of %s %s times", shard, run, count);
			}
		});
		if (this.onInterruption == OnInterruption.REPEAT) {
			Instant expected = finished.first();
			for (Instant run : finished) {
				if (!run.equals(expected)) {
					fail("%s: the runs from %s to before %s are missing", shard, expected, run);
				}
				expected = run.plus(PERIOD);
			}
		}
	}

	private TreeSet<Instant> finished(ShardId shard) {
		TreeSet<Instant> finished = new TreeSet<>();
		this.checkpoints.read(shard).state().keySet().forEach((run) -> finished.add(Instant.parse(run)));
		return finished;
	}

	private void fail(String message, @Nullable Object... arguments) {
		AssertionError failure = new AssertionError(message.formatted(arguments));
		this.time.fail(failure);
		throw failure;
	}

	private Call begin(Instance instance, ShardContext context, Instant time) {
		Run run = new Run(context.shard(), time);
		this.calls++;
		TreeSet<Instant> finished = finished(run.shard);
		if (!finished.isEmpty() && !finished.last().isBefore(time)) {
			fail("%s is called by %s after that of %s was finished", run, instance, finished.last());
		}
		boolean first = this.called.computeIfAbsent(run.shard, (shard) -> new HashSet<>()).add(time);
		if (!first && this.onInterruption == OnInterruption.SKIP && !this.failed.contains(run)) {
			fail("%s is called twice, now by %s", run, instance);
		}
		this.failed.remove(run);
		Token before = this.returned.get(run);
		if (before != null) {
			Instant other = this.repeated.putIfAbsent(new Tenure(run.shard, context.token()), time);
			if (other != null && !other.equals(time)) {
				fail("%s had returned under %s, and is called again by %s, as was that of %s", run, before, instance,
						other);
			}
		}
		Call call = new Call(instance, this.time.now());
		List<Call> others = this.running.computeIfAbsent(run.shard, (shard) -> new ArrayList<>());
		others.removeIf((other) -> other.instance.process.isCrashed());
		for (Call other : others) {
			if (!other.instance.process.wasFrozenSince(other.since)) {
				fail("%s is called by %s while %s has a call", run, instance, other.instance);
			}
		}
		others.add(call);
		return call;
	}

	private void end(Call call, ShardContext context, Instant time, boolean succeeded) {
		Run run = new Run(context.shard(), time);
		this.running.get(run.shard).remove(call);
		if (succeeded) {
			this.returned.put(run, context.token());
		}
	}

	/** The handler of all instances. */
	private final class Runs {

		@ShardConsumer(TOPIC)
		void run(ShardContext context, ShardState state) throws InterruptedException {
			ScheduleSimulation simulation = ScheduleSimulation.this;
			Instance instance = simulation.instances.stream()
				.filter((candidate) -> candidate.process.name().equals(context.member().instance()))
				.findFirst()
				.orElseThrow();
			Instant time = context.scheduledTime().orElseThrow();
			Call call = simulation.begin(instance, context, time);
			boolean succeeded = false;
			try {
				state.increment(time.toString(), 1);
				switch (simulation.random.nextInt(20)) {
					case 0, 1, 2 ->
						instance.process.blockInterruptibly(Duration.ofMillis(simulation.random.nextInt(1, 400)));
					case 3 -> instance.process.blockInterruptibly(Duration.ofMillis(simulation.random.nextInt(4000)));
					default -> {
						// Most runs take no time worth telling.
					}
				}
				if (!simulation.ending && simulation.random.nextInt(30) == 0) {
					simulation.failed.add(new Run(context.shard(), time));
					throw new IllegalStateException("The simulated handler fails");
				}
				succeeded = true;
			}
			finally {
				simulation.end(call, context, time, succeeded);
			}
		}

	}

	/** One process, with a clock of its own. */
	private final class Instance {

		private final SimulatedProcess process;

		private final SimulatedNetwork.Link link;

		private final ShardCoordinator coordinator;

		private final ShardConsumption consumption;

		/** By how much its clock is wrong. */
		private Duration ahead = Duration.ZERO;

		private boolean gone;

		Instance(String name) {
			ScheduleSimulation simulation = ScheduleSimulation.this;
			if (simulation.random.nextBoolean() && !simulation.ending) {
				stepClock();
			}
			this.process = new SimulatedProcess(name, simulation.time, simulation.random, simulation.longestDelay);
			this.link = simulation.network.link(this.process);
			MemberRuntime runtime = this.process.runtime();
			CoordinationSettings settings = new CoordinationSettings("group", name, Duration.ofMillis(500), LEASE,
					TIMEOUT, Duration.ofMillis(100), ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1, null);
			Duration timeout = LEASE.dividedBy(3);
			CoordinationStore coordination = this.link.reach(simulation.store, timeout);
			InstantSource clock = () -> simulation.now().plus(this.ahead);
			CheckpointStore checkpoints = simulation.tampering.apply(this.link.reach(simulation.checkpoints, timeout),
					clock);
			Lease lease = new Lease(LEASE, runtime.clock().now());
			this.coordinator = new ShardCoordinator(settings, coordination,
					new HeartbeatScheduler(coordination, lease, settings.heartbeatInterval(), runtime), lease,
					AssignmentSettings.builtIn("sticky", new StickyAssignment()), runtime);
			this.consumption = simulation.consumers.workers(SimulatedSettings.ORDINARY.consumer(), checkpoints,
					simulation.shards.openReader(), lease, runtime.clock(), clock, this.process.executor(),
					this.process.timer(), List.of(), this.coordinator.consumptionListener());
		}

		void start() {
			this.coordinator.start(ScheduleSimulation.this.shards.topics(), this.consumption);
		}

		void stepClock() {
			this.ahead = Duration
				.ofMillis(ScheduleSimulation.this.random.nextInt(-LONGEST_STEP_MILLIS, LONGEST_STEP_MILLIS));
		}

		void die() {
			this.gone = true;
			this.process.crash();
			this.link.processDied();
		}

		void leave() {
			this.gone = true;
			ScheduleSimulation.this.time.at(ScheduleSimulation.this.time.now(), this.process, () -> {
				CompletableFuture<Void> left = this.coordinator.leave(TIMEOUT.dividedBy(2));
				in(TIMEOUT.toMillis(), this::die);
				left.thenRun(() -> in(0, this::die));
			});
		}

		@Override
		public String toString() {
			return "%s, whose clock is wrong by %s".formatted(this.process.name(), this.ahead);
		}

	}

	private record Run(ShardId shard, Instant time) {

		@Override
		public String toString() {
			return "%s: the run of %s".formatted(this.shard, this.time);
		}

	}

	private record Call(Instance instance, long since) {

	}

	private record Tenure(ShardId shard, Token token) {

	}

}
