package io.github.shardkeeper.protocol.member;

import java.util.Set;

import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/** An event of a member or one of its shards. Immutable. */
public sealed interface HoldingEvent {

	/** The store reported a shard. */
	record OwnershipChanged(Ownership ownership, MemberId self) implements HoldingEvent {

	}

	/**
	 * A {@link HoldingAction.Start} failed; repeated when the store reports the shard
	 * again.
	 */
	record StartFailed(ShardId shard) implements HoldingEvent {

	}

	/** A {@link HoldingAction.CancelDrain} was in time; else the shard keeps draining. */
	record DrainCancelled(ShardId shard) implements HoldingEvent {

	}

	/**
	 * A worker has ended: it neither consumes nor writes any more.
	 *
	 * @param token the token under which it was started
	 * @param fence the newer token that refused it, or {@link Token#NONE}
	 * @param completed whether the shard was read to its end
	 */
	record WorkerEnded(ShardId shard, Token token, Token fence, boolean completed) implements HoldingEvent {

	}

	/** The store accepted a release, or the shard was not this member's any more. */
	record ShardReleased(ShardId shard, Token token) implements HoldingEvent {

	}

	/** The deadline of the last step has passed, or something else may be due. */
	record TimePassed(boolean leaseHeld) implements HoldingEvent {

	}

	/** The member leaves and stops waiting for the leader's plan. */
	record LeaveTimedOut() implements HoldingEvent {

	}

	/**
	 * The store has lost writes that this member saw. Reported before the shards in the
	 * reply.
	 */
	record WritesLost() implements HoldingEvent {

	}

	/**
	 * All shards in the reply to a heartbeat were reported.
	 *
	 * @param hasMore whether the next reply contains more
	 * @param claimsOpen whether members may still claim and present shards
	 */
	record HeartbeatAnswered(boolean hasMore, boolean claimsOpen, boolean leaseHeld) implements HoldingEvent {

	}

	/**
	 * The store answered a {@link HoldingAction.Claim} or {@link HoldingAction.Present}.
	 *
	 * @param superseded shards that were given to another member because the store had
	 * lost the ownership of this one
	 */
	record ClaimAnswered(Set<ShardId> granted, Set<ShardId> superseded) implements HoldingEvent {

	}

	/** The store did not reply to a claim. */
	record ClaimFailed() implements HoldingEvent {

	}

	/** A {@link HoldingAction.WriteBack} was carried out. */
	record WrittenBack() implements HoldingEvent {

	}

	/** The store does not know the session any more. */
	record SessionForgotten() implements HoldingEvent {

	}

	/**
	 * The member joined the group in a new session, whose heartbeats have not begun.
	 *
	 * @param leaseHeld whether the lease of the previous session has not ended
	 */
	record SessionJoined(boolean leaseHeld) implements HoldingEvent {

	}

	/** Session and lease have ended. */
	record SessionLost() implements HoldingEvent {

	}

	/** The member stopped without a lease: running shards cannot be written any more. */
	record MemberStopped() implements HoldingEvent {

	}

}
