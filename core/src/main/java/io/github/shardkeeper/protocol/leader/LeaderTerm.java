package io.github.shardkeeper.protocol.leader;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * What a member learns of its leadership by the replies to its heartbeats: whether it
 * leads, whether the store has lost writes, when a claim period ends, and when to look
 * for dead members. Confined to the coordinator's loop.
 */
final class LeaderTerm {

	private static final Duration REAP_PAUSE = Duration.ofMillis(5);

	private final StoreContinuity continuity;

	private final ClaimPeriod claims;

	/** Number of the leadership; 0 if the member does not lead. */
	private long epoch;

	private long history;

	/** Highest generation seen in that history. */
	private long generationSeen;

	private @Nullable MonotonicTime readAt;

	/** Whether the picture of the group may contain changes that the store has lost. */
	private boolean lossSuspected;

	private @Nullable MonotonicTime reapAt;

	/** Whether shards of dead members are still to be freed. */
	private boolean freeing;

	LeaderTerm(Duration heartbeatInterval, Duration lease) {
		this.continuity = new StoreContinuity(heartbeatInterval, lease);
		this.claims = new ClaimPeriod(lease);
	}

	/** Takes in a reply, and returns what follows for the picture of the group. */
	Finding heartbeatAnswered(HeartbeatReply.Alive reply, MemberId self, MonotonicTime sentAt, MonotonicTime now) {
		StoreContinuity.Finding found = this.continuity.heartbeatAnswered(reply, sentAt, now);
		this.lossSuspected |= found == StoreContinuity.Finding.FORGOTTEN;
		this.claims.heartbeatAnswered(reply, found, this.continuity.sinceLastReply(), now);
		if (!self.equals(reply.leader())) {
			return Finding.DEPOSED;
		}
		Finding finding = Finding.LEADS;
		if (reply.epoch() != this.epoch) {
			this.epoch = reply.epoch();
			finding = Finding.ELECTED;
		}
		else if (reply.history() != this.history) {
			// Another member has noticed lost writes.
			finding = Finding.PICTURE_OUTDATED;
		}
		else if (reply.generation() < this.generationSeen && this.readAt != null && this.readAt.isBefore(sentAt)) {
			// The picture already contains the replies to heartbeats sent before it was
			// read.
			writesLost(reply.generation(), now);
			finding = Finding.WRITES_LOST;
		}
		this.generationSeen = (reply.history() == this.history) ? Math.max(this.generationSeen, reply.generation())
				: reply.generation();
		this.history = reply.history();
		this.reapAt = this.continuity.reaches(reply.earliestLeaseEndMillis());
		return finding;
	}

	/** Notes that a heartbeat failed: a failover may have lost what the picture has. */
	void heartbeatFailed() {
		this.lossSuspected = true;
	}

	/** Returns once whether the whole group has to be read again. */
	boolean takeLossSuspected() {
		boolean suspected = this.lossSuspected;
		this.lossSuspected = false;
		return suspected;
	}

	/** Returns whether changes are not older than what is known; otherwise notes that. */
	boolean groupRead(long generation, MonotonicTime now) {
		if (generation < this.generationSeen) {
			writesLost(generation, now);
			return false;
		}
		this.readAt = now;
		this.generationSeen = generation;
		return true;
	}

	/** Assigns nothing until the next heartbeats of other members notice the loss. */
	private void writesLost(long generation, MonotonicTime now) {
		this.claims.writesLost(now);
		this.generationSeen = generation;
	}

	void deposed() {
		this.epoch = 0;
		this.reapAt = null;
		this.freeing = false;
	}

	void sessionLost() {
		deposed();
		this.claims.sessionLost();
		this.generationSeen = 0;
		this.continuity.sessionLost();
	}

	/** Returns whether shards of dead members are free now, and can be planned. */
	boolean reaped(ReapReply.Looked looked, MonotonicTime now) {
		boolean found = !looked.dead().isEmpty() || !looked.timedOut().isEmpty();
		this.reapAt = (looked.nextLookMillis() != 0) ? this.continuity.reaches(looked.nextLookMillis()) : null;
		boolean more = MonotonicTime.isReached(this.reapAt, now);
		if (more && !found) {
			// Shards of dead members remain, or the store's clock was set back a little.
			this.reapAt = now.plus(REAP_PAUSE);
		}
		boolean freed = found || this.freeing && !more;
		this.freeing = more;
		return freed;
	}

	/** Takes in a reply unless the member was deposed; returns whether it has ended. */
	boolean claimsEnded(EndClaimsReply reply, MonotonicTime now) {
		if (reply == EndClaimsReply.ENDED) {
			this.claims.ended();
			return true;
		}
		this.claims.restarted(now);
		return false;
	}

	/** Returns the action that is due; {@code null} for none. */
	@Nullable LeaderAction next(MonotonicTime now) {
		if (!this.continuity.isRecent(now)) {
			// The store may be unavailable: the next reply ends the wait.
			waitForContact(now);
		}
		if (MonotonicTime.isReached(this.claims.endsAt(), now)) {
			return new LeaderAction.EndClaims(this.epoch, this.claims.endMillis());
		}
		return MonotonicTime.isReached(this.reapAt, now)
				? new LeaderAction.ReapDeadMembers(this.epoch, this.continuity.steadyTime(now)) : null;
	}

	private void waitForContact(MonotonicTime now) {
		if (MonotonicTime.isReached(this.reapAt, now)) {
			this.reapAt = null;
		}
		if (MonotonicTime.isReached(this.claims.endsAt(), now)) {
			this.claims.storeUnavailable();
		}
	}

	@Nullable MonotonicTime wakeAt() {
		return MonotonicTime.earliestOf(this.reapAt, this.claims.endsAt());
	}

	boolean leads() {
		return this.epoch != 0;
	}

	long epoch() {
		return this.epoch;
	}

	boolean isFreeing() {
		return this.freeing;
	}

	/** Returns whether members claim what they hold, because the store has lost it. */
	boolean isClaiming() {
		return this.claims.endMillis() != 0;
	}

	/** Returns when a free shard may be assigned, in the store's time; 0 for now. */
	long assignableMillis(MonotonicTime now) {
		return this.claims.assignableMillis(now, this.continuity);
	}

	StoreContinuity continuity() {
		return this.continuity;
	}

	/** What a reply to a heartbeat means for the picture of the group. */
	enum Finding {

		/** Another member leads. */
		DEPOSED,

		/** The member leads since this reply. */
		ELECTED,

		/** The store has lost writes, which another member has noticed. */
		PICTURE_OUTDATED,

		/** The store has lost writes, and only this member knows. */
		WRITES_LOST,

		/** The member leads as before. */
		LEADS

	}

}
