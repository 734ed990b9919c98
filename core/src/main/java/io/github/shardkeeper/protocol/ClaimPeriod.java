package io.github.shardkeeper.protocol;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * The time for claims, in which no free shard is assigned: after lost writes the store
 * takes an owned shard for a free one, until its owner claims it. A leader ends it only
 * after every owner had a whole lease in which it could reach the store. Not thread-safe:
 * confined to the coordinator's loop.
 */
final class ClaimPeriod {

	private final Duration lease;

	/** Longest lease in the group: its owner may hear of lost writes no earlier. */
	private Duration longestLease;

	/** End in milliseconds of the store's time; 0 while there is no time for claims. */
	private long endMillis;

	/**
	 * End by this process' clock: the store's clock may be put forward meanwhile.
	 */
	private @Nullable MonotonicTime end;

	/** Whether the last answer was recent when the period could have ended. */
	private boolean watched;

	/**
	 * End of the time in which an owner that the store does not know may still consume,
	 * because this member has found lost writes.
	 */
	private @Nullable MonotonicTime lostWritesUntil;

	ClaimPeriod(Duration lease) {
		this.lease = lease;
		this.longestLease = lease;
	}

	/** Takes in the answer to a heartbeat. */
	void heartbeatAnswered(HeartbeatReply.Alive reply, StoreContact.Finding finding, Duration sinceLastAnswer,
			MonotonicTime now) {
		this.longestLease = Duration.ofMillis(Math.max(this.lease.toMillis(), reply.longestLeaseMillis()));
		if (finding == StoreContact.Finding.FORGOTTEN) {
			// A restart on an old snapshot may be over between two heartbeats.
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
		if (finding == StoreContact.Finding.GAP && wasOpen && before != null) {
			// The store may have been away, and nobody could claim.
			MonotonicTime later = before.plus(sinceLastAnswer);
			this.end = latest(this.end, MonotonicTime.earliest(later, whole));
		}
		else if (finding != StoreContact.Finding.STEADY) {
			// The store's clock may have stepped over a part of it.
			this.end = latest(this.end, whole);
		}
	}

	/**
	 * Notes that this member has seen what the store does not know any more.
	 */
	void writesLost(MonotonicTime now) {
		this.lostWritesUntil = now.plus(this.longestLease);
	}

	/** Forgets what was seen in the last session. */
	void sessionLost() {
		this.lostWritesUntil = null;
	}

	/** Waits for the next answer, because nobody may be able to claim now. */
	void storeUnavailable() {
		this.watched = false;
	}

	/** Returns when the leader may end it; {@code null} while that is not known. */
	@Nullable MonotonicTime endsAt() {
		return (this.endMillis != 0 && this.watched) ? latest(this.lostWritesUntil, this.end) : null;
	}

	long endMillis() {
		return this.endMillis;
	}

	/** Notes that the leader has ended it. */
	void ended() {
		this.endMillis = 0;
	}

	/** Notes that it has begun again; the next answer tells until when it lasts. */
	void restarted(MonotonicTime now) {
		this.end = now.plus(this.longestLease);
	}

	/** Returns from when a free shard may be assigned, in the store's time; 0 for now. */
	long assignableMillis(MonotonicTime now, StoreContact contact) {
		MonotonicTime until = latest(this.lostWritesUntil, this.end);
		if (until != null && now.isBefore(until)) {
			return Math.max(this.endMillis, contact.storeMillis(until));
		}
		// When it is ended, there is a plan at once.
		return (this.endMillis != 0) ? contact.storeMillis(now.plus(this.longestLease)) : 0;
	}

	private static @Nullable MonotonicTime latest(@Nullable MonotonicTime one, @Nullable MonotonicTime other) {
		if (one == null || other == null) {
			return (one != null) ? one : other;
		}
		return one.isBefore(other) ? other : one;
	}

}
