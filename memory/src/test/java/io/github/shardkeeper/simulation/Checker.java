package io.github.shardkeeper.simulation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.TimersInForce;

/** Checks every call of a handler, and every write, against the promises. */
final class Checker {

	private static final Logger logger = LoggerFactory.getLogger(Checker.class);

	/** Prefix of the state entries that count one record. */
	static final String COUNTED = "record ";

	private final VirtualTime time;

	private final SimulatedSettings settings;

	private final SimulatedTopic topic;

	private final Map<ShardId, List<Call>> running = new HashMap<>();

	/** The highest token under which a handler was called. */
	private final Map<ShardId, Token> highest = new HashMap<>();

	private final Map<Tenure, SimulatedInstance> owners = new HashMap<>();

	private final Map<ShardId, Long> committed = new HashMap<>();

	/** Under which token that was. */
	private final Map<ShardId, Token> committedUnder = new HashMap<>();

	/** Whether the store has lost writes so far. */
	private boolean writesLost;

	/**
	 * What was committed by owners that could give it back, when the store was emptied.
	 */
	private final Map<ShardId, Held> restorable = new HashMap<>();

	/** Whatever the store may have forgotten since. */
	private final Map<ShardId, Long> everCommitted = new HashMap<>();

	private final Set<ShardId> completed = new HashSet<>();

	private final Map<ShardId, Call> last = new HashMap<>();

	/** The group as it was last seen. */
	private List<@Nullable Object> seen = List.of();

	/** Last reset that was applied, by shard. */
	private final Map<ShardId, Long> sought = new HashMap<>();

	private int resets;

	private int restored;

	private boolean allInstancesRestore;

	/** The new owner is forgotten, and the previous owner may be back. */
	private final Map<ShardId, Fork> forks = new HashMap<>();

	/** Records that were put aside at some time. */
	private final Map<ShardId, Set<Long>> putAside = new HashMap<>();

	/**
	 * Records that were put aside when the store lost writes: they may be gone, or there
	 * once more.
	 */
	private final Map<ShardId, Set<Long>> asideWhenLost = new HashMap<>();

	private int calls;

	/** Number of calls for timers. */
	private int timers;

	private int moves;

	private int excused;

	Checker(VirtualTime time, SimulatedSettings settings, SimulatedTopic topic) {
		this.topic = topic;
		this.time = time;
		this.settings = settings;
	}

	/** A handler is called. */
	Call begin(SimulatedInstance instance, ShardContext context, List<ShardRecord<String>> records) {
		ShardRecord<String> first = records.get(0);
		return begin(new Call(instance, context, SimulatedTopic.number(first.offset()), first.key(), this.time.now()),
				records.stream().map((record) -> record.offset().value()).toList());
	}

	/** A handler is called for a timer. */
	Call begin(SimulatedInstance instance, ShardContext context, ShardTimer timer) {
		return begin(new Call(instance, context, -++this.timers, timer.key(), this.time.now()),
				List.of(timer.key(), timer.name(), timer.dueAt().toEpochMilli()));
	}

	private Call begin(Call call, List<?> called) {
		SimulatedInstance instance = call.instance;
		ShardId shard = call.shard;
		Token token = call.token;
		this.calls++;
		this.last.put(shard, call);
		this.time.digest()
			.seen(this.time.now(), "call", instance.toString(), shard.topic(), shard.id(), token.value(), called);
		logger.debug("Call: {}", call);
		for (String parent : this.topic.shards().parents(shard.id())) {
			require(isDone(new ShardId(shard.topic(), parent)), "%s: called before all of its parent %s was handled",
					call, parent);
		}
		Token before = this.highest.getOrDefault(shard, Token.NONE);
		require(token.compareTo(before) >= 0 || isForked(shard, token, before), "%s: called although %s has consumed",
				call, before);
		if (token.compareTo(before) > 0) {
			this.moves++;
		}
		this.highest.put(shard, token);
		SimulatedInstance owner = this.owners.putIfAbsent(new Tenure(shard, token), instance);
		require(owner == null || owner == instance, "%s: %s has had the same token", call, owner);
		List<Call> others = this.running.computeIfAbsent(shard, (id) -> new ArrayList<>());
		others.removeIf((other) -> !other.instance.isAlive());
		for (Call other : others) {
			if (other.instance == instance) {
				require(mayRunTogether(call, other), "%s: called while %s runs on the same instance", call, other);
			}
			else if (other.isExcused() || isForked(shard, token, other.token) || isForked(shard, other.token, token)) {
				this.excused++;
			}
			else {
				require(false, "%s: called while %s runs", call, other);
			}
		}
		others.add(call);
		return call;
	}

	private boolean isDone(ShardId shard) {
		return this.topic.isClosed(shard) && this.everCommitted.getOrDefault(shard, 0L) >= this.topic.end(shard);
	}

	/** Checks the group after a request that may have changed it. */
	void changed(GroupChanges group) {
		group.ownerships().forEach(this::changed);
		List<@Nullable Object> now = new ArrayList<>();
		now.addAll(Arrays.asList(name(group.leader()), group.epoch(), group.generation(), group.membership()));
		group.members()
			.stream()
			.map((member) -> name(member.id()) + (member.leaving() ? " leaves" : ""))
			.sorted()
			.forEach(now::add);
		group.ownerships()
			.stream()
			.sorted(Comparator.comparing(Ownership::shard))
			.forEach((shard) -> now.addAll(Arrays.asList(shard.shard().topic(), shard.shard().id(), shard.phase(),
					shard.token().value(), name(shard.owner()), name(shard.target()), shard.generation(),
					shard.sinceMillis(), shard.untilMillis())));
		if (!now.equals(this.seen)) {
			this.seen = now;
			this.time.digest().seen(this.time.now(), "group", now);
		}
	}

	private static @Nullable String name(@Nullable MemberId member) {
		return (member != null) ? member.instance() : null;
	}

	private void changed(Ownership ownership) {
		ShardId shard = ownership.shard();
		if (ownership.phase() == Phase.COMPLETED) {
			require(isDone(shard), "%s: completed before all of it was handled", shard);
			this.completed.add(shard);
		}
		else {
			require(!this.completed.contains(shard), "%s: was completed, and now is %s", shard, ownership);
		}
	}

	/**
	 * The store has lost that an owner was reaped, and who took over: both may consume
	 * until the older one is refused.
	 * @param restored the token of the owner that the store knows again
	 * @param lost the highest that was given away since
	 * @param nanos for how long
	 */
	void forked(ShardId shard, Token restored, Token lost, long nanos) {
		this.forks.put(shard, new Fork(restored, lost, this.time.now() + nanos));
	}

	private boolean isForked(ShardId shard, Token older, Token newer) {
		Fork fork = this.forks.get(shard);
		return fork != null && older.equals(fork.restored) && newer.compareTo(older) > 0
				&& newer.compareTo(fork.lost) <= 0 && this.time.now() <= fork.until;
	}

	private boolean mayRunTogether(Call one, Call other) {
		return switch (this.settings.ordering()) {
			case SHARD -> false;
			case KEY -> one.number != other.number && (one.key == null || !one.key.equals(other.key));
			case NONE -> one.number != other.number;
		};
	}

	/** The state has to hold the records before a call's, and no others. */
	void requireOnlyBefore(Call call, long count, long sum) {
		long before = call.number - 1;
		require(count == before && sum == before * (before + 1) / 2, "%s: the state holds %d records (sum %d)", call,
				count, sum);
	}

	/**
	 * A key's records have to come in their order, but for those that were put aside when
	 * writes were lost: they may be missing, or there once more.
	 */
	void requireAfter(Call call, long number, long last) {
		Set<Long> unsure = this.asideWhenLost.getOrDefault(call.shard, Set.of());
		require(number > last || unsure.contains(number) || unsure.contains(last),
				"%s: record %d is handled after %d of the same key", call, number, last);
	}

	void end(Call call) {
		logger.debug("Returned: {}", call);
		this.time.digest()
			.seen(this.time.now(), "return", call.instance.toString(), call.shard.topic(), call.shard.id(),
					call.number);
		this.running.get(call.shard).remove(call);
	}

	/**
	 * A commit was accepted. Of every record that counts as handled there has to be
	 * exactly one trace: in the state, in the retry queue, or in the dead letters; of all
	 * others none.
	 */
	void committed(ShardId shard, Token token, CheckpointStore.Checkpoint checkpoint, List<Offset> queued,
			List<Offset> dead) {
		long number = SimulatedTopic.number(checkpoint.offset());
		logger.debug("Committed: {} up to {}, and {}; to be tried again {}, dead {}", shard, number, checkpoint.ahead(),
				queued, dead);
		this.time.digest()
			.seen(this.time.now(), "commit", shard.topic(), shard.id(), token.value(), number,
					SimulatedTopic.numbers(checkpoint.ahead()).sorted().boxed().toList(),
					new TreeMap<>(checkpoint.state()), SimulatedTopic.numbers(queued).boxed().toList(),
					SimulatedTopic.numbers(dead).boxed().toList());
		List<String> wrong = TimersInForce.wrong(checkpoint.state());
		// One that is lost is in force for ever.
		wrong.removeIf((timer) -> this.writesLost && timer.contains(TimersInForce.OVERTAKES));
		require(wrong.isEmpty(), "%s: %s", shard, wrong);
		long before = this.committed.getOrDefault(shard, 0L);
		Held held = this.restorable.remove(shard);
		if (held != null && (this.allInstancesRestore ? held.owner.isAlive() : held.isUndisturbed())) {
			this.restored++;
			require(number >= held.number,
					"%s: %d was committed before the store was emptied, by %s that is alive, and %d " + "after it",
					shard, held.number, held.owner, number);
		}
		// Who took over, and whose acquisition is lost, writes over what the owner before
		// it
		// was able to commit because of that.
		boolean isOverwritten = this.writesLost
				&& token.compareTo(this.committedUnder.getOrDefault(shard, Token.NONE)) > 0;
		require(number >= before || isOverwritten, "%s: offset %d was committed after %d", shard, number, before);
		this.committedUnder.put(shard, token);
		this.committed.put(shard, number);
		this.everCommitted.merge(shard, number, Math::max);
		Map<Long, Integer> traces = new HashMap<>();
		long count = 0;
		long sum = 0;
		for (Map.Entry<String, String> entry : checkpoint.state().entrySet()) {
			if (entry.getKey().startsWith(COUNTED)) {
				long record = Long.parseLong(entry.getKey().substring(COUNTED.length()));
				int times = Integer.parseInt(entry.getValue());
				count += times;
				sum += record * times;
				traces.merge(record, times, Integer::sum);
			}
		}
		require(Long.parseLong(checkpoint.state().getOrDefault("count", "0")) == count
				&& Long.parseLong(checkpoint.state().getOrDefault("sum", "0")) == sum,
				"%s: committed %d with the state %s", shard, number, checkpoint.state());
		Set<Long> aside = this.putAside.computeIfAbsent(shard, (id) -> new HashSet<>());
		Stream.concat(queued.stream(), dead.stream()).map(SimulatedTopic::number).forEach((record) -> {
			traces.merge(record, 1, Integer::sum);
			aside.add(record);
		});
		Map<Long, Integer> expected = new HashMap<>();
		LongStream.rangeClosed(1, number).forEach((record) -> expected.put(record, 1));
		checkpoint.ahead().forEach((offset) -> expected.put(SimulatedTopic.number(offset), 1));
		Set<Long> unsure = this.asideWhenLost.getOrDefault(shard, Set.of());
		traces.keySet().removeAll(unsure);
		expected.keySet().removeAll(unsure);
		require(traces.equals(expected),
				"%s: committed %d and %s, but of each record there are %s; to be tried again %s, dead %s", shard,
				number, checkpoint.ahead(), traces, queued, dead);
	}

	/** A commit was accepted that applies a requested reset. */
	void resets(ShardId shard, long seek) {
		// Once for each request: an accepted commit may be reported twice.
		if (seek > this.sought.getOrDefault(shard, 0L)) {
			logger.debug("Reset: {}", shard);
			this.time.digest().seen(this.time.now(), "seek", shard.topic(), shard.id());
			this.sought.put(shard, seek);
			this.committed.remove(shard);
			this.restorable.remove(shard);
			this.resets++;
		}
	}

	/** Returns the number of resets. */
	int resets() {
		return this.resets;
	}

	/**
	 * The store has forgotten everything, and who is not disturbed meanwhile gives back
	 * what it held: the first commit that is accepted for each shard shows that it did.
	 * Who owns a shard and has not consumed it yet may not have acquired it: nobody holds
	 * it then.
	 * @param settledToken a shard's token in the store, {@code null} while it moves
	 */
	void emptied(Function<ShardId, @Nullable Token> settledToken) {
		this.committed.forEach((shard, number) -> {
			Token token = this.highest.get(shard);
			SimulatedInstance owner = (token != null) ? this.owners.get(new Tenure(shard, token)) : null;
			if (this.settings.restores() && owner != null && token.equals(settledToken.apply(shard))) {
				this.restorable.putIfAbsent(shard, new Held(number, owner, this.time.now()));
			}
		});
		forgetExpectations();
	}

	/** Disturbed instances that are alive must restore their shards, too. */
	void allInstancesRestore() {
		this.allInstancesRestore = true;
	}

	/** Returns whether the store has lost writes so far. */
	boolean hasLostWrites() {
		return this.writesLost;
	}

	/** Returns the number of restored shards. */
	int restored() {
		return this.restored;
	}

	/**
	 * The store has forgotten: what was committed before, and a take-over that nobody
	 * remembers, do not bind any more.
	 */
	void forget() {
		this.restorable.clear();
		forgetExpectations();
	}

	private void forgetExpectations() {
		this.writesLost = true;
		this.committed.clear();
		this.completed.clear();
		this.highest.clear();
		// A request may have to be carried out again.
		this.sought.clear();
		this.putAside.forEach(
				(shard, records) -> this.asideWhenLost.computeIfAbsent(shard, (id) -> new HashSet<>()).addAll(records));
	}

	/** Returns the number of calls of an instance that have not returned. */
	long running(SimulatedInstance instance) {
		return this.running.values().stream().flatMap(List::stream).filter((call) -> call.instance == instance).count();
	}

	/** The last call for a shard. */
	@Nullable Call last(ShardId shard) {
		return this.last.get(shard);
	}

	int calls() {
		return this.calls;
	}

	/** Returns the number of calls for timers. */
	int timers() {
		return this.timers;
	}

	int moves() {
		return this.moves;
	}

	int excused() {
		return this.excused;
	}

	void require(boolean condition, String message, Object... arguments) {
		if (!condition) {
			AssertionError breach = new AssertionError(message.formatted(arguments));
			// Told at once: the code under test may well survive whatever a handler
			// throws.
			this.time.fail(breach);
			throw breach;
		}
	}

	private record Tenure(ShardId shard, Token token) {

	}

	/** State of an owner when the store was emptied. */
	private record Held(long number, SimulatedInstance owner, long since) {

		/** Whether nothing has kept it from giving that back in time. */
		private boolean isUndisturbed() {
			return this.owner.isUndisturbedSince(this.since);
		}

	}

	private record Fork(Token restored, Token lost, long until) {

	}

	/** A call that has not returned. */
	static final class Call {

		private final SimulatedInstance instance;

		private final ShardContext context;

		private final ShardId shard;

		private final Token token;

		private final long number;

		private final @Nullable String key;

		private final long since;

		/** Whether it does not listen to interruption. */
		private boolean stubborn;

		private Call(SimulatedInstance instance, ShardContext context, long number, @Nullable String key, long since) {
			this.instance = instance;
			this.context = context;
			this.shard = context.shard();
			this.token = context.token();
			this.number = number;
			this.key = key;
			this.since = since;
		}

		SimulatedInstance instance() {
			return this.instance;
		}

		/** The first of its records, or below 0 for a timer. */
		long number() {
			return this.number;
		}

		boolean isForTimer() {
			return this.number < 0;
		}

		ShardId shard() {
			return this.shard;
		}

		long since() {
			return this.since;
		}

		void stubborn() {
			this.stubborn = true;
		}

		/**
		 * What is not promised: a frozen process, a handler that ignores that its shard
		 * is lost, or its lease.
		 */
		private boolean isExcused() {
			return this.instance.process.wasFrozenSince(this.since) || this.stubborn && !this.context.isHeld();
		}

		@Override
		public String toString() {
			return "%s record %d on %s under %s since %d ms".formatted(this.shard, this.number, this.instance,
					this.token, this.since / 1_000_000);
		}

	}

}
