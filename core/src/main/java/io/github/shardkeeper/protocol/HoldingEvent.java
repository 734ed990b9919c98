package io.github.shardkeeper.protocol;

import java.util.Set;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Something that has happened to a member or to one of its shards. Immutable.
 */
public sealed interface HoldingEvent {

	/**
	 * The store told about a shard.
	 *
	 * @param ownership what it told
	 * @param self this member
	 */
	record OwnershipChanged(Ownership ownership, MemberId self) implements HoldingEvent {

	}

	/**
	 * A {@link HoldingAction.Start} has failed. It is repeated when the store tells of
	 * the shard again.
	 *
	 * @param shard the shard
	 */
	record StartFailed(ShardId shard) implements HoldingEvent {

	}

	/**
	 * A {@link HoldingAction.CancelDrain} was in time: the worker continues. Otherwise
	 * the shard drains as before, and may become overdue.
	 *
	 * @param shard the shard
	 */
	record DrainCancelled(ShardId shard) implements HoldingEvent {

	}

	/**
	 * A worker has ended: nothing is consumed or written any more.
	 *
	 * @param shard its shard
	 * @param token the token it was started under
	 * @param fence a newer token that it was refused with, or {@link Token#NONE}
	 * @param completed whether the shard has come to its end
	 */
	record WorkerEnded(ShardId shard, Token token, Token fence, boolean completed) implements HoldingEvent {

	}

	/**
	 * The store has accepted a release, or said that the shard was not ours any more.
	 *
	 * @param shard the shard
	 * @param token the token it was released under
	 */
	record ShardReleased(ShardId shard, Token token) implements HoldingEvent {

	}

	/**
	 * The deadline of the last step is over, or something else may be due.
	 *
	 * @param leaseHeld whether the lease has not ended
	 */
	record TimePassed(boolean leaseHeld) implements HoldingEvent {

	}

	/**
	 * The member leaves and cannot wait for the leader's plan any longer.
	 */
	record LeaveTimedOut() implements HoldingEvent {

	}

	/**
	 * The store has lost writes that this member saw. Comes before what the store tells
	 * of shards in the same answer.
	 */
	record WritesLost() implements HoldingEvent {

	}

	/**
	 * All that an answered heartbeat tells of shards was taken in.
	 *
	 * @param hasMore whether the next answer tells more
	 * @param claimsOpen whether members may still claim and present shards
	 * @param leaseHeld whether the lease has not ended
	 */
	record HeartbeatAnswered(boolean hasMore, boolean claimsOpen, boolean leaseHeld) implements HoldingEvent {

	}

	/**
	 * The store has answered a {@link HoldingAction.Claim} or
	 * {@link HoldingAction.Present}.
	 *
	 * @param granted the shards that are the member's
	 * @param superseded others that were given to somebody else because the store had
	 * lost that they were the member's
	 */
	record ClaimAnswered(Set<ShardId> granted, Set<ShardId> superseded) implements HoldingEvent {

	}

	/**
	 * The store has not answered a claim.
	 */
	record ClaimFailed() implements HoldingEvent {

	}

	/**
	 * A {@link HoldingAction.WriteBack} was carried out.
	 */
	record WrittenBack() implements HoldingEvent {

	}

	/**
	 * The store does not know the session any more.
	 */
	record SessionForgotten() implements HoldingEvent {

	}

	/**
	 * The member has joined the group in a new session, whose heartbeats have not begun.
	 *
	 * @param leaseHeld whether the lease of the session before has not ended
	 */
	record SessionJoined(boolean leaseHeld) implements HoldingEvent {

	}

	/**
	 * Session and lease are over.
	 */
	record SessionLost() implements HoldingEvent {

	}

	/**
	 * The member stops without a lease, so nothing of what runs can be written any more.
	 */
	record MemberStopped() implements HoldingEvent {

	}

}
