package io.github.shardkeeper.protocol.leader;

import java.time.Duration;

import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.time.StoreClock;

/**
 * The store's time, and the start of the time in which heartbeats were answered without a
 * gap. A leader may judge the silence of others only over that time: an outage of the
 * store, a jump of its clock, or a restart on an old snapshot must not look like the
 * death of all members. Confined to the coordinator's loop.
 */
final class StoreContinuity {

	enum Finding {

		/** The clock and memory of the store agree with the previous replies. */
		STEADY,

		/** There was a gap, in which nobody may have reached the store. */
		GAP,

		/**
		 * There is no previous reply, or the store's clock has made a step: a period by
		 * that clock may not have passed in full.
		 */
		CLOCK_UNKNOWN,

		/** The store has lost its previous reply, and at least the writes since. */
		FORGOTTEN

	}

	/** Smallest difference that counts as a step of a clock. */
	private static final long SET_BACK_MILLIS = 100;

	private final StoreClock clock;

	private final Duration longestGap;

	private final long leaseMillis;

	private boolean started;

	private long sinceMillis;

	private long lastMillis;

	private long lastSetBacks;

	private MonotonicTime lastAnswered = new MonotonicTime(0);

	private Duration sinceLastReply = Duration.ZERO;

	/** Twice the heartbeat interval between two replies is a gap. */
	StoreContinuity(Duration heartbeatInterval, Duration lease) {
		this.longestGap = heartbeatInterval.multipliedBy(2);
		this.leaseMillis = lease.toMillis();
		this.clock = new StoreClock(Lease.marginOf(lease));
	}

	/** Compares set-backs, too: the clock may have been set forward again since. */
	Finding heartbeatAnswered(HeartbeatReply.Alive reply, MonotonicTime sentAt, MonotonicTime now) {
		long serverTimeMillis = reply.serverTimeMillis();
		long setBacks = reply.setBacks();
		// A clock that is set back also shortens leases.
		boolean forgotten = this.started && setBacks <= this.lastSetBacks && reply.ownLeaseEndMillis() < this.lastMillis
				+ this.leaseMillis - Math.max(SET_BACK_MILLIS, this.clock.tolerance().toMillis());
		Duration byServer = Duration.ofMillis(serverTimeMillis - this.lastMillis);
		Duration byMonotonic = this.lastAnswered.until(now);
		boolean gap = byServer.compareTo(this.longestGap) > 0 || byMonotonic.compareTo(this.longestGap) > 0;
		boolean step = this.clock.answered(sentAt, serverTimeMillis, now) || setBacks != this.lastSetBacks;
		boolean first = !this.started;
		if (first || gap || step || forgotten) {
			this.sinceMillis = serverTimeMillis;
			this.started = true;
		}
		this.lastMillis = serverTimeMillis;
		this.lastSetBacks = setBacks;
		this.lastAnswered = now;
		this.sinceLastReply = byMonotonic;
		if (forgotten) {
			return Finding.FORGOTTEN;
		}
		if (first || step) {
			return Finding.CLOCK_UNKNOWN;
		}
		return gap ? Finding.GAP : Finding.STEADY;
	}

	Duration sinceLastReply() {
		return this.sinceLastReply;
	}

	/** Returns whether the last reply is recent; an older one proves nothing. */
	boolean isRecent(MonotonicTime now) {
		return this.started && this.lastAnswered.until(now).compareTo(this.longestGap) <= 0;
	}

	void sessionLost() {
		this.started = false;
	}

	/** Returns the time over which silence proves something. */
	SteadyTime steadyTime(MonotonicTime now) {
		return new SteadyTime(this.sinceMillis, this.clock.earliestMillis(now), this.lastSetBacks);
	}

	/** Returns the latest time at which the store shows a time. */
	MonotonicTime reaches(long storeMillis) {
		return this.clock.reaches(storeMillis);
	}

	long lastStoreMillis() {
		return this.lastMillis;
	}

	MonotonicTime lastAnswered() {
		return this.lastAnswered;
	}

	/** Returns the store's time; early by the reply's transit time, never late. */
	long storeMillis(MonotonicTime now) {
		return this.lastMillis + this.lastAnswered.until(now).toMillis();
	}

	/** Returns when the store shows a time; late by the transit time, never early. */
	MonotonicTime at(long storeMillis) {
		return this.lastAnswered.plus(Duration.ofMillis(storeMillis - this.lastMillis + 1));
	}

}
