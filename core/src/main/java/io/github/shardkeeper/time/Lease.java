package io.github.shardkeeper.time;

import java.time.Duration;

/**
 * Time for which this member may consume after its last answered heartbeat. The store
 * counts it from the arrival of the heartbeat, the member by its own monotonic clock from
 * the sending, less a safety margin: it stops before another member may start. No record
 * is handed out shortly before the end, so that most calls return in time; a call that
 * still runs at the end is interrupted.
 * <p>
 * Thread-safe: one thread renews it, any thread reads it.
 */
public final class Lease {

	private final boolean unlimited;

	private final Duration margin;

	private final Duration untilEnd;

	private final Duration untilLastHandOut;

	private volatile Bounds bounds;

	private volatile boolean held;

	private volatile MonotonicTime heldSince;

	/**
	 * Creates a lease that is not held.
	 * @param length the length of the lease in the store
	 */
	public Lease(Duration length, MonotonicTime now) {
		this(length, now, false);
	}

	private Lease(Duration length, MonotonicTime now, boolean unlimited) {
		this.unlimited = unlimited;
		this.held = unlimited;
		this.margin = marginOf(length);
		this.untilEnd = length.minus(this.margin);
		this.untilLastHandOut = this.untilEnd.minus(this.margin);
		this.bounds = new Bounds(now, now);
		this.heldSince = now;
	}

	/** Returns a lease that is always held: only this member consumes the shards. */
	public static Lease unlimited() {
		return new Lease(Duration.ZERO, new MonotonicTime(0), true);
	}

	/** Returns a tenth of a lease, by which it ends earlier for its member. */
	public static Duration marginOf(Duration length) {
		return length.dividedBy(10);
	}

	/** Returns the time that disagreeing clocks may take from the lease. */
	public Duration margin() {
		return this.margin;
	}

	/**
	 * Renews the lease.
	 * @param sentAt the time at which the answered heartbeat was sent
	 * @param now the time of the renewal
	 */
	public void renew(MonotonicTime sentAt, MonotonicTime now) {
		requireLimited();
		if (!isHeld(now)) {
			// Before the bounds: a thread that reads those reads this time, too.
			this.heldSince = now;
		}
		this.bounds = new Bounds(sentAt.plus(this.untilLastHandOut), sentAt.plus(this.untilEnd));
		this.held = true;
	}

	/** Ends the lease immediately, because the store reports that the session is over. */
	public void end() {
		requireLimited();
		this.held = false;
	}

	private void requireLimited() {
		if (this.unlimited) {
			throw new IllegalStateException("An unlimited lease is neither renewed nor ended");
		}
	}

	/** Returns whether another record may be handed to a handler. */
	public boolean permitsHandOut(MonotonicTime now) {
		return this.unlimited || this.held && now.isBefore(this.bounds.lastHandOut);
	}

	/** Returns whether the lease has not ended, so that running calls may continue. */
	public boolean isHeld(MonotonicTime now) {
		return this.unlimited || this.held && now.isBefore(this.bounds.end);
	}

	/** Returns since when it is held without a break, if it is held. */
	public MonotonicTime heldSince() {
		return this.heldSince;
	}

	/** Returns whether the lease was ended, or never held: its bounds mean nothing. */
	public boolean isEnded() {
		return !this.held;
	}

	/**
	 * {@return when handing out ends, unless the lease is renewed or
	 * {@linkplain #isEnded() ended}}
	 */
	public MonotonicTime lastHandOutAt() {
		return this.bounds.lastHandOut;
	}

	/**
	 * {@return when the lease ends, unless it is renewed or was {@linkplain #isEnded()
	 * ended}}
	 */
	public MonotonicTime endsAt() {
		return this.bounds.end;
	}

	private record Bounds(MonotonicTime lastHandOut, MonotonicTime end) {

	}

}
