package io.github.shardkeeper;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Treatment of a record whose call has failed, as a {@link FailureHandler} chooses it.
 * Immutable.
 *
 * @param kind the kind of the treatment
 * @param delay the time until the next call with the record, from {@link #MIN_DELAY} to
 * {@link #MAX_DELAY}; {@code null} for the configured one, and for kinds that make no
 * further call
 */
public record FailureAction(Kind kind, @Nullable Duration delay) {

	/** Shortest delay, 1 ms. */
	public static final Duration MIN_DELAY = Duration.ofMillis(1);

	/** Longest delay, 365 days. */
	public static final Duration MAX_DELAY = Duration.ofDays(365);

	private static final FailureAction AS_CONFIGURED = new FailureAction(Kind.AS_CONFIGURED, null);

	private static final FailureAction RETRY_QUEUE = new FailureAction(Kind.RETRY_QUEUE, null);

	private static final FailureAction PARK_KEY = new FailureAction(Kind.PARK_KEY, null);

	private static final FailureAction DEAD_LETTER = new FailureAction(Kind.DEAD_LETTER, null);

	private static final FailureAction HALT = new FailureAction(Kind.HALT, null);

	public FailureAction {
		Objects.requireNonNull(kind, "kind must not be null");
		if (delay == null && kind == Kind.RETRY) {
			throw new IllegalArgumentException("A retry in place needs a delay");
		}
		if (delay != null && !kind.isDelayed()) {
			throw new IllegalArgumentException("The action %s has no delay".formatted(kind));
		}
		if (delay != null && (delay.compareTo(MIN_DELAY) < 0 || delay.compareTo(MAX_DELAY) > 0)) {
			throw new IllegalArgumentException("The delay is %s: use 1 ms to 365 days".formatted(delay));
		}
	}

	/**
	 * Returns the action that leaves the record to the next handler, and at last to the
	 * properties of the topic.
	 * @return the action
	 */
	public static FailureAction asConfigured() {
		return AS_CONFIGURED;
	}

	/**
	 * Returns the action that calls again in place: the shard waits, or with
	 * {@code ordering: key} the key. Repeated as often as it is chosen.
	 * @param delay the time until the next call, 1 ms to 365 days
	 * @return the action
	 * @throws IllegalArgumentException if the delay is too short or too long
	 */
	public static FailureAction retry(Duration delay) {
		Objects.requireNonNull(delay, "delay must not be null");
		return new FailureAction(Kind.RETRY, delay);
	}

	/**
	 * Returns the action that puts the record into the retry queue for the next of
	 * {@code retry-queue.delays}; after the last one it becomes a dead letter. Not with
	 * {@code on-failure: park-key}.
	 * @return the action
	 */
	public static FailureAction retryQueue() {
		return RETRY_QUEUE;
	}

	/**
	 * Returns the action that puts the record into the retry queue, as often as it is
	 * chosen. Not with {@code on-failure: park-key}.
	 * @param delay the time until the next call, 1 ms to 365 days
	 * @return the action
	 * @throws IllegalArgumentException if the delay is too short or too long
	 */
	public static FailureAction retryQueue(Duration delay) {
		Objects.requireNonNull(delay, "delay must not be null");
		return new FailureAction(Kind.RETRY_QUEUE, delay);
	}

	/**
	 * Returns the action that has the key of the record wait for the next of
	 * {@code retry-queue.delays}; after the last one {@code park-key.after-delays}
	 * decides. Only with {@code on-failure: park-key}.
	 * @return the action
	 */
	public static FailureAction parkKey() {
		return PARK_KEY;
	}

	/**
	 * Returns the action that has the key of the record wait, as often as it is chosen.
	 * Only with {@code on-failure: park-key}.
	 * @param delay the time until the next call, 1 ms to 365 days
	 * @return the action
	 * @throws IllegalArgumentException if the delay is too short or too long
	 */
	public static FailureAction parkKey(Duration delay) {
		Objects.requireNonNull(delay, "delay must not be null");
		return new FailureAction(Kind.PARK_KEY, delay);
	}

	/**
	 * Returns the action that stores the record as a dead letter.
	 * @return the action
	 */
	public static FailureAction deadLetter() {
		return DEAD_LETTER;
	}

	/**
	 * Returns the action that halts the shard before the record.
	 * @return the action
	 */
	public static FailureAction halt() {
		return HALT;
	}

	/** Kinds of treatment, as {@code failures[].action} names them in properties. */
	public enum Kind {

		/** That of the next handler, and at last that of the properties. */
		AS_CONFIGURED,

		/** Another call in place. */
		RETRY,

		/** Another call later, while the shard continues. */
		RETRY_QUEUE,

		/** Another call later, while the key waits and others continue. */
		PARK_KEY,

		/** The record is stored as a dead letter. */
		DEAD_LETTER,

		/** The shard halts before the record. */
		HALT;

		/**
		 * Returns whether there is another call after a delay.
		 * @return whether there is
		 */
		public boolean isDelayed() {
			return this == RETRY || this == RETRY_QUEUE || this == PARK_KEY;
		}

	}

}
