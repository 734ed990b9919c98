package io.github.shardkeeper.protocol;

import java.time.Duration;
import java.util.SortedMap;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Something that a member does next. Immutable.
 */
public sealed interface HoldingAction {

	/**
	 * Acquire the shard and consume it.
	 *
	 * @param shard the shard
	 * @param token the token to do it under
	 */
	record Start(ShardId shard, Token token) implements HoldingAction {

	}

	/**
	 * Stop consuming, save the state, and report when that is done.
	 *
	 * @param shard the shard
	 */
	record Drain(ShardId shard) implements HoldingAction {

	}

	/**
	 * Continue: the move for which the shard is draining was cancelled. Too late for a
	 * worker that has begun its end; that one reports it as usual.
	 *
	 * @param shard the shard
	 */
	record CancelDrain(ShardId shard) implements HoldingAction {

	}

	/**
	 * Interrupt the call that keeps a shard from being given up, and report where it
	 * stands.
	 *
	 * @param shard the shard
	 * @param draining how long the drain has gone on
	 */
	record Interrupt(ShardId shard, Duration draining) implements HoldingAction {

	}

	/**
	 * The shard is likely to come soon: let the application prepare for it.
	 *
	 * @param shard the shard
	 */
	record Prepare(ShardId shard) implements HoldingAction {

	}

	/**
	 * Somebody may have left a request for the shard: look at its data plane.
	 *
	 * @param shard the shard
	 */
	record Attend(ShardId shard) implements HoldingAction {

	}

	/**
	 * Stop consuming at once: the shard is lost.
	 *
	 * @param shard the shard
	 */
	record Abandon(ShardId shard) implements HoldingAction {

	}

	/**
	 * Stop consuming at once, as with {@link Abandon}, and say what is lost with the
	 * shard: what is known of it here only.
	 *
	 * @param shard the shard
	 * @param cause why it is lost
	 */
	record Forfeit(ShardId shard, Cause cause) implements HoldingAction {

		/** Why something is lost. */
		public enum Cause {

			/** The store had lost it, and gave the shard to somebody else before. */
			SUPERSEDED,

			/**
			 * Somebody else has it under a newer token. Mostly nothing is lost with that:
			 * the new owner resumed from what was committed here, if the store has not
			 * lost it.
			 */
			TAKEN_OVER,

			/** This instance stops, and cannot write it to the store. */
			STOPPED

		}

	}

	/**
	 * Tell the store that the shard is given up; to be repeated until it has answered.
	 *
	 * @param shard the shard
	 * @param token the token under which it was held
	 * @param tokenFloor what the next token must exceed, or {@link Token#NONE}: the
	 * fence's value when the fence was found ahead
	 * @param completed whether the shard has come to its end, and nobody is to get it
	 * again
	 */
	record Release(ShardId shard, Token token, Token tokenFloor, boolean completed) implements HoldingAction {

	}

	/**
	 * Claim shards, and report the answer. Comes with no other action.
	 *
	 * @param held the unconfirmed shards, with their tokens; may be empty
	 */
	record Claim(SortedMap<ShardId, Token> held) implements HoldingAction {

	}

	/**
	 * Present shards to the store, because the lease has ended and nothing may be claimed
	 * any more: only those whose offset and state are here. Report the answer. Comes with
	 * no other action.
	 *
	 * @param held the unconfirmed shards, with their tokens; may be empty
	 */
	record Present(SortedMap<ShardId, Token> held) implements HoldingAction {

	}

	/**
	 * Write back what the store must know of the shards that are consumed here.
	 */
	record WriteBack() implements HoldingAction {

	}

	/**
	 * Send a heartbeat now, whose answer tells what was granted.
	 */
	record SendHeartbeat() implements HoldingAction {

	}

	/**
	 * Let heartbeats renew the lease again: the store has confirmed what is held here.
	 *
	 * @param losses the number of losses in this session that this confirmation covers
	 */
	record Confirm(int losses) implements HoldingAction {

	}

}
