package io.github.shardkeeper.worker.failure;

import java.time.Duration;

import org.slf4j.Logger;

import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.call.Delivery;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.retry.RetryQueue;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Halts a shard of which too many records in a row cannot be converted: probably the
 * conversion is wrong, and not the records. The first of them is retried after a pause.
 * Confined to the shard's worker.
 */
public final class ConversionLimit {

	private static final Logger logger = PrintableLogger.of(ConversionLimit.class);

	private static final Duration RETRY_PAUSE = Duration.ofSeconds(30);

	private final OwnedShard owned;

	private final ShardProblems problems;

	private final RetryQueue queue;

	private final ShardHalt halt;

	private final int maxFailures;

	private int failures;

	public ConversionLimit(OwnedShard owned, ShardProblems problems, RetryQueue queue, ShardHalt halt) {
		this.owned = owned;
		this.problems = problems;
		this.queue = queue;
		this.halt = halt;
		this.maxFailures = owned.settings().maxConversionFailures();
	}

	/** Counts a failed conversion; returns whether the shard has to halt. */
	public boolean isExceededBy(TrackedRecord record, FailureRoute route) {
		if (this.maxFailures == 0 || route.halts()) {
			return false;
		}
		if (record.isOfQueue() && (this.queue.keepsOrder() || record.rounds() > 0)) {
			// The same one again and again.
			return false;
		}
		this.failures++;
		return this.failures >= this.maxFailures;
	}

	/** Halts at the first record of a delivery. */
	public void haltAt(Delivery delivery, Throwable failure) {
		MonotonicTime retryAt = this.owned.context().clock().now().plus(RETRY_PAUSE);
		delivery.waitUntil(retryAt);
		if (this.halt.beginUntil(retryAt)) {
			this.problems.haltedByConversions(delivery.first().offset(), this.failures, RETRY_PAUSE, failure);
		}
	}

	public void succeeded() {
		this.failures = 0;
		if (this.halt.endRetries()) {
			logger.info("{} resumes: its records can be converted again", this.owned);
		}
	}

}
