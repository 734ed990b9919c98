package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.backoff.BackOffExecution;

import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.worker.ConsumerSettings.AfterDelays;
import io.github.shardkeeper.worker.ConsumerSettings.OnFailure;

/**
 * Decides about failed deliveries: first they are retried in place, according to Spring
 * Framework's {@code RetryPolicy}; then the settings of the topic decide. Immutable.
 */
final class FailurePolicy {

	private static final int MAX_CAUSES = 20;

	private final ConsumerSettings settings;

	FailurePolicy(ConsumerSettings settings) {
		this.settings = settings;
	}

	/** Returns the value of the state that has made a call fail, {@code null} if none. */
	static @Nullable UnreadableStateException unreadableState(Throwable failure) {
		Throwable cause = failure;
		for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
			if (cause instanceof UnreadableStateException unreadable) {
				return unreadable;
			}
			cause = cause.getCause();
		}
		return null;
	}

	Decision decide(Delivery delivery, Throwable failure) {
		if (unreadableState(failure) != null) {
			// The record is not at fault.
			return new Decision.Halt();
		}
		if (failure instanceof PayloadConversionException) {
			return (delivery.records().size() > 1) ? new Decision.Split() : unreadable();
		}
		boolean retryable = this.settings.retry().shouldRetry(failure);
		if (retryable && !delivery.isExhausted()) {
			long pause = delivery.backOff(this.settings).nextBackOff();
			if (pause != BackOffExecution.STOP) {
				return new Decision.Retry(Duration.ofMillis(pause));
			}
		}
		if (delivery.records().size() > 1) {
			return new Decision.Split();
		}
		if (this.settings.onFailure() == OnFailure.HALT) {
			return new Decision.Halt();
		}
		int round = delivery.first().rounds();
		if (this.settings.onFailure() == OnFailure.PARK_KEY) {
			return park(retryable ? round : Integer.MAX_VALUE);
		}
		if (retryable && this.settings.onFailure() == OnFailure.RETRY_QUEUE
				&& round < this.settings.retryDelays().size()) {
			return new Decision.RetryLater(this.settings.retryDelays().get(round));
		}
		return new Decision.DeadLetter();
	}

	/** Decides about a record that cannot be converted, without a retry. */
	Decision unreadable() {
		return switch (this.settings.onFailure()) {
			case HALT -> new Decision.Halt();
			case PARK_KEY -> park(Integer.MAX_VALUE);
			case DEAD_LETTER, RETRY_QUEUE -> new Decision.DeadLetter();
		};
	}

	/** Returns whether no record may be handled before earlier ones of its delivery. */
	boolean splitsAtUnreadable() {
		return this.settings.onFailure() == OnFailure.HALT || this.settings.onFailure() == OnFailure.PARK_KEY;
	}

	private Decision park(int round) {
		List<Duration> delays = this.settings.retryDelays();
		if (round >= delays.size() && this.settings.parking().afterDelays() == AfterDelays.DEAD_LETTER) {
			return new Decision.DeadLetter();
		}
		return new Decision.RetryLater(delays.get(Math.min(round, delays.size() - 1)));
	}

	sealed interface Decision {

		/** Retries the delivery in place. */
		record Retry(Duration pause) implements Decision {

		}

		/** Handles its records one by one: some of them may succeed. */
		record Split() implements Decision {

		}

		/**
		 * Puts the record into the retry queue, and continues, with other keys if its key
		 * waits.
		 */
		record RetryLater(Duration delay) implements Decision {

		}

		record DeadLetter() implements Decision {

		}

		record Halt() implements Decision {

		}

	}

}
