package io.github.shardkeeper.handover;

import java.time.Duration;

/**
 * Since when this member's own heartbeats have been answered without a gap: the only time
 * over which it may judge the silence of others. An outage of the store must not look
 * like the death of everybody, nor must a jump of its clock, nor a store that has come
 * back with what it knew minutes ago. Not thread-safe: confined to the coordinator's
 * loop.
 */
final class Steadiness {

	/** What an answer shows beside the ones before. */
	enum Finding {

		/** The store's clock and what it remembers go with the answers before. */
		STEADY,

		/** There was a gap, in which nobody may have reached the store. */
		GAP,

		/**
		 * There is no answer before, or the store's clock has made a step: nobody knows
		 * how much of a time that is over by that clock there really was.
		 */
		CLOCK_UNKNOWN,

		/**
		 * The store has forgotten that it answered the one before: so much was lost at
		 * least, also where nothing else tells.
		 */
		FORGOTTEN

	}

	/** Less is no step of a clock. */
	private static final long SET_BACK_MILLIS = 100;

	private final StoreClock clock;

	private final Duration longestGap;

	private final long leaseMillis;

	private boolean started;

	private long sinceMillis;

	private long lastMillis;

	private long lastSetBacks;

	private MonotonicTime lastAnswered = new MonotonicTime(0);

	/**
	 * Creates it.
	 * @param heartbeatInterval twice this between two answers is a gap
	 * @param lease for how long each of them renews the member's lease
	 */
	Steadiness(Duration heartbeatInterval, Duration lease) {
		this.longestGap = heartbeatInterval.multipliedBy(2);
		this.leaseMillis = lease.toMillis();
		this.clock = new StoreClock(Lease.marginOf(lease));
	}

	/**
	 * A heartbeat was answered. How often the store has seen its clock set back is in the
	 * answer because it may have been put forward again before.
	 * @return what it shows
	 */
	Finding answered(HeartbeatReply.Alive reply, MonotonicTime sentAt, MonotonicTime now) {
		long serverTimeMillis = reply.serverTimeMillis();
		long setBacks = reply.setBacks();
		// A clock that is set back takes time from leases, too.
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
		if (forgotten) {
			return Finding.FORGOTTEN;
		}
		if (first || step) {
			return Finding.CLOCK_UNKNOWN;
		}
		return gap ? Finding.GAP : Finding.STEADY;
	}

	/**
	 * Whether the last answer is not older than a gap may be; after that nothing can be
	 * said until the next one.
	 */
	boolean isRecent(MonotonicTime now) {
		return this.started && this.lastAnswered.until(now).compareTo(this.longestGap) <= 0;
	}

	void restart() {
		this.started = false;
	}

	/** The time over which silence proves something. */
	SteadyTime at(MonotonicTime now) {
		return new SteadyTime(this.sinceMillis, this.clock.earliestMillis(now), this.lastSetBacks);
	}

	/** When a time of the store has come for certain. */
	MonotonicTime reaches(long storeMillis) {
		return this.clock.reaches(storeMillis);
	}

}
