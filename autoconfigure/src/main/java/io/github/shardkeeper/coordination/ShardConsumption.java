package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.handover.HoldingAction.Forfeit;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.handover.ShardWork;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * What the coordinator needs from whoever consumes the shards. No method may block or run
 * user code on the caller's thread. Thread-safe.
 */
public interface ShardConsumption {

	/**
	 * Acquire a shard and consume it. If it is still being consumed under an older token,
	 * that ends first.
	 * @param shard the shard
	 * @param token the token
	 * @param member the member that owns it
	 */
	void start(ShardId shard, Token token, MemberId member);

	/**
	 * Take no new record of a shard, let the running call return, put the state away,
	 * then report {@link Listener#workerEnded}.
	 * @param shard the shard
	 */
	void drain(ShardId shard);

	/**
	 * The move is off: go on consuming a shard that was to drain. If its end has begun,
	 * with the application's farewell, it is carried out and reported as usual.
	 * @param shard the shard
	 * @return whether it goes on
	 */
	boolean cancelDrain(ShardId shard);

	/**
	 * Somebody may have left a request for a shard that is consumed here, or is about to
	 * be: look at its data plane. May come without any request, and again and again.
	 * @param shard the shard
	 */
	void attend(ShardId shard);

	/**
	 * A drain takes too long: interrupt the running call, and report where it stands.
	 * @param shard the shard
	 * @param draining how long the drain has gone on
	 */
	void interrupt(ShardId shard, Duration draining);

	/**
	 * A shard that another instance may still consume is likely to be started here soon:
	 * let the application prepare for it. Only a hint; it may never come.
	 * @param shard the shard
	 * @param member the member that is to own it
	 */
	void prepare(ShardId shard, MemberId member);

	/**
	 * The shard is lost: take no new record, interrupt the running call. Nothing is
	 * reported.
	 * @param shard the shard
	 */
	void abandon(ShardId shard);

	/**
	 * The same, and what is known of the shard here only is lost with it: say so, with
	 * all that helps to find it again.
	 * @param shard the shard
	 * @param cause why it is lost
	 */
	void forfeit(ShardId shard, Forfeit.Cause cause);

	/**
	 * The shards whose offset and state are here, so that a store that has lost them can
	 * get them back: those that were acquired and are neither lost nor about to begin
	 * elsewhere. To be asked only while nothing is handed out.
	 * @return the shards
	 */
	Set<ShardId> restorable();

	/**
	 * The lease has ended: interrupt what runs. Records are not handed out anyway.
	 */
	void suspend();

	/**
	 * The lease is held again: go on.
	 */
	void resume();

	/**
	 * The store has lost writes: write back what it must know of the shards that are
	 * consumed here.
	 */
	void writeBack();

	/**
	 * What has been done for the shards that are consumed here.
	 * @param now the time, for calls that run
	 * @return one entry for each shard that is measured; none where nothing is
	 */
	default List<ShardWork> work(MonotonicTime now) {
		return List.of();
	}

	/**
	 * What keeps shards of this instance from being consumed.
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
