package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.SilentLogs;

/**
 * A simulated group that a test controls step by step, on a network without faults: time
 * passes only when the test says so. The checker sees every call and every write.
 */
final class Story implements AutoCloseable {

	private static final Duration FEED_PERIOD = Duration.ofMillis(100);

	private final SimulatedGroup.Host host = new SimulatedGroup.Host();

	private final SilentLogs logs = SilentLogs.begin();

	private final VirtualTime time = this.host.time(false);

	private final SimulatedGroup group;

	private final Map<SimulatedInstance, Duration> callsTake = new HashMap<>();

	private final Map<ShardId, Duration> callsOf = new HashMap<>();

	private boolean over;

	Story(int shards) {
		this(shards, 1);
	}

	/** The seed decides when exactly heartbeats are due, and how long messages take. */
	Story(int shards, long seed) {
		this(shards, seed, Duration.ZERO);
	}

	/** Shards are kept that long for an instance that has left. */
	Story(int shards, long seed, Duration awayTimeout) {
		this.group = new SimulatedGroup(
				new SimulatedGroup.Conditions(shards, HandoverRules.DEFAULT, SimulatedSettings.ORDINARY, Duration.ZERO,
						Duration.ofMillis(2), 0, awayTimeout),
				new SplittableRandom(seed), this.time, Tampering.NONE, this.host, this::work);
	}

	private void work(SimulatedInstance instance, Checker.Call call) throws InterruptedException {
		Duration takes = this.callsOf.getOrDefault(call.shard(), this.callsTake.get(instance));
		if (takes != null) {
			instance.process.blockInterruptibly(takes);
		}
	}

	SimulatedGroup group() {
		return this.group;
	}

	/** An instance starts. */
	SimulatedInstance start() {
		return this.group.startInstance();
	}

	/** An instance is stopped, and has that long for it. */
	void stop(SimulatedInstance instance, Duration timeout) {
		this.group.leave(instance, timeout);
	}

	/** An instance is stopped, and starts again under its name after a pause. */
	void restart(SimulatedInstance instance, Duration pause) {
		this.group.restart(instance, Duration.ofSeconds(10), pause, () -> {
		});
	}

	/** From now on every shard gets a record every 100 ms. */
	void feed() {
		this.group.topic().ends().keySet().forEach(this.group.topic()::append);
		this.group.in(FEED_PERIOD.toMillis(), this::feed);
	}

	/** From now on a call of that instance takes as long, unless it is interrupted. */
	void callsTake(SimulatedInstance instance, Duration duration) {
		this.callsTake.put(instance, duration);
	}

	/** From now on a call for that shard takes as long, unless it is interrupted. */
	void callsTake(ShardId shard, Duration duration) {
		this.callsOf.put(shard, duration);
	}

	/** Time passes. */
	void pass(Duration duration) {
		this.group.in(duration.toMillis(), this.time::pause);
		run();
	}

	/**
	 * Time passes until something is so, which must be soon enough.
	 * @return how long it took
	 */
	Duration until(Duration bound, BooleanSupplier condition) {
		long begun = this.time.now();
		boolean[] met = new boolean[1];
		lookFor(condition, begun + bound.toNanos(), met);
		run();
		if (!met[0]) {
			throw new AssertionError("Not within " + bound + ": " + this.group.stored());
		}
		return Duration.ofNanos(this.time.now() - begun);
	}

	private void lookFor(BooleanSupplier condition, long end, boolean[] met) {
		met[0] = condition.getAsBoolean();
		if (met[0] || this.time.now() > end) {
			this.time.pause();
		}
		else {
			this.group.in(1, () -> lookFor(condition, end, met));
		}
	}

	private void run() {
		Throwable failure = this.time.run();
		if (failure != null) {
			this.over = true;
			throw (failure instanceof AssertionError error) ? error : new AssertionError(failure);
		}
	}

	Duration now() {
		return Duration.ofNanos(this.time.now());
	}

	/** Time passes until these share all shards, and nothing is on its way any more. */
	void settle(SimulatedInstance... instances) {
		int shards = this.group.topic().ends().size();
		int least = shards / instances.length;
		until(Duration.ofSeconds(20), () -> {
			var loads = Stream.of(instances).map((instance) -> ownedBy(instance).size()).toList();
			return this.group.stored().ownerships().stream().allMatch((shard) -> shard.phase() == Phase.OWNED)
					&& loads.stream().mapToInt(Integer::intValue).sum() == shards
					&& loads.stream().allMatch((load) -> load == least || load == least + 1);
		});
	}

	/** Returns the shards that an instance owns by the store. */
	Set<ShardId> ownedBy(SimulatedInstance instance) {
		return this.group.stored()
			.ownerships()
			.stream()
			.filter((ownership) -> ownership.owner() != null
					&& ownership.owner().instance().equals(instance.toString()))
			.map(Ownership::shard)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	/** Whether its owner is to give it up. */
	boolean isBeingRevoked(ShardId shard) {
		return this.group.stored()
			.ownerships()
			.stream()
			.anyMatch((ownership) -> ownership.shard().equals(shard) && ownership.phase() == Phase.REVOKING);
	}

	Map<ShardId, Token> tokens() {
		return this.group.tokens();
	}

	/** The shards for which the last call was one of that instance. */
	Set<ShardId> lastHandledBy(SimulatedInstance instance) {
		return this.group.topic().ends().keySet().stream().filter((shard) -> {
			Checker.Call last = this.group.checker().last(shard);
			return last != null && last.instance() == instance;
		}).collect(Collectors.toCollection(TreeSet::new));
	}

	/** Whether each of the shards was handled since. */
	boolean handledSince(Duration moment, Collection<ShardId> shards) {
		return shards.stream().allMatch((shard) -> {
			Checker.Call last = this.group.checker().last(shard);
			return last != null && last.since() > moment.toNanos();
		});
	}

	@Override
	public void close() {
		if (!this.over) {
			this.time.end();
			this.time.run();
		}
		this.logs.close();
		this.host.close();
	}

}
