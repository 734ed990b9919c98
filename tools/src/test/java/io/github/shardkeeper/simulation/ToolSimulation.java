package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.cluster.memory.MemoryViewStore;
import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.simulation.SimulatedNetwork.Way;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A simulation of a cluster tool with faults: instances with real coordinators, sessions
 * and clients on stores in memory. After the last fault everybody has to get on within a
 * time limit. The seed decides everything.
 */
abstract class ToolSimulation {

	static final Duration LEASE = Duration.ofSeconds(3);

	static final Duration TIMEOUT = Duration.ofSeconds(6);

	/** From the last fault until everybody has had each turn. */
	private static final Duration BOUND = Duration.ofSeconds(90);

	private static final Duration FAULTS = Duration.ofSeconds(15);

	final SplittableRandom random;

	final VirtualTime time;

	final SimulatedNetwork network;

	final MemoryCoordinationStore store;

	final MemoryCluster cluster;

	final ViewStore views;

	final boolean calm;

	final Duration longestDelay;

	final List<Instance> instances = new ArrayList<>();

	final Map<String, Integer> faults = new TreeMap<>();

	private long storeClockOffsetMillis;

	private long lastFaultAt;

	/** Acquisitions since then were lost by a failover. */
	long lostFrom = Long.MAX_VALUE;

	long lostUntil;

	long clockSetAt = Long.MIN_VALUE;

	boolean ending;

	ToolSimulation(long seed, VirtualTime time) {
		this.random = new SplittableRandom(seed);
		this.time = time;
		this.calm = this.random.nextInt(3) == 0;
		this.longestDelay = Duration.ofMillis(this.calm ? 0 : this.random.nextInt(1, 40));
		this.network = new SimulatedNetwork(time, this.random,
				Duration.ofMillis(this.calm ? 2 : this.random.nextInt(1, 150)),
				this.calm ? 0 : this.random.nextInt(20, 200));
		InstantSource clock = () -> Instant.ofEpochMilli(1_700_000_000_000L + this.storeClockOffsetMillis)
			.plusNanos(time.now());
		this.store = new MemoryCoordinationStore(clock);
		this.cluster = MemoryCluster.of(this.store);
		this.views = new MemoryViewStore(this.cluster);
	}

	/** Begins to use the tool. On the process of the instance. */
	abstract void begin(Instance instance);

	/** Returns who has not got on since the last fault, for messages. */
	abstract List<?> waiting();

	/** Returns what to say beside that. */
	abstract String describe();

	/** Runs the schedule; returns the first failure. */
	@Nullable Throwable run() {
		int count = 2 + this.random.nextInt(3);
		for (int i = 0; i < count; i++) {
			in(this.random.nextInt(500), this::startInstance);
		}
		for (int left = this.random.nextInt(7); left > 0; left--) {
			in(3500 + this.random.nextInt((int) FAULTS.toMillis()), this::fault);
		}
		in(FAULTS.toMillis() + 4000, () -> {
			this.network.calmDown();
			this.ending = true;
			this.lastFaultAt = Math.max(this.lastFaultAt, this.time.now());
			if (members().isEmpty()) {
				startInstance();
			}
			look();
		});
		return this.time.run();
	}

	private void in(long millis, Runnable event) {
		this.time.at(this.time.now() + Duration.ofMillis(millis).toNanos(), null, event);
	}

	private void look() {
		List<?> waiting = waiting();
		if (waiting.isEmpty()) {
			this.time.end();
		}
		else if (this.time.now() - this.lastFaultAt > BOUND.toNanos()) {
			this.time
				.fail(new AssertionError("Has not got on since the last fault: %s; %s".formatted(waiting, describe())));
		}
		else {
			in(250, this::look);
		}
	}

	List<Instance> members() {
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

	private void fault() {
		List<Instance> members = members();
		if (members.isEmpty()) {
			startInstance();
			return;
		}
		Instance one = members.get(this.random.nextInt(members.size()));
		Duration duration = Duration.ofMillis(this.random.nextInt(100, 8000));
		switch (this.random.nextInt(11)) {
			case 0 -> {
				happened("crash", TIMEOUT);
				one.die();
				in(this.random.nextInt(3000), this::startInstance);
			}
			case 1 -> {
				happened("pause", duration);
				one.process.freeze(duration);
			}
			case 2 -> {
				happened("cut", duration);
				one.link.cut(Way.CONTROL, duration);
				one.link.cut(Way.EVENTS, duration);
			}
			case 3 -> {
				happened("cut of messages", duration);
				one.link.cut(Way.EVENTS, duration);
			}
			case 4 -> {
				happened("cut of commands", duration);
				one.link.cut(Way.CONTROL, duration);
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
			case 7 -> {
				happened("join", LEASE);
				startInstance();
			}
			case 8 -> {
				happened("store emptied", LEASE.multipliedBy(2));
				MemoryFailover.empty(this.store);
				this.network.restartStore(Duration.ofMillis(this.random.nextInt(2000)));
			}
			case 9 -> failOver();
			default -> {
				happened("clock set forward", Duration.ZERO);
				this.storeClockOffsetMillis += this.random.nextInt(20_000);
				this.clockSetAt = this.time.now();
			}
		}
	}

	/** A replica takes over that does not have the writes of some time. */
	private void failOver() {
		Object snapshot = MemoryFailover.snapshot(this.store);
		Duration lost = Duration.ofMillis(this.random.nextInt(1, 1500));
		Duration away = Duration.ofMillis(this.random.nextInt(1, 2000));
		happened("failover", lost.plus(away).plus(LEASE));
		long from = this.time.now();
		in(lost.toMillis(), () -> {
			this.lostFrom = Math.min(this.lostFrom, from);
			this.lostUntil = this.time.now();
			MemoryFailover.loseWritesSince(this.store, snapshot);
			this.network.restartStore(away);
		});
	}

	Map<String, Integer> faults() {
		return this.faults;
	}

	/** One process. */
	final class Instance {

		final SimulatedProcess process;

		final SimulatedNetwork.Link link;

		private final ShardCoordinator coordinator;

		final ClusterSession session;

		private boolean gone;

		Instance(String name) {
			this.process = new SimulatedProcess(name, ToolSimulation.this.time, ToolSimulation.this.random,
					ToolSimulation.this.longestDelay);
			this.link = ToolSimulation.this.network.link(this.process);
			MemberRuntime runtime = this.process.runtime();
			CoordinationSettings settings = new CoordinationSettings("group", name, Duration.ofMillis(500), LEASE,
					TIMEOUT, Duration.ofMillis(100), ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1, null);
			Duration timeout = LEASE.dividedBy(3);
			CoordinationStore coordination = this.link.reach(ToolSimulation.this.store, timeout);
			Lease lease = new Lease(LEASE, runtime.clock().now());
			this.coordinator = new ShardCoordinator(settings, coordination,
					new HeartbeatScheduler(coordination, lease, settings.heartbeatInterval(), runtime), lease,
					AssignmentSettings.builtIn("sticky", new StickyAssignment()), runtime);
			this.session = new ClusterSession(this.coordinator, messages(timeout),
					this.link.reach(ViewStore.class, ToolSimulation.this.views, timeout), runtime,
					this.process.executor());
		}

		void start() {
			this.session.start(this.coordinator::startWithoutShards);
			begin(this);
		}

		private ClusterMessages messages(Duration timeout) {
			return (address, onMessage) -> this.link
				.subscribe((received) -> ToolSimulation.this.cluster.subscribe(address, received), onMessage, timeout);
		}

		/** Returns a store as this process reaches it. */
		<T> T reach(Class<T> port, T store) {
			return this.link.reach(port, store, LEASE.dividedBy(3));
		}

		/** Runs something on this process. */
		void later(long millis, Runnable action) {
			ToolSimulation.this.time.at(ToolSimulation.this.time.now() + Duration.ofMillis(millis).toNanos(),
					this.process, action);
		}

		/** Returns the time until a moment of its clock, at least 1 ms after it. */
		long millisUntil(MonotonicTime moment) {
			return Math.max(0, this.process.clock().now().until(moment).toMillis()) + 1;
		}

		@Override
		public String toString() {
			return this.process.name();
		}

		void die() {
			this.gone = true;
			this.process.crash();
			this.link.processDied();
		}

		void leave() {
			this.gone = true;
			ToolSimulation.this.time.at(ToolSimulation.this.time.now(), this.process, () -> {
				CompletableFuture<Void> left = this.coordinator.leave(TIMEOUT.dividedBy(2));
				in(TIMEOUT.toMillis(), () -> {
					if (!this.process.isCrashed()) {
						die();
					}
				});
				left.thenRun(() -> in(0, this::die));
			});
		}

	}

}
