package io.github.shardkeeper.time;

import java.time.Duration;

/**
 * Time for which this member may consume after its last answered heartbeat, by its own
 * monotonic clock.
 * <p>
 * The store counts the lease from the arrival of the heartbeat, the member from its
 * sending, less a safety margin: it stops before another member may start. No record is
 * handed to a handler shortly before the end, so that most calls return in time; a call
 * that still runs at the end is interrupted.
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

	/**
	 * Creates a lease that is not held.
	 * @param length the length of the lease in the store
	 * @param now the current time
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
	}

	/**
	 * Creates a lease for shards that only this member consumes. It is always held, and
	 * neither renewed nor ended.
	 * @return the lease
	 */
	public static Lease unlimited() {
		return new Lease(Duration.ZERO, new MonotonicTime(0), true);
	}

	/**
	 * Returns the time between the end of a lease for its member and its end in the
	 * store, for clocks that disagree.
	 * @param length the length of the lease in the store
	 * @return a tenth of it
	 */
	public static Duration marginOf(Duration length) {
		return length.dividedBy(10);
	}

	/**
	 * Returns the time that disagreeing clocks may take from the lease.
	 * @return the margin
	 */
	public Duration margin() {
		return this.margin;
	}

	/**
	 * Renews the lease from an answered heartbeat.
	 * @param sentAt the time at which the heartbeat was sent
	 */
	public void renew(MonotonicTime sentAt) {
		requireLimited();
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

	/**
	 * Returns whether another record may be handed to a handler.
	 * @param now the current time
	 * @return whether it may
	 */
	public boolean permitsHandOut(MonotonicTime now) {
		return this.unlimited || this.held && now.isBefore(this.bounds.lastHandOut);
	}

	/**
	 * Returns whether the lease has not ended.
	 * @param now the current time
	 * @return whether running calls may continue
	 */
	public boolean isHeld(MonotonicTime now) {
		return this.unlimited || this.held && now.isBefore(this.bounds.end);
	}

	/**
	 * Returns whether the lease was ended before its time, or never held.
	 * @return whether its bounds have no meaning
	 */
	public boolean isEnded() {
		return !this.held;
	}

	/**
	 * Returns the time from which no record is handed out, unless the lease is renewed.
	 * @return the time, if the lease was not {@linkplain #isEnded() ended}
	 */
	public MonotonicTime lastHandOutAt() {
		return this.bounds.lastHandOut;
	}

	/**
	 * Returns the end of the lease, unless it is renewed.
	 * @return the time, if the lease was not {@linkplain #isEnded() ended}
	 */
	public MonotonicTime endsAt() {
		return this.bounds.end;
	}

	private record Bounds(MonotonicTime lastHandOut, MonotonicTime end) {

	}

}
