package io.github.shardkeeper.consumer;

import java.time.Duration;

import org.springframework.util.backoff.BackOffExecution;

import io.github.shardkeeper.consumer.ConsumerSettings.OnFailure;
import io.github.shardkeeper.source.PayloadConversionException;

/**
 * Decides what becomes of a record whose handler has thrown: first it is tried again in
 * place, by Spring Framework's {@code RetryPolicy}; then the topic's settings say.
 * Immutable.
 */
final class FailurePolicy {

	private final ConsumerSettings settings;

	FailurePolicy(ConsumerSettings settings) {
		this.settings = settings;
	}

	/**
	 * Decides about a delivery whose last call has failed.
	 * @param delivery what was tried
	 * @param failure what its handler has thrown
	 */
	Decision decide(Delivery delivery, Throwable failure) {
		if (failure instanceof PayloadConversionException) {
			return (delivery.records().size() > 1) ? new Decision.Split() : unreadable();
		}
		boolean retryable = this.settings.retry().shouldRetry(failure);
		if (retryable && !delivery.isExhausted()) {
			long pause = delivery.backOff(this.settings).nextBackOff();
			if (pause != BackOffExecution.STOP) {
				return new Decision.Again(Duration.ofMillis(pause));
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
			return new Decision.Park(this.settings.retryDelays().get(round));
		}
		return new Decision.Bury();
	}

	/** A record that cannot be read: trying again would change nothing. */
	Decision unreadable() {
		return (this.settings.onFailure() == OnFailure.HALT) ? new Decision.Halt() : new Decision.Bury();
	}

	/** What is to be done. */
	sealed interface Decision {

		/**
		 * Call the handler again.
		 *
		 * @param pause after this time
		 */
		record Again(Duration pause) implements Decision {

		}

		/** Some of several records may be at fault: hand them over one by one. */
		record Split() implements Decision {

		}

		/**
		 * Put the record into the retry queue, and go on.
		 *
		 * @param delay how long it waits there
		 */
		record Park(Duration delay) implements Decision {

		}

		/** Store the record as a dead letter, and go on. */
		record Bury() implements Decision {

		}

		/** Stay in front of the record. */
		record Halt() implements Decision {

		}

	}

}
