package io.github.shardkeeper.time;

import java.time.Duration;

/**
 * How long this member may consume after its last answered heartbeat, by its own
 * monotonic clock.
 * <p>
 * The store counts the lease from when it saw the heartbeat, this member from when it
 * sent it, less a safety margin: it stops before anybody else may start. Some time before
 * the end no further record is handed to a handler, so that most calls return by
 * themselves; one that still runs at the end is interrupted.
 * <p>
 * Thread-safe: one thread renews it, any thread asks.
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
	 * @param length the lease that the store knows
	 * @param now the time of the creation
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
	 * Creates a lease for shards that nobody else consumes in this member's place. It is
	 * always held, and neither renewed nor ended.
	 * @return the lease
	 */
	public static Lease unlimited() {
		return new Lease(Duration.ZERO, new MonotonicTime(0), true);
	}

	/**
	 * Returns how long before the store a member ends its lease, for clocks that do not
	 * agree.
	 * @param length the lease that the store knows
	 * @return a tenth of it
	 */
	public static Duration marginOf(Duration length) {
		return length.dividedBy(10);
	}

	/**
	 * Returns what clocks that do not agree may take from the lease.
	 * @return the margin
	 */
	public Duration margin() {
		return this.margin;
	}

	/**
	 * Counts the lease from a heartbeat that was answered.
	 * @param sentAt when that heartbeat was sent
	 */
	public void renew(MonotonicTime sentAt) {
		requireLimited();
		this.bounds = new Bounds(sentAt.plus(this.untilLastHandOut), sentAt.plus(this.untilEnd));
		this.held = true;
	}

	/**
	 * Ends the lease at once, when the store said that the session is over.
	 */
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
	 * Returns whether a further record may be handed to a handler.
	 * @param now the time
	 * @return whether it may
	 */
	public boolean permitsHandOut(MonotonicTime now) {
		return this.unlimited || this.held && now.isBefore(this.bounds.lastHandOut);
	}

	/**
	 * Returns whether the lease has not ended.
	 * @param now the time
	 * @return whether calls that run may go on
	 */
	public boolean isHeld(MonotonicTime now) {
		return this.unlimited || this.held && now.isBefore(this.bounds.end);
	}

	/**
	 * Returns whether the lease was ended before its time, or never held.
	 * @return whether its bounds mean nothing
	 */
	public boolean isEnded() {
		return !this.held;
	}

	/**
	 * Returns when records are no longer handed out if the lease is not renewed.
	 * @return the end of handing out, if the lease was not {@linkplain #isEnded() ended}
	 */
	public MonotonicTime lastHandOutAt() {
		return this.bounds.lastHandOut;
	}

	/**
	 * Returns when the lease ends if it is not renewed.
	 * @return the end, if the lease was not {@linkplain #isEnded() ended}
	 */
	public MonotonicTime endsAt() {
		return this.bounds.end;
	}

	private record Bounds(MonotonicTime lastHandOut, MonotonicTime end) {

	}

}
