package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.protocol.HoldingAction.Forfeit;
import io.github.shardkeeper.protocol.MeasuredLoads.ShardWork;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Consumes shards on behalf of the coordinator. No method may block or run user code on
 * the caller's thread. Thread-safe.
 */
public interface ShardConsumption {

	/**
	 * Acquires a shard and consumes it. If it is still consumed under an older token,
	 * that ends first.
	 * @param shard the shard
	 * @param token the token
	 * @param member the member that owns it
	 */
	void start(ShardId shard, Token token, MemberId member);

	/**
	 * Takes no new record of a shard, lets the running call return, saves the state, then
	 * reports {@link Listener#workerEnded}.
	 * @param shard the shard
	 */
	void drain(ShardId shard);

	/**
	 * Continues a shard that was to drain, because its move was cancelled. If its end has
	 * begun, with the revocation callback, it is carried out and reported as usual.
	 * @param shard the shard
	 * @return whether it continues
	 */
	boolean cancelDrain(ShardId shard);

	/**
	 * Looks at the data plane of a shard that is consumed here, or is about to be: there
	 * may be a request. May come without any request, and repeatedly.
	 * @param shard the shard
	 */
	void attend(ShardId shard);

	/**
	 * Interrupts the running call of a drain that takes too long, and reports where it
	 * stands.
	 * @param shard the shard
	 * @param draining how long the drain has gone on
	 */
	void interrupt(ShardId shard, Duration draining);

	/**
	 * Lets the application prepare for a shard that is likely to be started here soon,
	 * while another instance may still consume it. Only a hint; it may never come.
	 * @param shard the shard
	 * @param member the member that is to own it
	 */
	void prepare(ShardId shard, MemberId member);

	/**
	 * Takes no new record of a shard that is lost, and interrupts the running call.
	 * Nothing is reported.
	 * @param shard the shard
	 */
	void abandon(ShardId shard);

	/**
	 * Does the same for a shard with which something is lost that only this member knows,
	 * and logs all that helps to find it again.
	 * @param shard the shard
	 * @param cause why it is lost
	 */
	void forfeit(ShardId shard, Forfeit.Cause cause);

	/**
	 * Returns the shards whose offset and state are here, so that a store that has lost
	 * them can get them back: those that were acquired and are neither lost nor about to
	 * begin elsewhere. May be called only while nothing is handed out.
	 * @return the shards
	 */
	Set<ShardId> restorable();

	/**
	 * Interrupts what runs, because the lease has ended. Records are not handed out then.
	 */
	void suspend();

	/**
	 * Continues, because the lease is held again.
	 */
	void resume();

	/**
	 * Writes back what the store must know of the shards that are consumed here, because
	 * it has lost writes.
	 */
	void writeBack();

	/**
	 * Returns what has been done for the shards that are consumed here.
	 * @param now the time, for calls that run
	 * @return one entry for each shard that is measured; none where nothing is
	 */
	default List<ShardWork> work(MonotonicTime now) {
		return List.of();
	}

	/**
	 * Returns what keeps shards of this instance from being consumed.
	 * @return a sentence for each shard that is held up
	 */
	Map<ShardId, String> problems();

	/** Hears about workers. Thread-safe. */
	interface Listener {

		/**
		 * A worker that was to drain, was fenced, or has come to its shard's end, has
		 * ended: nothing is consumed or written under its token any more.
		 * @param shard the shard
		 * @param token the token it had
		 * @param fence the newer token that refused it, or {@link Token#NONE}
		 * @param completed whether the last record that the shard will ever have was
		 * handled: nobody needs to own it again
		 */
		void workerEnded(ShardId shard, Token token, Token fence, boolean completed);

	}

}
