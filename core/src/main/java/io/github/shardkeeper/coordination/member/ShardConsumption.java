package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.MeasuredLoads.ShardWork;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The port through which the coordinator has shards consumed. No method may block or run
 * user code on the caller's thread. Thread-safe.
 */
public interface ShardConsumption {

	/** Acquires a shard and consumes it. Consumption under an older token ends first. */
	void start(ShardId shard, Token token, MemberId member);

	/**
	 * Takes no new record of a shard, lets the running call return, saves the state, then
	 * reports {@link Listener#workerEnded}.
	 */
	void drain(ShardId shard);

	/**
	 * Continues a draining shard, because its move was cancelled. If the revocation
	 * callback has begun, the drain is completed and reported as usual.
	 * @return whether the shard continues
	 */
	boolean cancelDrain(ShardId shard);

	/** Reads a shard's requests, perhaps none: a seek, or records in the retry queue. */
	void attend(ShardId shard);

	/** Interrupts the call of a drain that takes too long, and logs its stack trace. */
	void interrupt(ShardId shard, Duration draining);

	/**
	 * Prepares for a shard that is likely to be started here soon, while another instance
	 * may still consume it. Only a hint: the start may never come.
	 */
	void prepare(ShardId shard, MemberId member);

	/** Stops consuming a lost shard and interrupts the running call. Reports nothing. */
	void abandon(ShardId shard);

	/**
	 * Abandons a shard with data that only this member has, and logs what helps to
	 * recover it.
	 */
	void forfeit(ShardId shard, Forfeit.Cause cause);

	/**
	 * {@return the shards whose offset and state are in memory, so that a store that has
	 * lost them can get them back} Allowed only while no records are handed out.
	 */
	Set<ShardId> restorable();

	/**
	 * Interrupts running calls, because the lease has ended; none that began since it is
	 * held again.
	 */
	void suspend();

	/** Continues, because the lease is held again. */
	void resume();

	/** Commits the whole state of all consumed shards: the store has lost writes. */
	void writeBack();

	/**
	 * Pauses and resumes shards, as operators want it. A shard that starts later follows
	 * these directives, too. One that starts before the first call must handle no records
	 * until then. Called in each session, even if there are no directives.
	 */
	default void directivesChanged(Directives directives) {
	}

	/** Returns the work for each measured shard, including calls that run now. */
	default List<ShardWork> work(MonotonicTime now) {
		return List.of();
	}

	/** Returns a sentence for each shard that is not consumed although it should be. */
	Map<ShardId, String> problems();

	/** Listener to the ends of workers. Thread-safe. */
	interface Listener {

		/**
		 * Handles the end of a worker that was drained or fenced, or has completed its
		 * shard: nothing is consumed or written under its token any more.
		 * @param fence the newer token that refused it, or {@link Token#NONE}
		 * @param completed whether the last record of a closed shard was handled, so that
		 * the shard needs no owner any more
		 */
		void workerEnded(ShardId shard, Token token, Token fence, boolean completed);

	}

}
