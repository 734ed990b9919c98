package io.github.shardkeeper.cluster.barrier;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Answer;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Busy;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Paused;
import io.github.shardkeeper.cluster.barrier.BarrierStore.ViewChanged;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Waiting;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A request to enter or to leave, from the first question to the answer that ends it.
 * Whoever waits calls {@link #attempt}, sleeps until it is woken or until
 * {@link #attemptAt()}, and calls it again. Only waking, and what {@link #last()} and
 * {@link #failure()} return, is thread-safe.
 */
final class BarrierRequest {

	private static final Duration RETRY_PAUSE = Duration.ofMillis(250);

	private final ClusterSession session;

	private final String barrier;

	private final Function<MemberId, Answer> question;

	private final long view;

	private final Runnable wakeUp;

	/** The only session in which it is asked; {@code null} before the first question. */
	private @Nullable MemberId askedAs;

	private volatile @Nullable Answer last;

	private volatile @Nullable StoreUnavailableException failure;

	private @Nullable MonotonicTime attemptAt;

	private volatile boolean due = true;

	private volatile boolean woken;

	/**
	 * Creates a request that is not asked yet.
	 * @param askAs the session in which to ask; {@code null} for the current one
	 * @param view the number of the view of the round; 0 for none
	 * @param question asks the store; repeatable
	 * @param wakeUp wakes whoever waits
	 */
	BarrierRequest(ClusterSession session, String barrier, @Nullable MemberId askAs, long view,
			Function<MemberId, Answer> question, Runnable wakeUp) {
		this.session = session;
		this.barrier = barrier;
		this.askedAs = askAs;
		this.view = view;
		this.question = question;
		this.wakeUp = wakeUp;
	}

	/** Returns the session in which it was asked; {@code null} for none. */
	@Nullable MemberId askedAs() {
		return this.askedAs;
	}

	/** Returns the last answer, whether it ends the request or not. */
	@Nullable Answer last() {
		return this.last;
	}

	/**
	 * Returns why the last question had no answer; {@code null} if it had one.
	 */
	@Nullable StoreUnavailableException failure() {
		return this.failure;
	}

	/**
	 * Asks the store, if there is something to ask.
	 * @return the answer that ends the request; {@code null} if it has to wait
	 * @throws BarrierBrokenException if the session in which it was asked is over
	 * @throws StoreUnavailableException if the store does not answer or refuses; unless
	 * it was refused, it may have been done
	 */
	@Nullable Answer attempt() {
		this.woken = false;
		MonotonicTime at = this.attemptAt;
		this.attemptAt = null;
		MemberId asked = this.askedAs;
		if (asked != null && !this.session.continues(asked)) {
			throw sessionEnded(asked);
		}
		MemberId member = this.session.member();
		if (member == null || asked != null && !asked.equals(member)) {
			// The lease, or the end of the session, wakes it.
			return null;
		}
		MonotonicTime now = this.session.clock().now();
		if (!this.due && (at == null || now.isBefore(at))) {
			this.attemptAt = at;
			return null;
		}
		this.due = false;
		this.askedAs = member;
		Answer answer;
		try {
			answer = this.question.apply(member);
		}
		catch (StoreUnavailableException ex) {
			this.failure = ex;
			this.attemptAt = now.plus(RETRY_PAUSE);
			throw ex;
		}
		this.failure = null;
		this.last = answer;
		if (answer instanceof Paused paused) {
			this.attemptAt = now.plus(Duration.ofMillis(paused.millis()));
			return null;
		}
		if (answer instanceof ViewChanged && this.session.view().number() == this.view) {
			// Whoever retries at once is to find the new view.
			this.attemptAt = now.plus(RETRY_PAUSE);
			this.session.requestCatchUp();
			return null;
		}
		return (answer instanceof Waiting || answer instanceof Busy) ? null : answer;
	}

	private BarrierBrokenException sessionEnded(MemberId ended) {
		return new BarrierBrokenException(
				"The session %s of this instance has ended, and with it its place in the barrier '%s'".formatted(ended,
						this.barrier),
				List.of(ended));
	}

	/**
	 * Returns when to call {@link #attempt} at the latest; {@code null} for not before it
	 * is woken.
	 */
	@Nullable MonotonicTime attemptAt() {
		return this.attemptAt;
	}

	/** Returns whether to call {@link #attempt} now. */
	boolean isWoken() {
		return this.woken;
	}

	/** The answer may be another one now. Thread-safe. */
	void askAgain() {
		this.due = true;
		wake();
	}

	/** The session may have changed. Thread-safe. */
	void wake() {
		this.woken = true;
		this.wakeUp.run();
	}

}
