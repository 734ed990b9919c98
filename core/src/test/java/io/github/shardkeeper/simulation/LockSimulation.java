package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.cluster.lock.LockUser;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.cluster.memory.MemoryLockStore;
import io.github.shardkeeper.cluster.memory.MemoryLocks;
import io.github.shardkeeper.cluster.memory.MemoryViewStore;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.AssignmentSettings;
import io.github.shardkeeper.coordination.CoordinationSettings;
import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.HeartbeatScheduler;
import io.github.shardkeeper.coordination.MemberRuntime;
import io.github.shardkeeper.coordination.NoShards;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.simulation.SimulatedNetwork.Way;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A simulation of locks with faults. Instances with real coordinators, sessions and lock
 * clients on stores in memory ask for two locks again and again. At every acquisition no
 * other holder may believe that it holds the same lock, and the token is higher than all
 * before; after the last fault everybody who waits gets its turn within a time limit. The
 * seed decides everything.
 */
final class LockSimulation {

	static final Duration LEASE = Duration.ofSeconds(3);

	static final Duration TIMEOUT = Duration.ofSeconds(6);

	/** From the last fault until everybody has had each turn. */
	private static final Duration BOUND = Duration.ofSeconds(90);

	private static final Duration FAULTS = Duration.ofSeconds(15);

	private static final List<String> LOCKS = List.of("red", "blue");

	private static final int USERS = 2;

	private final SplittableRandom random;

	private final VirtualTime time;

	private final SimulatedNetwork network;

	private final MemoryCoordinationStore store;

	private final MemoryCluster cluster;

	private final ViewStore views;

	private final LockStore locks;

	private final boolean calm;

	private final Duration longestDelay;

	private final List<Instance> instances = new ArrayList<>();

	private final Map<String, List<Turn>> turns = new HashMap<>();

	private final Map<String, Token> lastTokens = new HashMap<>();

	private final Map<String, Integer> faults = new TreeMap<>();

	private long storeClockOffsetMillis;

	private long lastFaultAt;

	/** Acquisitions since then were lost by a failover. */
	private long lostFrom = Long.MAX_VALUE;

	private long lostUntil;

	private long clockSetAt = Long.MIN_VALUE;

	private int acquisitions;

	private int excused;

	private boolean ending;

	LockSimulation(long seed, VirtualTime time) {
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
		this.locks = new MemoryLockStore(this.cluster);
		LOCKS.forEach((lock) -> this.turns.put(lock, new ArrayList<>()));
	}

	/**
	 * What came of a schedule.
	 *
	 * @param excused acquisitions beside a holder whose own was lost by a failover, or
	 * shortened by a step of the store's clock
	 */
	record Outcome(@Nullable Throwable failure, int acquisitions, int excused, Map<String, Integer> faults) {

	}

	Outcome run() {
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
		Throwable failure = this.time.run();
		return new Outcome(failure, this.acquisitions, this.excused, this.faults);
	}

	private void in(long millis, Runnable event) {
		this.time.at(this.time.now() + Duration.ofMillis(millis).toNanos(), null, event);
	}

	private void look() {
		List<User> waiting = members().stream()
			.flatMap((instance) -> instance.users.stream())
			.filter((user) -> user.turnsAfterTheEnd < 2)
			.toList();
		if (waiting.isEmpty()) {
			this.time.end();
		}
		else if (this.time.now() - this.lastFaultAt > BOUND.toNanos()) {
			this.time.fail(new AssertionError("No turn since the last fault: %s; %s".formatted(waiting,
					LOCKS.stream()
						.map((lock) -> lock + " "
								+ this.store.transition((group) -> MemoryLocks.describe(group, lock) + ", now "
										+ group.nowMillis() + ", claims " + group.isInClaimPeriod()))
						.toList())));
		}
		else {
			in(250, this::look);
		}
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

	/** An acquisition. */
	private static final class Turn {

		private final User user;

		private final LockUser.Held held;

		private final long since;

		/** Whether it is held for a limited time. */
		private final boolean limited;

		Turn(User user, LockUser.Held held, long since, boolean limited) {
			this.limited = limited;
			this.user = user;
			this.held = held;
			this.since = since;
		}

	}

	private void begun(String lock, Turn turn) {
		this.acquisitions++;
		for (Turn other : this.turns.get(lock)) {
			if (!other.user.instance.process.isCrashed() && other.held.isHeld()) {
				// The most time to hold a lock is measured by the store's clock.
				boolean shortened = other.limited && this.clockSetAt >= other.since;
				if (shortened || other.since >= this.lostFrom && other.since <= this.lostUntil) {
					this.excused++;
				}
				else {
					this.time.fail(new AssertionError("%s holds the lock '%s' under %s since %d, and %s got it under %s"
						.formatted(other.user, lock, other.held.token(), other.since, turn.user, turn.held.token())));
				}
			}
		}
		Token last = this.lastTokens.getOrDefault(lock, Token.NONE);
		if (turn.held.token().compareTo(last) <= 0) {
			this.time.fail(new AssertionError(
					"%s got the lock '%s' under %s after %s".formatted(turn.user, lock, turn.held.token(), last)));
		}
		this.lastTokens.put(lock, turn.held.token());
		this.turns.get(lock).add(turn);
	}

	/** One process. */
	private final class Instance {

		private final SimulatedProcess process;

		private final SimulatedNetwork.Link link;

		private final ShardCoordinator coordinator;

		private final List<User> users = new ArrayList<>();

		private final LockUser locks;

		private final ClusterSession session;

		private boolean gone;

		Instance(String name) {
			this.process = new SimulatedProcess(name, LockSimulation.this.time, LockSimulation.this.random,
					LockSimulation.this.longestDelay);
			this.link = LockSimulation.this.network.link(this.process);
			MemberRuntime runtime = this.process.runtime();
			CoordinationSettings settings = new CoordinationSettings("group", name, Duration.ofMillis(500), LEASE,
					TIMEOUT, Duration.ofMillis(100), ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1, null);
			Duration timeout = LEASE.dividedBy(3);
			CoordinationStore coordination = this.link.reach(LockSimulation.this.store, timeout);
			Lease lease = new Lease(LEASE, runtime.clock().now());
			this.coordinator = new ShardCoordinator(settings, coordination,
					new HeartbeatScheduler(coordination, lease, settings.heartbeatInterval(), runtime), lease,
					AssignmentSettings.builtIn("sticky", new StickyAssignment()), runtime);
			this.session = new ClusterSession(this.coordinator, this.link.reach(LockSimulation.this.cluster, timeout),
					this.link.reach(ViewStore.class, LockSimulation.this.views, timeout), runtime,
					this.process.executor());
			this.locks = new LockUser(this.session,
					this.link.reach(LockStore.class, LockSimulation.this.locks, timeout));
			for (int i = 0; i < USERS; i++) {
				this.users.add(new User(this, name + "." + i));
			}
		}

		void start() {
			this.session.start(() -> {
				if (!this.coordinator.isRunning()) {
					this.coordinator.start(Map.of(), new NoShards());
				}
			});
			this.users.forEach(User::ask);
		}

		void die() {
			this.gone = true;
			this.process.crash();
			this.link.processDied();
		}

		void leave() {
			this.gone = true;
			LockSimulation.this.time.at(LockSimulation.this.time.now(), this.process, () -> {
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

	/** Asks for a lock, works under it, releases it, and so on. */
	private final class User {

		private final Instance instance;

		private final String name;

		private int turnsAfterTheEnd;

		private LockUser.@Nullable Attempt attempt;

		private String lock = "";

		private Duration atMost = Duration.ZERO;

		private boolean busy;

		User(Instance instance, String name) {
			this.instance = instance;
			this.name = name;
		}

		private void later(long millis, Runnable action) {
			LockSimulation.this.time.at(LockSimulation.this.time.now() + Duration.ofMillis(millis).toNanos(),
					this.instance.process, action);
		}

		void ask() {
			this.lock = LOCKS.get(LockSimulation.this.random.nextInt(LOCKS.size()));
			this.atMost = (LockSimulation.this.random.nextInt(5) == 0) ? Duration.ofMillis(500) : Duration.ZERO;
			this.attempt = this.instance.locks.begin(this.lock, this.atMost, () -> later(0, this::step));
			step();
		}

		private void step() {
			LockUser.Attempt current = this.attempt;
			if (current == null || this.busy) {
				return;
			}
			this.busy = true;
			LockUser.Held held = null;
			try {
				held = current.attempt();
			}
			catch (StoreUnavailableException ex) {
				// Asked again at its time.
			}
			finally {
				this.busy = false;
			}
			if (held != null) {
				this.attempt = null;
				work(held);
			}
			else if (!LockSimulation.this.ending && LockSimulation.this.random.nextInt(40) == 0) {
				this.attempt = null;
				current.giveUp();
				later(LockSimulation.this.random.nextInt(300), this::ask);
			}
			else if (current.isWoken()) {
				later(0, this::step);
			}
			else if (current.attemptAt() != null) {
				MonotonicTime now = this.instance.process.clock().now();
				later(Math.max(0, now.until(current.attemptAt()).toMillis()) + 1, this::step);
			}
		}

		private void work(LockUser.Held held) {
			String name = this.lock;
			Turn turn = new Turn(this, held, LockSimulation.this.time.now(), !this.atMost.isZero());
			begun(name, turn);
			int millis = (LockSimulation.this.random.nextInt(10) == 0) ? LockSimulation.this.random.nextInt(4000)
					: LockSimulation.this.random.nextInt(300);
			later(millis, () -> {
				LockSimulation.this.turns.get(name).remove(turn);
				held.release();
				if (LockSimulation.this.ending) {
					this.turnsAfterTheEnd++;
				}
				later(LockSimulation.this.random.nextInt(200), this::ask);
			});
		}

		@Override
		public String toString() {
			return this.name + ((this.attempt != null) ? " waits for " : " holds ") + this.lock;
		}

	}

}
