package io.github.shardkeeper.worker;

import java.time.Duration;

import org.springframework.util.backoff.BackOffExecution;

import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.worker.ConsumerSettings.OnFailure;

/**
 * Decides about failed deliveries: first they are retried in place, according to Spring
 * Framework's {@code RetryPolicy}; then the settings of the topic decide. Immutable.
 */
final class FailurePolicy {

	private final ConsumerSettings settings;

	FailurePolicy(ConsumerSettings settings) {
		this.settings = settings;
	}

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

	/** Decides about a record that cannot be converted, without a retry. */
	Decision unreadable() {
		return (this.settings.onFailure() == OnFailure.HALT) ? new Decision.Halt() : new Decision.DeadLetter();
	}

	sealed interface Decision {

		/** Retries the delivery in place. */
		record Retry(Duration pause) implements Decision {

		}

		/** Handles its records one by one: some of them may succeed. */
		record Split() implements Decision {

		}

		/** Puts the record into the retry queue, and continues. */
		record RetryLater(Duration delay) implements Decision {

		}

		record DeadLetter() implements Decision {

		}

		record Halt() implements Decision {

		}

	}

}
