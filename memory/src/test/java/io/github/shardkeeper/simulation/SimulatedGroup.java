package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.consumer.SimulatedConsumers;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.TimersInForce;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

/**
 * A simulated group: instances with real coordinators and workers, real stores in memory,
 * a network, clocks, a topic, and a checker of every call and every write.
 */
final class SimulatedGroup {

	static final Duration LEASE = Duration.ofSeconds(3);

	static final Duration TIMEOUT = Duration.ofSeconds(6);

	private final RandomGenerator random;

	private final VirtualTime time;

	private final Checker checker;

	private final Tampering tampering;

	private final SimulatedConsumers consumers;

	private final SimulatedSettings settings;

	private final SimulatedNetwork network;

	private final SimulatedTopic topic;

	private final Work work;

	private final HandoverRules rules;

	private final Duration longestDelay;

	private final Duration awayTimeout;

	private final MemoryCoordinationStore coordinationStore;

	private final CoordinationStore checkedStore;

	private final MemoryCheckpointStore memoryCheckpoints;

	private final MemoryDeadLetterStore deadLetters;

	private final CheckpointStore checkpointStore;

	private final List<SimulatedInstance> instances = new ArrayList<>();

	private int timesEmptied;

	/**
	 * What is released as completed after a failover, and was completed in writes that
	 * this has lost, is not promised to be handled.
	 */
	private final Set<ShardId> endsLost = new HashSet<>();

	/**
	 * Who joins a lease or less after a failover and leads at once may know of nothing
	 * that was lost, before those who know are heard. That is not promised away.
	 */
	private long nobodyNewBefore;

	private long storeClockOffsetMillis;

	SimulatedGroup(Conditions conditions, RandomGenerator random, VirtualTime time, Tampering tampering, Host host,
			Work work) {
		this.random = random;
		this.time = time;
		this.tampering = tampering;
		this.settings = conditions.settings;
		this.consumers = host.consumers(this.settings);
		host.group = this;
		this.work = work;
		this.rules = conditions.rules;
		this.longestDelay = conditions.longestDelay;
		this.awayTimeout = conditions.awayTimeout;
		this.network = new SimulatedNetwork(this.time, this.random, conditions.longestLatency, conditions.lossPeriod);
		this.topic = new SimulatedTopic(conditions.shards, this.time, this.random);
		this.checker = new Checker(this.time, this.settings, this.topic);
		this.topic.watch(this::announceShards);
		InstantSource storeClock = () -> Instant.ofEpochMilli(1_700_000_000_000L + this.storeClockOffsetMillis)
			.plusNanos(this.time.now());
		this.coordinationStore = new MemoryCoordinationStore(storeClock);
		this.checkedStore = new CheckedCoordination(this.coordinationStore, this.checker).checked();
		this.memoryCheckpoints = new MemoryCheckpointStore(storeClock);
		this.deadLetters = new MemoryDeadLetterStore(this.memoryCheckpoints);
		this.checkpointStore = new CheckedCheckpoints(this.memoryCheckpoints, this.deadLetters, this.checker).checked();
	}

	Checker checker() {
		return this.checker;
	}

	SimulatedNetwork network() {
		return this.network;
	}

	SimulatedTopic topic() {
		return this.topic;
	}

	/** The time in nanoseconds. */
	long now() {
		return this.time.now();
	}

	void in(long millis, Runnable event) {
		this.time.at(this.time.now() + Duration.ofMillis(millis).toNanos(), null, event);
	}

	SimulatedInstance startInstance() {
		return startInstance("i" + this.instances.size());
	}

	/** Starts another process of an instance. */
	SimulatedInstance startInstance(String name) {
		SimulatedProcess process = new SimulatedProcess(name, this.time, this.random, this.longestDelay);
		CoordinationSettings settings = new CoordinationSettings("group", name, Duration.ofMillis(500), LEASE, TIMEOUT,
				Duration.ofMillis(100), ApplicationVersion.UNKNOWN, this.rules, 1, null, this.awayTimeout);
		SimulatedInstance instance = new SimulatedInstance(process, this.network, settings, this.checkedStore,
				this.checkpointStore, this.topic, this.consumers, this.settings, this.tampering);
		this.instances.add(instance);
		this.time.at(Math.max(this.time.now(), this.nobodyNewBefore), process, instance::start);
		return instance;
	}

	/** The source of each instance notifies it after a delay of its own. */
	private void announceShards() {
		for (SimulatedInstance instance : this.instances) {
			long delay = Duration.ofMillis(this.random.nextInt(3000)).toNanos();
			this.time.briefly(this.time.now() + delay, instance.process, instance::look);
		}
	}

	/** Leaves, and starts again under its name some time after it has ended. */
	void restart(SimulatedInstance instance, Duration timeout, Duration pause, Runnable whenLeft) {
		leave(instance, timeout, () -> {
			whenLeft.run();
			in(pause.toMillis(), () -> startInstance(instance.toString()));
		});
	}

	/** Leaves, and ends when it has left, or when its time is over. */
	void leave(SimulatedInstance instance, Duration timeout) {
		leave(instance, timeout, () -> {
		});
	}

	private void leave(SimulatedInstance instance, Duration timeout, Runnable afterwards) {
		this.time.at(this.time.now(), instance.process, () -> {
			CompletableFuture<Void> left = instance.leave(timeout.dividedBy(2));
			in(timeout.toMillis(), () -> {
				if (instance.isAlive()) {
					instance.die();
					afterwards.run();
				}
			});
			left.thenRun(() -> this.time.at(this.time.now(), null, () -> {
				if (instance.isAlive()) {
					instance.die();
					afterwards.run();
				}
			}));
		});
	}

	/** Of the processes under one name all but the first one end. */
	void endSecondProcesses() {
		Set<String> names = new HashSet<>();
		members().stream().filter((member) -> !names.add(member.toString())).forEach(SimulatedInstance::die);
	}

	/** Returns the process of a member: there may be several of its instance. */
	private @Nullable SimulatedInstance find(MemberId member) {
		return this.instances.stream()
			.filter((instance) -> instance.hasBeen(member))
			.findFirst()
			.or(() -> this.instances.stream()
				.filter((instance) -> instance.toString().equals(member.instance()))
				.reduce((one, later) -> later))
			.orElse(null);
	}

	List<SimulatedInstance> members() {
		return this.instances.stream().filter(SimulatedInstance::isMember).toList();
	}

	/** Which instance leads, as far as the store knows. */
	@Nullable SimulatedInstance leader() {
		var leader = stored().leader();
		return (leader != null) ? find(leader) : null;
	}

	/** Returns what an operator wants of the group. */
	DirectiveStore directives() {
		return this.coordinationStore.directives();
	}

	/** Returns the stored group. */
	GroupChanges stored() {
		return this.coordinationStore.readChanges(0, -1);
	}

	/** Requests that change ownership. */
	Map<ShardId, Token> tokens() {
		Map<ShardId, Token> tokens = new TreeMap<>();
		stored().ownerships()
			.stream()
			.filter((ownership) -> ownership.phase() != Phase.COMPLETED)
			.forEach((ownership) -> tokens.put(ownership.shard(), ownership.token()));
		return tokens;
	}

	/** The number of the last record whose handling counts. */
	long committed(ShardId shard) {
		return SimulatedTopic.number(this.memoryCheckpoints.read(shard).offset());
	}

	/**
	 * Returns an entry that its owner should have removed, {@code null} for none. What is
	 * not in its memory it searches for once an hour.
	 */
	@Nullable String overdueExpiry(ShardId shard) {
		if (!this.settings.restores()) {
			return null;
		}
		return ExpiringEntries.overdue(this.memoryCheckpoints.read(shard).state(), this.time.wallTime());
	}

	/**
	 * Returns the timers that are to fire, by the store and by the state. What an owner
	 * has not read before the store has lost it is in the state alone, which is not
	 * promised away: the owner of a paused shard, for example, reads no timers.
	 */
	List<Object> timersLeft(ShardId shard) {
		List<Object> left = new ArrayList<>(this.memoryCheckpoints.timers(shard, null, 1));
		if (!this.checker.hasLostWrites()) {
			left.addAll(TimersInForce.left(this.memoryCheckpoints.read(shard).state()));
		}
		return left;
	}

	/** Requests a reset of a shard: from the beginning, with an empty state. */
	void reset(ShardId shard) {
		this.memoryCheckpoints.seek(shard, SimulatedTopic.offset(0), true);
		this.coordinationStore.notifyOwners(List.of(shard));
	}

	/** Returns whether a reset is requested and not applied yet. */
	boolean isToBeReset(ShardId shard) {
		return this.memoryCheckpoints.seeks(List.of(shard)).get(shard).pending() != null;
	}

	/** Notifies the owner again: the notification may be lost, but not the request. */
	private void nudgeAgain() {
		this.coordinationStore.notifyOwners(this.topic.ends().keySet().stream().filter(this::isToBeReset).toList());
	}

	/** Returns the number of records in the retry queue. */
	int queued(ShardId shard) {
		return MemoryFailover.queued(this.memoryCheckpoints, shard).size();
	}

	/** Sends the dead letters of a shard back. */
	void sendBack(ShardId shard) {
		this.deadLetters.sendBack(shard, this.deadLetters.list(shard, null, Integer.MAX_VALUE));
		this.coordinationStore.notifyOwners(List.of(shard));
	}

	/** The store loses everything and continues. */
	void storeEmptied() {
		this.timesEmptied++;
		MemoryFailover.empty(this.coordinationStore);
		MemoryFailover.empty(this.memoryCheckpoints);
		this.checker.forget();
		in(LEASE.toMillis(), this::appendEverywhere);
	}

	/** The store ends, and comes back with nothing after a time. */
	void storeRestartsEmpty(Duration away) {
		this.timesEmptied++;
		this.checker.emptied(this::settledToken);
		MemoryFailover.empty(this.coordinationStore);
		MemoryFailover.empty(this.memoryCheckpoints);
		this.network.restartStore(away);
		in(away.plus(LEASE).toMillis(), this::appendEverywhere);
	}

	/** Only the group's keys are gone, as with a Cluster's node. */
	void controlPlaneRestartsEmpty(Duration away) {
		this.timesEmptied++;
		MemoryFailover.empty(this.coordinationStore);
		this.network.restartStore(away);
	}

	/** Only offsets and states are gone. */
	void dataPlaneRestartsEmpty(Duration away) {
		this.checker.emptied(this::settledToken);
		MemoryFailover.empty(this.memoryCheckpoints);
		this.network.restartStore(away);
		in(away.plus(LEASE).toMillis(), this::appendEverywhere);
	}

	/**
	 * Returns the token of a shard's owner; {@code null} if the shard is on its way to
	 * somebody else, to its beginning or to its end: in the middle of that its state is
	 * in nobody's memory for a moment.
	 */
	private @Nullable Token settledToken(ShardId shard) {
		if (isToBeReset(shard) || MemoryFailover.isCompleted(this.memoryCheckpoints, shard)) {
			return null;
		}
		return stored().ownerships()
			.stream()
			.filter((ownership) -> ownership.shard().equals(shard) && ownership.phase() == Phase.OWNED)
			.map(Ownership::token)
			.findFirst()
			.orElse(null);
	}

	/** The next commit detects the loss. */
	private void appendEverywhere() {
		this.topic.ends().keySet().forEach(this.topic::append);
	}

	/** A replica takes over that does not have what is written from now on for a time. */
	void failOver(Duration lost, Duration away) {
		this.nobodyNewBefore = Math.max(this.nobodyNewBefore, this.time.now() + lost.plus(away).plus(LEASE).toNanos());
		restartFromSnapshotOfNow(lost, away);
	}

	/** After some time the store comes back with what it has on its disk now. */
	void restartFromSnapshotOfNow(Duration lost, Duration away) {
		Object coordination = MemoryFailover.snapshot(this.coordinationStore);
		Object data = MemoryFailover.snapshot(this.memoryCheckpoints);
		int before = this.timesEmptied;
		in(lost.toMillis(), () -> {
			if (before == this.timesEmptied) {
				this.topic.ends().keySet().stream().filter(this::isBeingCompleted).forEach(this.endsLost::add);
				GroupChanges known = stored();
				MemoryFailover.loseWritesSince(this.coordinationStore, coordination);
				findForks(known, away);
				MemoryFailover.loseWritesSince(this.memoryCheckpoints, data);
				this.checker.forget();
			}
			this.network.restartStore(away);
			in(away.plus(LEASE).toMillis(), () -> {
				appendEverywhere();
				nudgeAgain();
			});
		});
	}

	/**
	 * Owners that were reaped, and are members again because the store does not know it
	 * any more.
	 */
	private void findForks(GroupChanges lost, Duration away) {
		Set<MemberId> alive = lost.members().stream().map(GroupMember::id).collect(Collectors.toSet());
		Map<ShardId, Token> given = new HashMap<>();
		lost.ownerships().forEach((ownership) -> given.put(ownership.shard(), ownership.token()));
		long nanos = away.plus(TIMEOUT).plus(LEASE.multipliedBy(2)).toNanos();
		for (Ownership restored : stored().ownerships()) {
			Token newer = given.getOrDefault(restored.shard(), Token.NONE);
			if (restored.owner() != null && !alive.contains(restored.owner())
					&& newer.compareTo(restored.token()) > 0) {
				this.checker.forked(restored.shard(), restored.token(), newer, nanos);
			}
		}
	}

	/** Completed in its data, and about to be released as that. */
	private boolean isBeingCompleted(ShardId shard) {
		return MemoryFailover.isCompleted(this.memoryCheckpoints, shard) && stored().ownerships()
			.stream()
			.noneMatch((ownership) -> ownership.shard().equals(shard) && ownership.phase() == Phase.COMPLETED);
	}

	/** Shards of which a failover may have lost the last commits for ever. */
	Set<ShardId> endsLost() {
		return this.endsLost;
	}

	void storeClockJumps(Duration jump) {
		this.storeClockOffsetMillis += jump.toMillis();
	}

	/** Called by the handler's bean, on the thread of a worker. */
	private void handle(List<ShardRecord<String>> records, ShardContext context, ShardState state, ShardTimers timers,
			@Nullable Acknowledgment acknowledgment) throws InterruptedException {
		SimulatedInstance instance = Objects.requireNonNull(find(context.member()));
		Checker.Call call = this.checker.begin(instance, context, records);
		Instant now = instance.process.wallClock().instant();
		try {
			if (this.settings.isStrict()) {
				this.checker.requireOnlyBefore(call, state.get("count", Long.class).orElse(0L),
						state.get("sum", Long.class).orElse(0L));
			}
			for (ShardRecord<String> record : records) {
				countFirstHalf(call, record, state);
				if (record.key() != null) {
					long number = SimulatedTopic.number(record.offset());
					ExpiringEntries.handle(this.checker, call, record.key(), number, state, now);
					TimersInForce.handle(record.key(), number, state, timers, now);
				}
			}
			if (returnsInterrupted(instance, call)) {
				return;
			}
			for (ShardRecord<String> record : records) {
				state.increment("sum", SimulatedTopic.number(record.offset()));
			}
			if (acknowledgment != null) {
				acknowledgeSometime(instance, acknowledgment);
			}
		}
		finally {
			this.checker.end(call);
		}
	}

	/** Called by the handler's bean, on the thread of a worker. */
	private void fire(ShardTimer timer, ShardContext context, ShardState state) throws InterruptedException {
		SimulatedInstance instance = Objects.requireNonNull(find(context.member()));
		Checker.Call call = this.checker.begin(instance, context, timer);
		try {
			TimersInForce.fire(timer, this.settings.ordering() != Ordering.NONE, state,
					instance.process.wallClock().instant());
			returnsInterrupted(instance, call);
		}
		finally {
			this.checker.end(call);
		}
	}

	/** Works, and handles interruption in one of the two usual ways. */
	private boolean returnsInterrupted(SimulatedInstance instance, Checker.Call call) throws InterruptedException {
		try {
			this.work.run(instance, call);
			return false;
		}
		catch (InterruptedException ex) {
			if (this.random.nextBoolean()) {
				throw ex;
			}
			Thread.currentThread().interrupt();
			return true;
		}
	}

	/** In any order, and sometimes more than once. */
	private void acknowledgeSometime(SimulatedInstance instance, Acknowledgment acknowledgment) {
		for (int times = 1 + this.random.nextInt(4) / 3; times > 0; times--) {
			long when = this.time.now() + Duration.ofMillis(this.random.nextInt(2000)).toNanos();
			this.time.at(when, instance.process, acknowledgment::acknowledge);
		}
	}

	private void countFirstHalf(Checker.Call call, ShardRecord<String> record, ShardState state) {
		long number = SimulatedTopic.number(record.offset());
		state.increment(Checker.COUNTED + number, 1);
		if (this.random.nextInt(4) == 0) {
			// A concurrent change makes this call repeat.
			state.put("count", state.get("count", Long.class).orElse(0L) + 1);
		}
		else {
			state.increment("count", 1);
		}
		String key = record.key();
		if (key != null && this.settings.keepsOrder()) {
			this.checker.requireAfter(call, number, state.get("last " + key, Long.class).orElse(0L));
			state.put("last " + key, number);
		}
	}

	/**
	 * Where a group lives.
	 *
	 * @param shards how many shards its topic has
	 * @param rules how shards are handed over
	 * @param settings how they are consumed
	 * @param longestDelay how late a thread may begin
	 * @param longestLatency how long a request or a reply may be on its way
	 * @param lossPeriod one of so many requests and replies is lost, 0 for none
	 * @param awayTimeout how long shards are kept for one that has left, 0 for not at all
	 */
	record Conditions(int shards, HandoverRules rules, SimulatedSettings settings, Duration longestDelay,
			Duration longestLatency, int lossPeriod, Duration awayTimeout) {

	}

	/** Handler body between the two halves of an increment. */
	@FunctionalInterface
	interface Work {

		void run(SimulatedInstance instance, Checker.Call call) throws InterruptedException;

	}

	/** Threads and handler that successive groups share. */
	static final class Host implements AutoCloseable {

		private static final Map<String, Integer> TOPICS = Map.of(SimulatedTopic.NAME, 1);

		private final VirtualTime.Runners runners = new VirtualTime.Runners();

		private final SimulatedConsumers consumers = new SimulatedConsumers(new Records(), TOPICS);

		private final SimulatedConsumers batchConsumers = new SimulatedConsumers(new Batches(), TOPICS);

		private final SimulatedConsumers byHand = new SimulatedConsumers(new RecordsByHand(), TOPICS);

		private final SimulatedConsumers batchesByHand = new SimulatedConsumers(new BatchesByHand(), TOPICS);

		private @Nullable SimulatedGroup group;

		private SimulatedConsumers consumers(SimulatedSettings settings) {
			if (settings.byHand()) {
				return settings.batches() ? this.batchesByHand : this.byHand;
			}
			return settings.batches() ? this.batchConsumers : this.consumers;
		}

		VirtualTime time(boolean traced) {
			return new VirtualTime(this.runners, traced);
		}

		Simulation.Outcome run(long seed, Tampering tampering, boolean traced) {
			return new Simulation(seed, tampering, this, traced).run();
		}

		@Override
		public void close() {
			this.runners.close();
		}

		private abstract class Timers {

			@OnShardTimer
			void fire(ShardTimer timer, ShardContext context, ShardState state) throws InterruptedException {
				Host.this.group.fire(timer, context, state);
			}

		}

		private final class Records extends Timers {

			@ShardConsumer(SimulatedTopic.NAME)
			void handle(ShardRecord<String> record, ShardContext context, ShardState state, ShardTimers timers)
					throws InterruptedException {
				Host.this.group.handle(List.of(record), context, state, timers, null);
			}

		}

		private final class Batches extends Timers {

			@ShardConsumer(SimulatedTopic.NAME)
			void handle(List<ShardRecord<String>> records, ShardContext context, ShardState state, ShardTimers timers)
					throws InterruptedException {
				Host.this.group.handle(records, context, state, timers, null);
			}

		}

		private final class RecordsByHand extends Timers {

			@ShardConsumer(SimulatedTopic.NAME)
			void handle(ShardRecord<String> record, ShardContext context, ShardState state, ShardTimers timers,
					Acknowledgment acknowledgment) throws InterruptedException {
				Host.this.group.handle(List.of(record), context, state, timers, acknowledgment);
			}

		}

		private final class BatchesByHand extends Timers {

			@ShardConsumer(SimulatedTopic.NAME)
			void handle(List<ShardRecord<String>> records, ShardContext context, ShardState state, ShardTimers timers,
					Acknowledgment acknowledgment) throws InterruptedException {
				Host.this.group.handle(records, context, state, timers, acknowledgment);
			}

		}

	}

}
