package io.github.shardkeeper.worker;

import java.time.Duration;

import org.slf4j.Logger;

import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Halts a shard of which too many records in a row cannot be converted: probably the
 * conversion is wrong, and not the records. The first of them is retried after a pause.
 * Confined to the shard's worker.
 */
final class ConversionLimit {

	private static final Logger logger = PrintableLogger.of(ConversionLimit.class);

	private static final Duration RETRY_PAUSE = Duration.ofSeconds(30);

	private final ShardScope scope;

	private final RetryQueue queue;

	private final ShardHalt halt;

	private final int maxFailures;

	private int failures;

	ConversionLimit(ShardScope scope, RetryQueue queue, ShardHalt halt) {
		this.scope = scope;
		this.queue = queue;
		this.halt = halt;
		this.maxFailures = scope.settings().maxConversionFailures();
	}

	/** Counts a failed conversion; returns whether the shard has to halt. */
	boolean isExceededBy(TrackedRecord record, FailureRoute route) {
		if (this.maxFailures == 0 || route.halts()) {
			return false;
		}
		if (record.isOfQueue() && this.queue.keepsOrder()) {
			// The same one again and again.
			return false;
		}
		this.failures++;
		return this.failures >= this.maxFailures;
	}

	/** Halts at the first record of a delivery. */
	void haltAt(Delivery delivery, Throwable failure) {
		MonotonicTime retryAt = this.scope.context().clock().now().plus(RETRY_PAUSE);
		delivery.waitUntil(retryAt);
		if (this.halt.beginUntil(retryAt)) {
			this.scope.problems().haltedByConversions(delivery.first().offset(), this.failures, RETRY_PAUSE, failure);
		}
	}

	void succeeded() {
		this.failures = 0;
		if (this.halt.endRetries()) {
			logger.info("{} resumes: its records can be converted again", this.scope.owned());
		}
	}

}
