package io.github.shardkeeper.cluster.session;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A request that waits at the store: it is put to the store again when a message, the
 * session or the time gives a reason to, until a reply ends it. A thread calls
 * {@link #await}; a caller that must not block calls {@link #attempt} each time that it
 * is woken or {@link #attemptAt()} has come. Only waking is thread-safe.
 *
 * @param <A> what ends it
 */
public abstract class RetryingRequest<A> {

	/** Pause after an attempt that had no reply. */
	protected static final Duration RETRY_PAUSE = Duration.ofMillis(250);

	/** Time between two looks whether there can be a session at all. */
	private static final Duration SESSION_CHECK = Duration.ofSeconds(1);

	private static final Logger logger = PrintableLogger.of(RetryingRequest.class);

	private final ClusterSession session;

	private final String purpose;

	private final Runnable wakeUp;

	private @Nullable MonotonicTime attemptAt;

	private volatile boolean woken;

	/**
	 * Creates a request that is not put to the store yet.
	 * @param purpose what it is for, in messages, for example {@code enter the barrier}
	 * @param wakeUp called when it is woken, on any thread
	 */
	protected RetryingRequest(ClusterSession session, String purpose, Runnable wakeUp) {
		this.session = session;
		this.purpose = purpose;
		this.wakeUp = wakeUp;
	}

	/**
	 * Puts it to the store, if there is a reason to.
	 * @return what ends it; {@code null} to wait until it is woken, or for the time given
	 * to {@link #attemptAt(MonotonicTime)}
	 * @throws StoreUnavailableException if the store does not reply or refuses
	 */
	protected abstract @Nullable A ask();

	/** Has the next attempt made at a time, unless it is woken before. */
	protected final void attemptAt(@Nullable MonotonicTime time) {
		this.attemptAt = time;
	}

	/**
	 * Makes one attempt.
	 * @return what ends it; {@code null} if it has to wait
	 * @throws StoreUnavailableException if the store does not reply or refuses; unless it
	 * was refused, it may have been done
	 */
	public final @Nullable A attempt() {
		this.woken = false;
		this.attemptAt = null;
		return ask();
	}

	/**
	 * Returns when to call {@link #attempt} at the latest; {@code null} for not before it
	 * is woken.
	 */
	public final @Nullable MonotonicTime attemptAt() {
		return this.attemptAt;
	}

	/** Returns whether to call {@link #attempt} now. */
	public final boolean isWoken() {
		return this.woken;
	}

	/** The session may have changed, or the store may reply otherwise. Thread-safe. */
	public final void wake() {
		this.woken = true;
		this.wakeUp.run();
	}

	/**
	 * Waits for the end; makes at least one attempt. {@code wakeUp} has to unpark the
	 * thread.
	 * @param deadline until when to wait; {@code null} for ever
	 * @return what ends it; {@code null} if the deadline has passed
	 * @throws StoreUnavailableException if the store refuses
	 * @throws IllegalStateException if there is no session and there will be none
	 */
	public final @Nullable A await(@Nullable MonotonicTime deadline) throws InterruptedException {
		while (true) {
			A reply = attemptUnlessUnavailable();
			if (reply != null) {
				return reply;
			}
			while (!this.woken) {
				if (Thread.interrupted()) {
					throw new InterruptedException();
				}
				MonotonicTime now = this.session.clock().now();
				if (deadline != null && !now.isBefore(deadline)) {
					return null;
				}
				MonotonicTime sessionCheck = null;
				if (this.session.member() == null) {
					requireStarted();
					sessionCheck = now.plus(SESSION_CHECK);
				}
				MonotonicTime next = MonotonicTime.earliestOf(deadline, this.attemptAt, sessionCheck);
				if (next == null) {
					LockSupport.park(this);
				}
				else if (now.isBefore(next)) {
					LockSupport.parkNanos(this, now.until(next).toNanos());
				}
				else {
					break;
				}
			}
		}
	}

	private @Nullable A attemptUnlessUnavailable() {
		try {
			return attempt();
		}
		catch (StoreUnavailableException ex) {
			if (ex.isRefusal()) {
				throw ex;
			}
			logger.debug("Cannot {} yet", this.purpose, ex);
			return null;
		}
	}

	private void requireStarted() {
		if (!this.session.isStarted()) {
			throw new IllegalStateException(("Cannot %s before the application has started, or after it has stopped: "
					+ "this instance is no member of group '%s' then")
				.formatted(this.purpose, this.session.group()));
		}
	}

}
