package io.github.shardkeeper.protocol;

import java.time.Duration;
import java.util.SortedMap;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/** An action of a member. Immutable. */
public sealed interface HoldingAction {

	/**
	 * Acquire the shard and consume it.
	 *
	 * @param shard the shard
	 * @param token the token of the ownership
	 */
	record Start(ShardId shard, Token token) implements HoldingAction {

	}

	/**
	 * Stop consuming, save the state, and report the end.
	 *
	 * @param shard the shard
	 */
	record Drain(ShardId shard) implements HoldingAction {

	}

	/**
	 * Continue: the move for which the shard drains was cancelled. Has no effect on a
	 * worker that already ends; it reports its end as usual.
	 *
	 * @param shard the shard
	 */
	record CancelDrain(ShardId shard) implements HoldingAction {

	}

	/**
	 * Interrupt the call that delays the release of a shard, and report where it hangs.
	 *
	 * @param shard the shard
	 * @param draining the duration of the drain so far
	 */
	record Interrupt(ShardId shard, Duration draining) implements HoldingAction {

	}

	/**
	 * Let the application prepare for a shard that is likely to arrive.
	 *
	 * @param shard the shard
	 */
	record Prepare(ShardId shard) implements HoldingAction {

	}

	/**
	 * Look for requests in the data plane of the shard: there may be one.
	 *
	 * @param shard the shard
	 */
	record Attend(ShardId shard) implements HoldingAction {

	}

	/**
	 * Stop consuming immediately: the shard is lost.
	 *
	 * @param shard the shard
	 */
	record Abandon(ShardId shard) implements HoldingAction {

	}

	/**
	 * Stop consuming immediately, like {@link Abandon}, and report the data in memory
	 * that is lost with the shard.
	 *
	 * @param shard the shard
	 * @param cause the cause of the loss
	 */
	record Forfeit(ShardId shard, Cause cause) implements HoldingAction {

		/** The cause of a loss. */
		public enum Cause {

			/**
			 * The store had lost the data, and gave the shard to another member before.
			 */
			SUPERSEDED,

			/**
			 * Another member owns the shard under a newer token. Usually nothing is lost:
			 * the new owner resumed from the last commit made here, unless the store has
			 * lost it.
			 */
			TAKEN_OVER,

			/** The instance stops and cannot write the data to the store. */
			STOPPED

		}

	}

	/**
	 * Release the shard in the store; repeated until the store has answered.
	 *
	 * @param shard the shard
	 * @param token the token under which it was held
	 * @param tokenFloor the lower bound of the next token if a newer fence was found, or
	 * {@link Token#NONE}
	 * @param completed whether the shard was read to its end, so that nobody gets it
	 * again
	 */
	record Release(ShardId shard, Token token, Token tokenFloor, boolean completed) implements HoldingAction {

	}

	/**
	 * Claim shards, and report the answer. Never comes with another action.
	 *
	 * @param held the unconfirmed shards, with their tokens; may be empty
	 */
	record Claim(SortedMap<ShardId, Token> held) implements HoldingAction {

	}

	/**
	 * Present shards to the store, because the lease has ended and claims are not
	 * possible: only those whose offset and state are in memory. Report the answer. Never
	 * comes with another action.
	 *
	 * @param held the unconfirmed shards, with their tokens; may be empty
	 */
	record Present(SortedMap<ShardId, Token> held) implements HoldingAction {

	}

	/** Write back the data of the shards consumed here that the store may have lost. */
	record WriteBack() implements HoldingAction {

	}

	/** Send a heartbeat now; its answer reports the granted shards. */
	record SendHeartbeat() implements HoldingAction {

	}

	/**
	 * Let heartbeats renew the lease again: the store has confirmed the shards held here.
	 *
	 * @param losses the number of losses in this session that this confirmation covers
	 */
	record Confirm(int losses) implements HoldingAction {

	}

}
