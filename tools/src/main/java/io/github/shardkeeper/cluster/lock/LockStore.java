package io.github.shardkeeper.cluster.lock;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Token;

/**
 * Store of the locks of a group. A lock is held by a ticket, in a session; it is free
 * when it is released, when the group no longer knows the session, and after the time for
 * which it may be held at most. Those that wait get it in the order in which they asked,
 * except that a session without a lease is passed over. All methods are repeatable.
 * <p>
 * Messages: {@code lock|<name>|<ticket>|<token>|<session>} to the address of a ticket
 * that has got the lock, and {@code lockfree|<name>|<ticket>|<millis>} when it may ask
 * again after a time.
 * <p>
 * Every method may throw {@link io.github.shardkeeper.StoreUnavailableException}.
 * Thread-safe.
 */
public interface LockStore {

	/** Acquires a lock, or joins those that wait for it. */
	Reply acquire(Request request);

	/**
	 * Releases a lock that a ticket holds, or stops waiting for it.
	 * @return whether the ticket held it
	 */
	boolean release(MemberId session, String lock, String ticket);

	/**
	 * Gives each of the locks to the first that waits, if it is free: a message may have
	 * been lost.
	 * @param waiting the locks by the tickets that wait for them
	 * @return the tickets that do not wait any more, because they hold their lock, have
	 * held it, or were lost: they have to ask again
	 */
	Set<String> check(Map<String, String> waiting);

	/** Returns the locks that a session holds, with their tickets. */
	Map<String, String> held(MemberId session);

	/**
	 * A request for a lock.
	 *
	 * @param session the session
	 * @param lock the name of the lock
	 * @param ticket the address of the instance, a dot, and a number that is never used
	 * again
	 * @param atLeast the time for which nobody else gets it, also if it is released
	 * @param atMost the time after which it is free even if it is not released; zero for
	 * no limit
	 * @param waits whether to wait for it if it is held
	 */
	record Request(MemberId session, String lock, String ticket, Duration atLeast, Duration atMost, boolean waits) {

	}

	/** The reply to a request. */
	enum Outcome {

		/** The ticket holds the lock. */
		GRANTED,

		/** Somebody else holds it, or it is not free yet. */
		HELD,

		/** The group does not know the session, or its lease has ended. */
		NO_SESSION

	}

	/**
	 * An outcome with its details.
	 *
	 * @param outcome the outcome
	 * @param token the token of a granted lock
	 * @param millis if granted, the time until it is free again; if held, the time after
	 * which to ask again; -1 for none
	 */
	record Reply(Outcome outcome, Token token, long millis) {

		public static final Reply NO_SESSION = new Reply(Outcome.NO_SESSION, Token.NONE, -1);

		public static Reply granted(Token token, long millis) {
			return new Reply(Outcome.GRANTED, token, millis);
		}

		public static Reply held(long millis) {
			return new Reply(Outcome.HELD, Token.NONE, millis);
		}

	}

}
