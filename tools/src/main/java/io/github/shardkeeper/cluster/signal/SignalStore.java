package io.github.shardkeeper.cluster.signal;

import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.shard.MemberId;

/**
 * Store of the latest signal of each name, and of what each session has handled. It sends
 * {@code signal|name|number} to all with a new signal, and to the sender of the latest
 * one {@code signaled|name|number|session|OK or FAILED|message} with an acknowledgement.
 * Thread-safe.
 */
public interface SignalStore {

	/**
	 * Stores a signal in the place of the last one of the same name, and tells all.
	 * @param payload the text
	 * @param retention the time for which sessions that begin later get it
	 * @param address the address that is told of acknowledgements
	 * @return the number of the signal, higher than every earlier one
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; a retry makes sense, and may send it twice
	 */
	long send(String name, String payload, Duration retention, String address);

	/**
	 * Stores what a session has handled, and returns what it has to handle. The first
	 * call of a session for a name registers it; a signal whose retention is over then,
	 * or that is older than the session wants, is none that it has to handle. A lower
	 * number than the stored one is ignored. Repeatable.
	 * @param session the session of this instance
	 * @param listening what this process has handled last and wants, by name
	 * @return by name; nothing for a name without a new signal. {@code null} if the group
	 * does not know the session
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; a retry makes sense
	 */
	@Nullable Map<String, Latest> acknowledge(MemberId session, Map<String, Listening> listening);

	/**
	 * Returns what the members that are registered for a name have handled last.
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; a retry makes sense
	 */
	Map<MemberId, Handled> acknowledgements(String name);

	/**
	 * How a session listens to the signals of a name.
	 *
	 * @param handled what its process has handled last
	 * @param maxAge the maximum age of a signal that was sent before the session began to
	 * listen; negative for none
	 */
	record Listening(Handled handled, Duration maxAge) {

	}

	/** The outcome of the last signal that was handled. */
	enum Outcome {

		/** None was handled: listens to signals with a higher number. */
		LISTENS,

		/** All methods have returned. */
		OK,

		/** A method has failed. */
		FAILED

	}

	/**
	 * What was handled last.
	 *
	 * @param number the number of the signal; all lower ones are done, too
	 * @param outcome its outcome
	 * @param message the reason of a failure, otherwise empty
	 */
	record Handled(long number, Outcome outcome, String message) {

		/** Nothing yet. */
		public static final Handled NOTHING = new Handled(0, Outcome.LISTENS, "");

		/** Returns an entry that cannot be read: it counts as a failure of any signal. */
		public static Handled unreadable(String value) {
			return new Handled(Long.MAX_VALUE, Outcome.FAILED, "The entry of this session cannot be read: '" + value
					+ "'. Only somebody else can have written it");
		}

	}

	/**
	 * The latest signal of a name.
	 *
	 * @param signal the signal; {@code null} if its entry cannot be read
	 * @param unreadable the entry that cannot be read; empty if it can
	 */
	record Latest(@Nullable ClusterSignal signal, String unreadable) {

		public static Latest of(ClusterSignal signal) {
			return new Latest(signal, "");
		}

		public static Latest unreadable(String value) {
			return new Latest(null, value);
		}

	}

}
