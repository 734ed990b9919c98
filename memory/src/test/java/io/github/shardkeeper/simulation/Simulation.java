package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HandoverRules.OnTimeout;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.worker.shard.ConsumerSettings.StateRead;

/**
 * A simulation of a group with faults. The seed decides everything: when instances start,
 * which faults occur, how bad the network and the handlers are. After the last fault the
 * group has to come to rest within a time limit.
 */
final class Simulation {

	/** From the last fault until every record is handled and the load is even. */
	static final Duration BOUND = Duration.ofSeconds(90);

	private static final Logger logger = LoggerFactory.getLogger(Simulation.class);

	private static final Duration LOOK_PERIOD = Duration.ofMillis(250);

	/**
	 * A move that was cancelled too late is on its way to an end of which the store knows
	 * nothing.
	 */
	private static final int LOOKS_AT_REST = 4;

	/** Time at which a group without faults is complete. */
	private static final Duration SETTLED = Duration.ofMillis(4500);

	private static final long STATE_ON_USE = 0x5747_4154_4555_5345L;

	private static final Duration FEEDING = Duration.ofSeconds(9);

	private final SplittableRandom random;

	/** Of its own, so that other schedules stay what they were. */
	private final SplittableRandom restarts;

	/** How long shards are kept for an instance that restarts, 0 for not at all. */
	private final Duration awayTimeout;

	private final VirtualTime time;

	private final SimulatedGroup group;

	private final Acts acts;

	private final Map<String, Integer> faults = new TreeMap<>();

	/** Whether the network is as good as it gets. */
	private final boolean calm;

	/**
	 * Whether shards always have a record under way, so that every moment is a bad one.
	 */
	private final boolean busy;

	/** Half of them ordinary. */
	private final SimulatedSettings settings;

	/** Whether only such things happen as must not move a shard. */
	private final boolean harmless;

	/** Owners before the first fault of a harmless run, or at rest. */
	private Map<ShardId, Token> settledTokens = Map.of();

	private Map<ShardId, Token> seenTokens = Map.of();

	private int looksAtRest;

	private long lastFaultAt;

	private long settledAt;

	Simulation(long seed, Tampering tampering, SimulatedGroup.Host host, boolean traced) {
		this.random = new SplittableRandom(seed);
		this.time = host.time(traced);
		this.calm = this.random.nextInt(3) == 0;
		this.busy = this.random.nextBoolean();
		this.harmless = this.calm && this.random.nextBoolean();
		this.restarts = new SplittableRandom(~seed);
		this.awayTimeout = Duration
			.ofMillis((!this.harmless && this.restarts.nextInt(3) == 0) ? this.restarts.nextInt(300, 8000) : 0);
		SimulatedSettings anySettings = this.random.nextBoolean() ? SimulatedSettings.ORDINARY
				: SimulatedSettings.any(this.random);
		// Drawn apart, so that other schedules stay what they were.
		this.settings = (new SplittableRandom(seed ^ STATE_ON_USE).nextInt(3) == 0)
				? anySettings.withState(StateRead.ON_USE) : anySettings;
		this.group = new SimulatedGroup(conditions(), this.random, this.time, tampering, host, this::work);
		this.acts = new Acts(this, this.group, this.random);
	}

	private SimulatedGroup.Conditions conditions() {
		Duration longestDelay = Duration.ofMillis(this.calm ? 0 : this.random.nextInt(1, 40));
		Duration longestLatency = Duration.ofMillis(this.calm ? 2 : this.random.nextInt(1, 150));
		int lossPeriod = this.calm ? 0 : this.random.nextInt(20, 200);
		HandoverRules rules = rules();
		return new SimulatedGroup.Conditions(1 + this.random.nextInt(5), rules, this.settings, longestDelay,
				longestLatency, lossPeriod, this.awayTimeout);
	}

	/** Mostly what is the default; every rule with which no shard has two owners. */
	private HandoverRules rules() {
		boolean ordinary = this.random.nextBoolean();
		return new HandoverRules(Duration.ofMillis(ordinary ? 50_000 : this.random.nextInt(200, 3000)), OnTimeout.HOLD,
				Duration.ofMillis(ordinary ? 0 : this.random.nextInt(1000)),
				Duration.ofMillis(ordinary ? 0 : this.random.nextInt(1000)), ordinary ? 0 : this.random.nextInt(3));
	}

	/** Runs the schedule. */
	Outcome run() {
		int count = 2 + this.random.nextInt(3);
		for (int i = 0; i < count; i++) {
			this.group.in((this.random.nextInt(4) == 0 && !this.harmless) ? this.random.nextInt(3000) : 0,
					this.group::startInstance);
		}
		int records = this.busy ? 20 : 3 + this.random.nextInt(12);
		for (ShardId shard : this.group.topic().ends().keySet()) {
			for (int i = 0; i < records; i++) {
				this.group.in(this.random.nextLong(FEEDING.toMillis()), () -> this.group.topic().append(shard));
			}
		}
		int faultCount = this.random.nextInt(6);
		Faults next = new Faults(this, this.group, this.random, this.settings.putsAside());
		for (int i = 0; i < faultCount; i++) {
			if (this.harmless) {
				this.group.in(SETTLED.toMillis() + this.random.nextInt(5000), next::harmless);
			}
			else {
				this.group.in(1000 + this.random.nextInt(8000), next::next);
			}
		}
		if (!this.settings.putsAside() && this.random.nextInt(3) == 0) {
			// Records in the retry queue stay there, and would be handled twice.
			int resets = 1 + this.random.nextInt(4);
			for (int i = 0; i < resets; i++) {
				this.group.in(500 + this.random.nextInt(9000), next::reset);
			}
		}
		if (this.settings.putsAside() && !this.settings.keepsOrder()) {
			for (ShardId shard : this.group.topic().ends().keySet()) {
				this.group.in(this.random.nextLong(FEEDING.toMillis()), () -> this.group.sendBack(shard));
			}
		}
		if (!this.harmless && this.random.nextInt(3) == 0) {
			Resharding resharding = new Resharding(this.group, this.random);
			for (int i = 1 + this.random.nextInt(4); i > 0; i--) {
				long at = this.random.nextLong(FEEDING.toMillis() - 1);
				this.group.in(at, () -> fault(resharding.next(FEEDING.toMillis() - at), Duration.ZERO));
			}
		}
		if (!this.harmless && this.random.nextInt(3) == 0) {
			for (int i = 1 + this.random.nextInt(6); i > 0; i--) {
				this.group.in(500 + this.random.nextInt(8400), this.acts::next);
			}
		}
		if (!this.awayTimeout.isZero()) {
			Restarts inPlace = new Restarts(this, this.group, this.restarts, this.awayTimeout);
			for (int i = 1 + this.restarts.nextInt(5); i > 0; i--) {
				this.group.in(500 + this.restarts.nextInt(8400), inPlace::next);
			}
		}
		if (this.harmless) {
			this.group.in(SETTLED.toMillis() - 1, () -> this.settledTokens = this.group.tokens());
		}
		this.group.in(FEEDING.toMillis(), () -> {
			this.group.network().calmDown();
			this.acts.last();
			this.lastFaultAt = Math.max(this.lastFaultAt, this.time.now());
			look();
		});
		Throwable failure = this.time.run();
		// One random number more or less means another schedule.
		this.time.digest().seen(this.time.now(), "end", this.random.nextLong(), failure == null);
		return new Outcome(failure, this.time.now(), this.time.events(), this.group.checker().calls(),
				this.group.checker().timers(), this.group.checker().moves(), this.group.checker().excused(),
				Duration.ofNanos(this.settledAt - this.lastFaultAt), this.faults, this.time.digest().behaviour(),
				this.time.digest().steps());
	}

	/** A fault of a kind that lasts for a time. */
	void fault(String kind, Duration lasts) {
		logger.debug("Fault: {} for {} ms", kind, lasts.toMillis());
		this.time.digest().seen(this.time.now(), "fault", lasts.toNanos());
		this.faults.merge(kind, 1, Integer::sum);
		this.lastFaultAt = Math.max(this.lastFaultAt, this.time.now() + lasts.toNanos());
	}

	private void work(SimulatedInstance instance, Checker.Call call) throws InterruptedException {
		if (this.busy) {
			instance.process.blockInterruptibly(
					Duration.ofMillis(this.random.nextInt(100, (this.random.nextInt(4) == 0) ? 2500 : 1000)));
		}
		// A timer that is put aside would not be in force, and not have fired.
		boolean fails = !(this.settings.putsAside() && call.isForTimer());
		if (fails && this.settings.putsAside() && (call.number() % 7 == 3 || this.random.nextInt(5) == 0)) {
			throw new IllegalStateException("The simulated handler fails, for this record perhaps always");
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
				if (this.random.nextBoolean() && fails) {
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
		this.lastFaultAt = Math.max(this.lastFaultAt, this.group.network().lateUntil());
		if (this.time.now() >= this.lastFaultAt) {
			if (this.group.members().isEmpty()) {
				this.group.startInstance();
			}
			this.group.endSecondProcesses();
			String unrest = unrest();
			Map<ShardId, Token> tokens = this.group.tokens();
			this.looksAtRest = (unrest == null && tokens.equals(this.seenTokens)) ? this.looksAtRest + 1 : 0;
			this.seenTokens = tokens;
			if (this.looksAtRest == LOOKS_AT_REST) {
				this.settledAt = this.time.now();
				atRest();
				return;
			}
			long since = Math.max(this.lastFaultAt, FEEDING.toNanos());
			if (this.time.now() - since > BOUND.toNanos()) {
				throw new AssertionError("No rest " + BOUND.toSeconds() + " s after the last fault: "
						+ ((unrest != null) ? unrest : "shards move") + "; " + this.group.stored());
			}
		}
		this.group.in(LOOK_PERIOD.toMillis(), this::look);
	}

	/** From here on, and in a harmless schedule all the time, no shard moves any more. */
	private void atRest() {
		Map<ShardId, Token> tokens = this.group.tokens();
		if (this.harmless) {
			requireUnmoved(this.settledTokens, tokens);
		}
		long since = this.time.now();
		List<ShardId> paused = this.acts.feedPaused();
		this.group.in((this.random.nextInt(4) == 0 || !paused.isEmpty()) ? 2000 : 0, () -> {
			this.acts.requireUntouched(paused, since);
			requireUnmoved(tokens, this.group.tokens());
			this.time.end();
		});
	}

	private void requireUnmoved(Map<ShardId, Token> before, Map<ShardId, Token> now) {
		if (!before.equals(now)) {
			throw new AssertionError("Shards moved without need: from " + before + " to " + now);
		}
	}

	private String unrest() {
		String unfollowed = this.acts.unrest();
		if (unfollowed != null) {
			return unfollowed;
		}
		for (Map.Entry<ShardId, Long> end : this.group.topic().ends().entrySet()) {
			long committed = this.group.committed(end.getKey());
			if (this.group.endsLost().contains(end.getKey()) || this.acts.isPaused(end.getKey())) {
				continue;
			}
			if (this.group.isToBeReset(end.getKey())) {
				return end.getKey() + " was not reset";
			}
			if (committed != end.getValue()) {
				return end.getKey() + " is committed up to " + committed + " of " + end.getValue();
			}
			String overdue = this.group.overdueExpiry(end.getKey());
			if (overdue != null && !this.group.topic().isClosed(end.getKey())) {
				return "The state of " + end.getKey() + " still has " + overdue;
			}
			List<Object> timers = this.group.timersLeft(end.getKey());
			if (!timers.isEmpty()) {
				return end.getKey() + " still has the timers " + timers;
			}
			int queued = this.group.queued(end.getKey());
			if (queued > 0) {
				return queued + " records of " + end.getKey() + " are to be tried again";
			}
		}
		for (SimulatedInstance member : this.group.members()) {
			if (!member.heardLately()) {
				return member + " has not been heard lately";
			}
		}
		int known = this.group.stored().members().size();
		if (known != this.group.members().size()) {
			return "The store knows " + known + " members, of " + this.group.members().size();
		}
		Map<String, Integer> loads = new TreeMap<>();
		this.group.members().forEach((instance) -> loads.put(instance.toString(), 0));
		Set<ShardId> unknown = new TreeSet<>(this.group.topic().ends().keySet());
		for (Ownership ownership : this.group.stored().ownerships()) {
			boolean closed = this.group.topic().isClosed(ownership.shard());
			if (ownership.phase() != (closed ? Phase.COMPLETED : Phase.OWNED)) {
				return ownership + " is on its way";
			}
			unknown.remove(ownership.shard());
			if (!closed) {
				loads.merge(ownership.owner().instance(), 1, Integer::sum);
			}
		}
		if (!unknown.isEmpty()) {
			return "The store does not know " + unknown;
		}
		int most = loads.values().stream().mapToInt(Integer::intValue).max().orElse(0);
		int least = loads.values().stream().mapToInt(Integer::intValue).min().orElse(0);
		return (most - least > 1 && !this.acts.decideOwners() || loads.size() > this.group.members().size())
				? "The load is uneven: " + loads : null;
	}

	/**
	 * Result of a run.
	 *
	 * @param failure what went wrong, or {@code null}
	 * @param nanos how long it took, in its own time
	 * @param events how many things happened
	 * @param calls how often a handler was called
	 * @param timers how many of these calls were for timers
	 * @param moves how often a shard was consumed under a new token
	 * @param excused overlaps that are not promised away
	 * @param rest from the last fault until all had come to rest
	 * @param faults what befell the group, by kind
	 * @param behaviour the digest of what can be seen from outside
	 * @param steps the digest of every step
	 */
	record Outcome(Throwable failure, long nanos, long events, int calls, int timers, int moves, int excused,
			Duration rest, Map<String, Integer> faults, long behaviour, long steps) {

		/** A line that can be compared with that of another version. */
		String digests(long seed) {
			return "%d behaviour=%016x steps=%016x ms=%d events=%d calls=%d moves=%d %s".formatted(seed, this.behaviour,
					this.steps, this.nanos / 1_000_000, this.events, this.calls, this.moves,
					(this.failure == null) ? "passed" : "failed");
		}

	}

}
