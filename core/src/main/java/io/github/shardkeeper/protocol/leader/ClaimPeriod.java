package io.github.shardkeeper.protocol.leader;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The period in which no free shard is assigned: after lost writes the store takes an
 * owned shard for a free one until its owner claims it. A leader ends the period only
 * after every owner had a whole lease in which it could reach the store. Confined to the
 * coordinator's loop.
 */
final class ClaimPeriod {

	private final Duration lease;

	/** Longest lease in the group: an owner may notice lost writes that late. */
	private Duration longestLease;

	/** End in milliseconds of the store's time; 0 outside of a period. */
	private long endMillis;

	/** End by this process' clock: the store's clock may be set forward meanwhile. */
	private @Nullable MonotonicTime end;

	/** Whether the last reply was recent when the period could have ended. */
	private boolean watched;

	/** End of the time in which an owner unknown to the store may still consume. */
	private @Nullable MonotonicTime lostWritesUntil;

	ClaimPeriod(Duration lease) {
		this.lease = lease;
		this.longestLease = lease;
	}

	void heartbeatAnswered(HeartbeatReply.Alive reply, StoreContinuity.Finding finding, Duration sinceLastReply,
			MonotonicTime now) {
		this.longestLease = Duration.ofMillis(Math.max(this.lease.toMillis(), reply.longestLeaseMillis()));
		if (finding == StoreContinuity.Finding.FORGOTTEN) {
			// The store may have restarted on an old snapshot between two heartbeats.
			writesLost(now);
		}
		boolean wasOpen = this.endMillis != 0;
		MonotonicTime before = this.end;
		this.endMillis = reply.claimsUntilMillis();
		this.watched = true;
		if (this.endMillis == 0) {
			return;
		}
		MonotonicTime whole = now.plus(this.longestLease);
		this.end = latest(before, now.plus(Duration.ofMillis(this.endMillis - reply.serverTimeMillis())));
		if (finding == StoreContinuity.Finding.GAP && wasOpen && before != null) {
			// The store may have been unavailable, so that nobody could claim.
			MonotonicTime later = before.plus(sinceLastReply);
			this.end = latest(this.end, MonotonicTime.earliest(later, whole));
		}
		else if (finding != StoreContinuity.Finding.STEADY) {
			// The store's clock may have stepped over a part of the period.
			this.end = latest(this.end, whole);
		}
	}

	void writesLost(MonotonicTime now) {
		this.lostWritesUntil = now.plus(this.longestLease);
	}

	void sessionLost() {
		this.lostWritesUntil = null;
	}

	/** Waits for the next reply: members may be unable to claim now. */
	void storeUnavailable() {
		this.watched = false;
	}

	/** Returns when the leader may end the period; {@code null} while unknown. */
	@Nullable MonotonicTime endsAt() {
		return (this.endMillis != 0 && this.watched) ? latest(this.lostWritesUntil, this.end) : null;
	}

	long endMillis() {
		return this.endMillis;
	}

	void ended() {
		this.endMillis = 0;
	}

	/** Notes that the period has restarted; the next reply contains its end. */
	void restarted(MonotonicTime now) {
		this.end = now.plus(this.longestLease);
	}

	/** Returns when a free shard may be assigned, in the store's time; 0 for now. */
	long assignableMillis(MonotonicTime now, StoreContinuity continuity) {
		MonotonicTime until = latest(this.lostWritesUntil, this.end);
		if (until != null && now.isBefore(until)) {
			return Math.max(this.endMillis, continuity.storeMillis(until));
		}
		// The end of the period causes a plan immediately.
		return (this.endMillis != 0) ? continuity.storeMillis(now.plus(this.longestLease)) : 0;
	}

	private static @Nullable MonotonicTime latest(@Nullable MonotonicTime one, @Nullable MonotonicTime other) {
		if (one == null || other == null) {
			return (one != null) ? one : other;
		}
		return one.isBefore(other) ? other : one;
	}

}
