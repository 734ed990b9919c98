package io.github.shardkeeper.protocol;

import java.time.Duration;

import io.github.shardkeeper.protocol.LeaderAction.SteadyTime;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.time.StoreClock;

/**
 * This member's own contact with the store: the store's time, and since when heartbeats
 * were answered without a gap. Only over that time may a leader judge the silence of
 * others: an outage of the store must not look like the death of everybody, nor must a
 * jump of its clock, nor a store that has come back with what it knew minutes ago. Not
 * thread-safe: confined to the coordinator's loop.
 */
final class StoreContact {

	/** Result of comparing an answer with the ones before. */
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

	private Duration sinceLastAnswer = Duration.ZERO;

	/**
	 * Creates the contact before the first answer.
	 * @param heartbeatInterval interval of heartbeats; twice as long between two answers
	 * is a gap
	 * @param lease duration for which each answer renews the member's lease
	 */
	StoreContact(Duration heartbeatInterval, Duration lease) {
		this.longestGap = heartbeatInterval.multipliedBy(2);
		this.leaseMillis = lease.toMillis();
		this.clock = new StoreClock(Lease.marginOf(lease));
	}

	/**
	 * Takes in the answer to a heartbeat. How often the store has seen its clock set back
	 * is in the answer because the clock may have been put forward again since.
	 */
	Finding heartbeatAnswered(HeartbeatReply.Alive reply, MonotonicTime sentAt, MonotonicTime now) {
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
		this.sinceLastAnswer = byMonotonic;
		if (forgotten) {
			return Finding.FORGOTTEN;
		}
		if (first || step) {
			return Finding.CLOCK_UNKNOWN;
		}
		return gap ? Finding.GAP : Finding.STEADY;
	}

	/** Returns the time between the last answer and the one before. */
	Duration sinceLastAnswer() {
		return this.sinceLastAnswer;
	}

	/**
	 * Returns whether the last answer is not older than a gap may be; after that nothing
	 * can be said until the next one.
	 */
	boolean isRecent(MonotonicTime now) {
		return this.started && this.lastAnswered.until(now).compareTo(this.longestGap) <= 0;
	}

	/** Begins anew with the next answer. */
	void sessionLost() {
		this.started = false;
	}

	/** Returns the time over which silence proves something. */
	SteadyTime steadyTime(MonotonicTime now) {
		return new SteadyTime(this.sinceMillis, this.clock.earliestMillis(now), this.lastSetBacks);
	}

	/** Returns when a time of the store has come for certain. */
	MonotonicTime reaches(long storeMillis) {
		return this.clock.reaches(storeMillis);
	}

	/** Returns the store's time at the last answer. */
	long lastStoreMillis() {
		return this.lastMillis;
	}

	/** Returns when the last heartbeat was answered. */
	MonotonicTime lastAnswered() {
		return this.lastAnswered;
	}

	/**
	 * Returns the store's time. It is earlier than the real one by the answer's way back,
	 * never later.
	 */
	long storeMillis(MonotonicTime now) {
		return this.lastMillis + this.lastAnswered.until(now).toMillis();
	}

	/**
	 * Returns when a time of the store comes. It is later than the real point by the
	 * answer's way back, never earlier.
	 */
	MonotonicTime at(long storeMillis) {
		return this.lastAnswered.plus(Duration.ofMillis(storeMillis - this.lastMillis + 1));
	}

}
