package io.github.shardkeeper.cluster.barrier;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Busy;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Paused;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Reply;
import io.github.shardkeeper.cluster.barrier.BarrierStore.ViewChanged;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Waiting;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.RetryingRequest;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A request to enter or to leave, until a reply ends it. Only waking, and what
 * {@link #last()} and {@link #failure()} return, is thread-safe.
 */
final class BarrierRequest extends RetryingRequest<Reply> {

	private final ClusterSession session;

	private final String barrier;

	private final Function<MemberId, Reply> question;

	private final long view;

	/** The only session in which it is asked; {@code null} before the first question. */
	private @Nullable MemberId askedAs;

	private volatile @Nullable Reply last;

	private volatile @Nullable StoreUnavailableException failure;

	private @Nullable MonotonicTime askAt;

	private volatile boolean due = true;

	/**
	 * Creates a request that is not asked yet.
	 * @param purpose {@code enter} or {@code leave}
	 * @param askAs the session in which to ask; {@code null} for the current one
	 * @param view the number of the view of the round; 0 for none
	 * @param question asks the store; repeatable
	 * @param wakeUp wakes the caller
	 */
	BarrierRequest(ClusterSession session, String purpose, String barrier, @Nullable MemberId askAs, long view,
			Function<MemberId, Reply> question, Runnable wakeUp) {
		super(session, "%s the barrier '%s'".formatted(purpose, barrier), wakeUp);
		this.session = session;
		this.barrier = barrier;
		this.askedAs = askAs;
		this.view = view;
		this.question = question;
	}

	/** Returns the session in which it was asked; {@code null} for none. */
	@Nullable MemberId askedAs() {
		return this.askedAs;
	}

	/** Returns the last reply, whether it ends the request or not. */
	@Nullable Reply last() {
		return this.last;
	}

	/**
	 * Returns why the last question had no reply; {@code null} if it had one.
	 */
	@Nullable StoreUnavailableException failure() {
		return this.failure;
	}

	/**
	 * {@inheritDoc}
	 * @throws BarrierBrokenException if the session in which it was asked is over
	 */
	@Override
	protected @Nullable Reply ask() {
		MonotonicTime at = this.askAt;
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
			attemptAt(at);
			return null;
		}
		this.due = false;
		this.askAt = null;
		this.askedAs = member;
		Reply reply;
		try {
			reply = this.question.apply(member);
		}
		catch (StoreUnavailableException ex) {
			this.failure = ex;
			askAt(now.plus(RETRY_PAUSE));
			throw ex;
		}
		this.failure = null;
		this.last = reply;
		if (reply instanceof Paused paused) {
			askAt(now.plus(Duration.ofMillis(paused.millis())));
			return null;
		}
		if (reply instanceof ViewChanged && this.session.view().number() == this.view) {
			// A retry at once is to find the new view.
			askAt(now.plus(RETRY_PAUSE));
			this.session.requestCatchUp();
			return null;
		}
		return (reply instanceof Waiting || reply instanceof Busy) ? null : reply;
	}

	private BarrierBrokenException sessionEnded(MemberId ended) {
		return new BarrierBrokenException(
				"The session %s of this instance has ended, and with it its place in the barrier '%s'".formatted(ended,
						this.barrier),
				List.of(ended));
	}

	private void askAt(MonotonicTime time) {
		this.askAt = time;
		attemptAt(time);
	}

	/** The reply may be another one now. Thread-safe. */
	void askAgain() {
		this.due = true;
		wake();
	}

}
