package io.github.shardkeeper.protocol.member;

import java.time.Duration;
import java.util.SortedMap;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/** An action of a member. Immutable. */
public sealed interface HoldingAction {

	/** Acquire the shard and consume it. */
	record Start(ShardId shard, Token token) implements HoldingAction {

	}

	/** Stop consuming, save the state, and report the end. */
	record Drain(ShardId shard) implements HoldingAction {

	}

	/** Continue: the move was cancelled. A worker that already ends still reports it. */
	record CancelDrain(ShardId shard) implements HoldingAction {

	}

	/** Interrupt the call that delays a release, and report where it hangs. */
	record Interrupt(ShardId shard, Duration draining) implements HoldingAction {

	}

	/** Let the application prepare for a shard that is likely to arrive. */
	record Prepare(ShardId shard) implements HoldingAction {

	}

	/** Look for requests in the data plane of the shard: there may be one. */
	record Attend(ShardId shard) implements HoldingAction {

	}

	/** Stop consuming immediately: the shard is lost. */
	record Abandon(ShardId shard) implements HoldingAction {

	}

	/** Stop consuming immediately, and report the data in memory that is lost. */
	record Forfeit(ShardId shard, Cause cause) implements HoldingAction {

		public enum Cause {

			/** The store had lost the data, and gave the shard away before. */
			SUPERSEDED,

			/**
			 * Another member owns the shard under a newer token. It resumed from the last
			 * commit made here, unless the store has lost that.
			 */
			TAKEN_OVER,

			/** The instance stops and cannot write the data to the store. */
			STOPPED

		}

	}

	/**
	 * Release the shard in the store; repeated until the store has answered.
	 *
	 * @param token the token under which it was held
	 * @param tokenFloor the lower bound of the next token if a newer fence was found, or
	 * {@link Token#NONE}
	 * @param completed whether the shard was read to its end, so that nobody gets it
	 * again
	 */
	record Release(ShardId shard, Token token, Token tokenFloor, boolean completed) implements HoldingAction {

	}

	/**
	 * Claim the unconfirmed shards, perhaps none, and report the reply. Never comes with
	 * another action.
	 */
	record Claim(SortedMap<ShardId, Token> held) implements HoldingAction {

	}

	/**
	 * Present the unconfirmed shards whose offset and state are in memory, because the
	 * lease has ended and claims are not possible. Report the reply. Never comes with
	 * another action.
	 */
	record Present(SortedMap<ShardId, Token> held) implements HoldingAction {

	}

	/** Write back the data of the shards consumed here that the store may have lost. */
	record WriteBack() implements HoldingAction {

	}

	/** Send a heartbeat now; its reply reports the granted shards. */
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
