package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.consumer.SimulatedConsumers;
import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CoordinationSettings;
import io.github.shardkeeper.coordination.memory.MemoryCheckpointStore;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.handover.HandoverRules;
import io.github.shardkeeper.handover.HandoverRules.OnTimeout;
import io.github.shardkeeper.handover.Ownership;
import io.github.shardkeeper.handover.ShardPhase;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * One course of a group with faults, all of it decided by a seed: several instances with
 * their real coordinators and workers, real stores in memory, a network, clocks and
 * handlers that are not to be trusted. At the end, when nothing fails any more,
 * everything has to come to rest within a bound.
 */
final class Simulation {

	static final Duration LEASE = Duration.ofSeconds(3);

	static final Duration TIMEOUT = Duration.ofSeconds(6);

	/** From the last fault until every record is handled and the load is even. */
	static final Duration BOUND = Duration.ofSeconds(40);

	private static final Logger logger = LoggerFactory.getLogger(Simulation.class);

	private static final Duration LOOK_PERIOD = Duration.ofMillis(250);

	/** When a group that nothing has befallen stands. */
	private static final Duration SETTLED = Duration.ofMillis(4500);

	private static final Duration FEEDING = Duration.ofSeconds(9);

	private final SplittableRandom random;

	private final VirtualTime time;

	private final Checker checker;

	private final Tampering tampering;

	private final SimulatedConsumers consumers;

	private final SimulatedNetwork network;

	private final SimulatedTopic topic;

	private final MemoryCoordinationStore coordinationStore;

	private final MemoryCheckpointStore memoryCheckpoints = new MemoryCheckpointStore();

	private final CheckpointStore checkpointStore;

	private final List<SimulatedInstance> instances = new ArrayList<>();

	private final Map<String, SimulatedInstance> byName = new HashMap<>();

	private final Map<String, Integer> faults = new TreeMap<>();

	private final HandoverRules rules;

	private final Duration longestDelay;

	/** Whether the network is as good as it gets. */
	private final boolean calm;

	/**
	 * Whether shards always have a record under way, so that every moment is a bad one.
	 */
	private final boolean busy;

	/** Whether only such things happen as must not move a shard. */
	private final boolean harmless;

	/** Who had what before the first fault of a harmless course, or at rest. */
	private Map<ShardId, Token> settledTokens = Map.of();

	private int timesEmptied;

	private long storeClockOffsetMillis;

	private long lastFaultAt;

	private long settledAt;

	Simulation(long seed, Tampering tampering, Host host, boolean traced) {
		this.random = new SplittableRandom(seed);
		this.time = new VirtualTime(host.runners, traced);
		this.tampering = tampering;
		this.consumers = host.consumers;
		host.simulation = this;
		this.checker = new Checker(this.time);
		this.calm = this.random.nextInt(3) == 0;
		this.busy = this.random.nextBoolean();
		this.harmless = this.calm && this.random.nextBoolean();
		this.longestDelay = Duration.ofMillis(this.calm ? 0 : this.random.nextInt(1, 40));
		this.network = new SimulatedNetwork(this.time, this.random,
				Duration.ofMillis(this.calm ? 2 : this.random.nextInt(1, 150)),
				this.calm ? 0 : this.random.nextInt(20, 200));
		this.rules = rules();
		this.topic = new SimulatedTopic(1 + this.random.nextInt(5), this.time, this.random);
		this.coordinationStore = new MemoryCoordinationStore(
				() -> Instant.ofEpochMilli(1_700_000_000_000L + this.storeClockOffsetMillis)
					.plusNanos(this.time.now()));
		this.checkpointStore = new CheckedCheckpoints(this.memoryCheckpoints, this.checker).checked();
	}

	/** Mostly what is the default; every rule with which no shard has two owners. */
	private HandoverRules rules() {
		boolean ordinary = this.random.nextBoolean();
		return new HandoverRules(Duration.ofMillis(ordinary ? 50_000 : this.random.nextInt(200, 3000)), OnTimeout.HOLD,
				Duration.ofMillis(ordinary ? 0 : this.random.nextInt(1000)),
				Duration.ofMillis(ordinary ? 0 : this.random.nextInt(1000)), ordinary ? 0 : this.random.nextInt(3));
	}

	/** Runs the course. */
	Outcome run() {
		int count = 2 + this.random.nextInt(3);
		for (int i = 0; i < count; i++) {
			in((this.random.nextInt(4) == 0 && !this.harmless) ? this.random.nextInt(3000) : 0, this::startInstance);
		}
		int records = this.busy ? 20 : 3 + this.random.nextInt(12);
		for (ShardId shard : this.topic.ends().keySet()) {
			for (int i = 0; i < records; i++) {
				in(this.random.nextLong(FEEDING.toMillis()), () -> this.topic.append(shard));
			}
		}
		int faultCount = this.random.nextInt(6);
		Faults next = new Faults(this, this.random);
		for (int i = 0; i < faultCount; i++) {
			if (this.harmless) {
				in(SETTLED.toMillis() + this.random.nextInt(5000), next::harmless);
			}
			else {
				in(1000 + this.random.nextInt(8000), next::next);
			}
		}
		if (this.harmless) {
			in(SETTLED.toMillis() - 1, () -> this.settledTokens = tokens());
		}
		in(FEEDING.toMillis(), () -> {
			this.network.calmDown();
			this.lastFaultAt = Math.max(this.lastFaultAt, this.time.now());
			look();
		});
		Throwable failure = this.time.run();
		return new Outcome(failure, this.time.now(), this.time.events(), this.checker.calls(), this.checker.moves(),
				this.checker.excused(), Duration.ofNanos(this.settledAt - this.lastFaultAt), this.faults);
	}

	void in(long millis, Runnable event) {
		this.time.at(this.time.now() + Duration.ofMillis(millis).toNanos(), null, event);
	}

	/** A fault of a kind that lasts for a time. */
	void fault(String kind, Duration lasts) {
		logger.debug("Fault: {} for {} ms", kind, lasts.toMillis());
		this.faults.merge(kind, 1, Integer::sum);
		this.lastFaultAt = Math.max(this.lastFaultAt, this.time.now() + lasts.toNanos());
	}

	void startInstance() {
		String name = "i" + this.instances.size();
		SimulatedProcess process = new SimulatedProcess(name, this.time, this.random, this.longestDelay);
		CoordinationSettings settings = new CoordinationSettings("group", name, Duration.ofMillis(500), LEASE, TIMEOUT,
				Duration.ofMillis(100), ApplicationVersion.UNKNOWN, this.rules);
		SimulatedInstance instance = new SimulatedInstance(process, this.network, settings, this.coordinationStore,
				this.checkpointStore, this.topic, this.consumers, this.tampering);
		this.instances.add(instance);
		this.byName.put(name, instance);
		this.time.at(this.time.now(), process, instance::start);
	}

	void leave(SimulatedInstance instance) {
		this.time.at(this.time.now(), instance.process, () -> {
			CompletableFuture<Void> left = instance.leave(Duration.ofSeconds(2));
			in(4000, () -> {
				if (instance.isAlive()) {
					instance.die();
				}
			});
			left.thenRun(() -> this.time.at(this.time.now(), null, instance::die));
		});
	}

	List<SimulatedInstance> members() {
		return this.instances.stream().filter(SimulatedInstance::isMember).toList();
	}

	SimulatedNetwork network() {
		return this.network;
	}

	/** Which instance leads, as far as the store knows. */
	SimulatedInstance leader() {
		var leader = this.coordinationStore.changes(0, -1).leader();
		return (leader != null) ? this.byName.get(leader.instance()) : null;
	}

	/** The store loses everything, and goes on. */
	void storeEmptied() {
		this.timesEmptied++;
		MemoryFailover.empty(this.coordinationStore);
		MemoryFailover.empty(this.memoryCheckpoints);
		this.checker.forget();
		in(LEASE.toMillis(), this::appendEverywhere);
	}

	/** Who commits next notices what is lost. */
	private void appendEverywhere() {
		this.topic.ends().keySet().forEach(this.topic::append);
	}

	/** A replica takes over that does not have what is written from now on for a time. */
	void failOver(Duration lost, Duration away) {
		Object coordination = MemoryFailover.snapshot(this.coordinationStore);
		Object data = MemoryFailover.snapshot(this.memoryCheckpoints);
		int before = this.timesEmptied;
		in(lost.toMillis(), () -> {
			if (before == this.timesEmptied) {
				MemoryFailover.loseWritesSince(this.coordinationStore, coordination);
				MemoryFailover.loseWritesSince(this.memoryCheckpoints, data);
				this.checker.forget();
			}
			this.network.restartStore(away);
			in(away.plus(LEASE).toMillis(), this::appendEverywhere);
		});
	}

	void storeClockJumps(Duration jump) {
		this.storeClockOffsetMillis += jump.toMillis();
	}

	/** Called by the handler's bean, on the thread of a worker. */
	void handle(ShardRecord<String> record, ShardContext context, ShardState state) throws InterruptedException {
		SimulatedInstance instance = this.byName.get(context.member().instance());
		long number = SimulatedTopic.number(record.offset());
		Checker.Call call = this.checker.begin(instance, context, number, state.get("count", Long.class).orElse(0L),
				state.get("sum", Long.class).orElse(0L));
		try {
			state.increment("count", 1);
			work(instance, call);
			state.increment("sum", number);
		}
		finally {
			this.checker.end(call);
		}
	}

	private void work(SimulatedInstance instance, Checker.Call call) throws InterruptedException {
		if (this.busy) {
			instance.process.blockInterruptibly(Duration.ofMillis(this.random.nextInt(100, 1000)));
		}
		switch (this.random.nextInt(40)) {
			case 0, 1, 2, 3 -> instance.process.blockInterruptibly(Duration.ofMillis(this.random.nextInt(1, 300)));
			case 4 -> instance.process.blockInterruptibly(Duration.ofMillis(this.random.nextInt(300, 5000)));
			case 5 -> {
				if (this.random.nextInt(3) == 0) {
					call.stubborn();
					instance.process.block(Duration.ofMillis(this.random.nextInt(300, 5000)));
				}
			}
			case 6 -> {
				if (this.random.nextBoolean()) {
					throw new IllegalStateException("The simulated handler fails");
				}
			}
			default -> {
				// Most work takes no time worth telling.
			}
		}
	}

	/** Whether all has come to rest; if not in time, that is a failure. */
	private void look() {
		if (this.time.now() >= this.lastFaultAt) {
			if (members().isEmpty()) {
				startInstance();
			}
			String unrest = unrest();
			if (unrest == null) {
				this.settledAt = this.time.now();
				atRest();
				return;
			}
			long since = Math.max(this.lastFaultAt, FEEDING.toNanos());
			if (this.time.now() - since > BOUND.toNanos()) {
				throw new AssertionError("No rest " + BOUND.toSeconds() + " s after the last fault: " + unrest + "; "
						+ this.coordinationStore.changes(0, -1));
			}
		}
		in(LOOK_PERIOD.toMillis(), this::look);
	}

	/** From here on, and in a harmless course all the time, no shard moves any more. */
	private void atRest() {
		Map<ShardId, Token> tokens = tokens();
		if (this.harmless) {
			requireUnmoved(this.settledTokens, tokens);
		}
		in(this.random.nextInt(4) == 0 ? 2000 : 0, () -> {
			requireUnmoved(tokens, tokens());
			this.time.end();
		});
	}

	private void requireUnmoved(Map<ShardId, Token> before, Map<ShardId, Token> now) {
		if (!before.equals(now)) {
			throw new AssertionError("Shards moved without need: from " + before + " to " + now);
		}
	}

	private Map<ShardId, Token> tokens() {
		Map<ShardId, Token> tokens = new TreeMap<>();
		this.coordinationStore.changes(0, -1)
			.ownerships()
			.forEach((ownership) -> tokens.put(ownership.shard(), ownership.token()));
		return tokens;
	}

	private String unrest() {
		for (Map.Entry<ShardId, Long> end : this.topic.ends().entrySet()) {
			long committed = SimulatedTopic.number(this.memoryCheckpoints.read(end.getKey()).offset());
			if (committed != end.getValue()) {
				return end.getKey() + " is committed up to " + committed + " of " + end.getValue();
			}
		}
		for (SimulatedInstance member : members()) {
			if (!member.heardLately()) {
				return member + " has not been heard lately";
			}
		}
		int known = this.coordinationStore.changes(0, -1).members().size();
		if (known != members().size()) {
			return "The store knows " + known + " members, of " + members().size();
		}
		Map<String, Integer> loads = new TreeMap<>();
		members().forEach((instance) -> loads.put(instance.toString(), 0));
		for (Ownership ownership : this.coordinationStore.changes(0, -1).ownerships()) {
			if (ownership.phase() != ShardPhase.OWNED) {
				return ownership + " is on its way";
			}
			loads.merge(ownership.owner().instance(), 1, Integer::sum);
		}
		int most = loads.values().stream().mapToInt(Integer::intValue).max().orElse(0);
		int least = loads.values().stream().mapToInt(Integer::intValue).min().orElse(0);
		return (most - least > 1 || loads.size() > members().size()) ? "The load is uneven: " + loads : null;
	}

	/**
	 * How a course ended.
	 *
	 * @param failure what went wrong, or {@code null}
	 * @param nanos how long it took, in its own time
	 * @param events how many things happened
	 * @param calls how often a handler was called
	 * @param moves how often a shard was consumed under a new token
	 * @param excused overlaps that are not promised away
	 * @param rest from the last fault until all had come to rest
	 * @param faults what befell the group, by kind
	 */
	record Outcome(Throwable failure, long nanos, long events, int calls, int moves, int excused, Duration rest,
			Map<String, Integer> faults) {

	}

	/** What courses that run one after the other share: threads, and the handler. */
	static final class Host implements AutoCloseable {

		private final VirtualTime.Runners runners = new VirtualTime.Runners();

		private final SimulatedConsumers consumers = new SimulatedConsumers(this, Map.of(SimulatedTopic.NAME, 1));

		private Simulation simulation;

		@ShardConsumer(SimulatedTopic.NAME)
		void handle(ShardRecord<String> record, ShardContext context, ShardState state) throws InterruptedException {
			this.simulation.handle(record, context, state);
		}

		Outcome run(long seed, Tampering tampering, boolean traced) {
			return new Simulation(seed, tampering, this, traced).run();
		}

		@Override
		public void close() {
			this.runners.close();
		}

	}

}
