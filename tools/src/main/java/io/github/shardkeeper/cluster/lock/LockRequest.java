package io.github.shardkeeper.cluster.lock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.lock.LockStore.Outcome;
import io.github.shardkeeper.cluster.lock.LockStore.Reply;
import io.github.shardkeeper.cluster.lock.LockStore.Request;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.RetryingRequest;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/** A request for a lock, until the lock is held. Only waking is thread-safe. */
final class LockRequest extends RetryingRequest<Hold> {

	private final ClusterSession session;

	private final LockStore store;

	private final String lock;

	private final String ticket;

	private final Duration atLeast;

	private final Duration atMost;

	private final boolean waits;

	private final Runnable onNoReply;

	/** The session in which the ticket waits; {@code null} for none. */
	private volatile @Nullable MemberId askedAs;

	private volatile @Nullable Granted granted;

	/** Whether the store may have granted it unheard. */
	private boolean doubtful;

	/**
	 * Whether the store did not know the session, or its lease, when it answered last.
	 */
	private boolean withoutSession;

	private volatile @Nullable MonotonicTime toldToAskAt;

	LockRequest(ClusterSession session, LockStore store, String lock, String ticket, Duration atLeast, Duration atMost,
			boolean waits, Runnable wakeUp, Runnable onNoReply) {
		super(session, "acquire the lock '" + lock + "'", wakeUp);
		this.session = session;
		this.store = store;
		this.lock = lock;
		this.ticket = ticket;
		this.atLeast = atLeast;
		this.atMost = atMost;
		this.waits = waits;
		this.onNoReply = onNoReply;
	}

	String lock() {
		return this.lock;
	}

	String ticket() {
		return this.ticket;
	}

	/**
	 * Returns the session in which it may be known to the store; {@code null} for none.
	 */
	@Nullable MemberId askedAs() {
		return this.askedAs;
	}

	/** Returns whether it waits at the store, in a session. Thread-safe. */
	boolean waitsIn(MemberId member) {
		return this.waits && member.equals(this.askedAs);
	}

	/** Returns whether the store may have granted it although the last attempt failed. */
	boolean isDoubtful() {
		return this.doubtful;
	}

	/** Returns whether there was no session, or not its lease, at the last attempt. */
	boolean isWithoutSession() {
		return this.askedAs == null || this.withoutSession;
	}

	@Override
	protected @Nullable Hold ask() {
		MonotonicTime now = this.session.clock().now();
		MemberId member = this.session.member();
		if (member == null) {
			// The next session, or the same one with its lease, wakes it.
			return null;
		}
		Granted told = this.granted;
		if (told != null && told.session().equals(member) && this.atMost.isZero()) {
			return new Hold(this.lock, this.ticket, member, told.token(), null);
		}
		MonotonicTime askAt = this.toldToAskAt;
		boolean due = told != null || !member.equals(this.askedAs) || askAt != null && !now.isBefore(askAt);
		if (!due) {
			attemptAt(askAt);
			return null;
		}
		this.toldToAskAt = null;
		// Until the reply is known.
		this.granted = null;
		this.askedAs = member;
		this.doubtful = true;
		Reply reply;
		try {
			reply = this.store
				.acquire(new Request(member, this.lock, this.ticket, this.atLeast, this.atMost, this.waits));
		}
		catch (StoreUnavailableException ex) {
			this.onNoReply.run();
			askAgainIn(RETRY_PAUSE);
			throw ex;
		}
		this.doubtful = reply.outcome() == Outcome.GRANTED;
		this.withoutSession = reply.outcome() == Outcome.NO_SESSION;
		switch (reply.outcome()) {
			case GRANTED -> {
				Hold hold = new Hold(this.lock, this.ticket, member, reply.token(),
						(reply.millis() < 0) ? null : now.plus(Duration.ofMillis(reply.millis())));
				if (hold.hasEnded(this.session.clock().now())) {
					// The reply was on its way for longer.
					askAgainIn(Duration.ZERO);
					return null;
				}
				if (this.session.isHeld(member)) {
					return hold;
				}
				// It is held, but nothing may be done: ask again when the lease is back.
				this.granted = new Granted(member, reply.token());
			}
			case HELD -> {
				if (reply.millis() >= 0) {
					askAgainIn(Duration.ofMillis(reply.millis() + 1));
				}
			}
			case NO_SESSION -> askAgainIn(RETRY_PAUSE);
		}
		return null;
	}

	private void askAgainIn(Duration pause) {
		MonotonicTime at = this.session.clock().now().plus(pause);
		this.toldToAskAt = at;
		attemptAt(at);
	}

	/** The store has told that the ticket holds the lock. Thread-safe. */
	void granted(MemberId session, Token token) {
		this.granted = new Granted(session, token);
		wake();
	}

	/** The store has told that the lock may be free after a time. Thread-safe. */
	void freeIn(Duration time) {
		this.toldToAskAt = this.session.clock().now().plus(time);
		wake();
	}

	/**
	 * Has the store asked again: a message may have been lost, or what it has told.
	 * Thread-safe.
	 */
	void askAgain() {
		this.granted = null;
		freeIn(Duration.ZERO);
	}

	private record Granted(MemberId session, Token token) {

	}

}
