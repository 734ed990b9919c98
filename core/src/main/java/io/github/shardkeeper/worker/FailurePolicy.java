package io.github.shardkeeper.worker;

import java.time.Duration;

import org.springframework.util.backoff.BackOffExecution;

import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.worker.ConsumerSettings.OnFailure;

/**
 * Decides what becomes of a record that failed: first it is retried in place, by Spring
 * Framework's {@code RetryPolicy}; then the topic's settings decide. Immutable.
 */
final class FailurePolicy {

	private final ConsumerSettings settings;

	FailurePolicy(ConsumerSettings settings) {
		this.settings = settings;
	}

	/**
	 * Decides about a delivery whose last call has thrown.
	 */
	Decision decide(Delivery delivery, Throwable failure) {
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
		if (retryable && this.settings.onFailure() == OnFailure.RETRY_QUEUE
				&& round < this.settings.retryDelays().size()) {
			return new Decision.RetryLater(this.settings.retryDelays().get(round));
		}
		return new Decision.DeadLetter();
	}

	/** Decides about a record that cannot be converted; a retry would not help. */
	Decision unreadable() {
		return (this.settings.onFailure() == OnFailure.HALT) ? new Decision.Halt() : new Decision.DeadLetter();
	}

	/** Decision about a failed delivery. */
	sealed interface Decision {

		/**
		 * Call the handler again.
		 *
		 * @param pause time before that call
		 */
		record Retry(Duration pause) implements Decision {

		}

		/** Handle its records one by one: some of them may be good. */
		record Split() implements Decision {

		}

		/**
		 * Put the record into the retry queue, and continue.
		 *
		 * @param delay time that it waits there
		 */
		record RetryLater(Duration delay) implements Decision {

		}

		/** Store the record as a dead letter, and continue. */
		record DeadLetter() implements Decision {

		}

		/** Stay in front of the record until somebody mends the cause. */
		record Halt() implements Decision {

		}

	}

}
