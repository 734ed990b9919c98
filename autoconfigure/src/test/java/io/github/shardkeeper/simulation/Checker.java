package io.github.shardkeeper.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/** Watches every call of a handler, and every write, for what must never be. */
final class Checker {

	private static final Logger logger = LoggerFactory.getLogger(Checker.class);

	private static final long RETURNED = -1;

	private static final long COMMITTED = 1L << 32;

	private final VirtualTime time;

	private final Map<ShardId, List<Call>> running = new HashMap<>();

	/** The highest token under which a handler was called. */
	private final Map<ShardId, Token> highest = new HashMap<>();

	private final Map<Tenure, SimulatedInstance> owners = new HashMap<>();

	private final Map<ShardId, Long> committed = new HashMap<>();

	private final Map<ShardId, Call> last = new HashMap<>();

	/** Of every call and commit, and when it was. */
	private long fingerprint = 1;

	/** The last request to begin anew that was carried out. */
	private final Map<ShardId, Long> sought = new HashMap<>();

	private int begunAnew;

	private int calls;

	private int moves;

	private int excused;

	Checker(VirtualTime time) {
		this.time = time;
	}

	/** A handler is called. */
	Call begin(SimulatedInstance instance, ShardContext context, long number, long count, long sum) {
		ShardId shard = context.shard();
		Token token = context.token();
		this.calls++;
		Call call = new Call(instance, context, number, this.time.now());
		this.last.put(shard, call);
		remember(call.fingerprint());
		logger.debug("Call: {}", call);
		require(count == number - 1 && sum == number * (number - 1) / 2, "%s: the state holds %d records (sum %d)",
				call, count, sum);
		Token before = this.highest.getOrDefault(shard, Token.NONE);
		require(token.compareTo(before) >= 0, "%s: called although %s has consumed", call, before);
		if (token.compareTo(before) > 0) {
			this.moves++;
		}
		this.highest.put(shard, token);
		SimulatedInstance owner = this.owners.putIfAbsent(new Tenure(shard, token), instance);
		require(owner == null || owner == instance, "%s: %s has had the same token", call, owner);
		List<Call> others = this.running.computeIfAbsent(shard, (id) -> new ArrayList<>());
		others.removeIf((other) -> !other.instance.isAlive());
		for (Call other : others) {
			require(other.instance != instance, "%s: called while %s runs on the same instance", call, other);
			if (other.isExcused()) {
				this.excused++;
			}
			else {
				require(false, "%s: called while %s runs", call, other);
			}
		}
		others.add(call);
		return call;
	}

	void end(Call call) {
		logger.debug("Returned: {}", call);
		remember(RETURNED);
		this.running.get(call.shard).remove(call);
	}

	/** A commit was accepted. */
	void committed(ShardId shard, long number, long count, long sum) {
		logger.debug("Committed: {} up to {}", shard, number);
		remember(COMMITTED + number);
		long before = this.committed.getOrDefault(shard, 0L);
		require(number >= before, "%s: offset %d was committed after %d", shard, number, before);
		require(count == number && sum == number * (number + 1) / 2,
				"%s: committed %d with the state of %d records (sum %d)", shard, number, count, sum);
		this.committed.put(shard, number);
	}

	/** A commit was accepted that begins a shard anew, as somebody has asked for. */
	void begunAnew(ShardId shard, long seek) {
		// Once for each request: an accepted commit may be told twice.
		if (seek > this.sought.getOrDefault(shard, 0L)) {
			logger.debug("Begun anew: {}", shard);
			this.sought.put(shard, seek);
			this.committed.remove(shard);
			this.begunAnew++;
		}
	}

	/** How often a shard was begun anew. */
	int begunAnew() {
		return this.begunAnew;
	}

	/**
	 * The store has forgotten: what was committed before, and a take-over that nobody
	 * remembers, do not bind any more.
	 */
	void forget() {
		this.committed.clear();
		this.highest.clear();
	}

	private void remember(long what) {
		this.fingerprint = 31 * (31 * this.fingerprint + what) + this.time.now();
	}

	/** Two courses in which the same happened at the same times have the same. */
	long fingerprint() {
		return this.fingerprint;
	}

	/** How many calls of an instance have not returned. */
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

	int moves() {
		return this.moves;
	}

	int excused() {
		return this.excused;
	}

	private void require(boolean condition, String message, Object... arguments) {
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

	/** A call that has not returned. */
	static final class Call {

		private final SimulatedInstance instance;

		private final ShardContext context;

		private final ShardId shard;

		private final Token token;

		private final long number;

		private final long since;

		/** Whether it does not listen to interruption. */
		private boolean stubborn;

		private Call(SimulatedInstance instance, ShardContext context, long number, long since) {
			this.instance = instance;
			this.context = context;
			this.shard = context.shard();
			this.token = context.token();
			this.number = number;
			this.since = since;
		}

		/** The same in every JVM. */
		private long fingerprint() {
			return 31
					* (31 * (31 * this.shard.toString().hashCode() + this.number) + this.instance.toString().hashCode())
					+ this.token.value();
		}

		SimulatedInstance instance() {
			return this.instance;
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
