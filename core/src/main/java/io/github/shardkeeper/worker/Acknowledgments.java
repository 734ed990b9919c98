package io.github.shardkeeper.worker;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.TimerRecord;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.call.Delivery;
import io.github.shardkeeper.worker.failure.ShardProblems;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * With manual acknowledgment, a handled record is done once it is acknowledged. Confined
 * to the shard's worker, except for {@link #of}.
 */
final class Acknowledgments {

	private final OwnedShard owned;

	private final String handlerName;

	private final ShardProblems problems;

	private final ShardProgress progress;

	private final boolean manual;

	/** Whether a record is done only with all before it: its state depends on theirs. */
	private final boolean inOrder;

	/** Acknowledged records to process; added on any thread. */
	private final Queue<List<TrackedRecord>> acknowledged = new ConcurrentLinkedQueue<>();

	/** Handled records in the order of their calls; only in order. */
	private final Deque<TrackedRecord> handled = new ArrayDeque<>(1);

	Acknowledgments(OwnedShard owned, ShardHandler handler, ShardProblems problems, ShardProgress progress) {
		this.owned = owned;
		this.handlerName = handler.name();
		this.problems = problems;
		this.progress = progress;
		this.manual = owned.settings().commits().mode() == CommitMode.MANUAL;
		this.inOrder = this.manual && handler.takesState();
	}

	/** Returns the acknowledgment of a delivery, for the handler. Thread-safe. */
	Acknowledgment of(Delivery delivery) {
		List<TrackedRecord> records = delivery.records();
		return () -> {
			this.acknowledged.add(records);
			this.owned.wake();
		};
	}

	/** Returns whether the records of a delivery are done when its call returns. */
	boolean isDone(Delivery delivery) {
		if (this.manual && TimerRecord.isTimer(delivery.first().source())) {
			// Its method takes no Acknowledgment.
			delivery.first().acknowledged();
		}
		return !this.manual || !this.inOrder && delivery.last().isAcknowledged();
	}

	/** Processes that the call of a delivery has succeeded. */
	void handled(Delivery delivery, MonotonicTime begun) {
		if (this.inOrder) {
			this.handled.addAll(delivery.records());
			if (delivery.last().changesTimers()) {
				this.progress.timers().awaitAcknowledgment();
			}
			finishHandled(begun);
		}
	}

	/** Marks acknowledged records as done; returns whether there were any. */
	boolean process() {
		boolean any = false;
		for (List<TrackedRecord> records = this.acknowledged.poll(); records != null; records = this.acknowledged
			.poll()) {
			any = true;
			MonotonicTime now = this.owned.context().clock().now();
			for (TrackedRecord record : records) {
				record.acknowledged();
			}
			if (this.inOrder) {
				finishHandled(now);
				continue;
			}
			for (TrackedRecord record : records) {
				if (record.isHandled() && !record.isDone()) {
					this.progress.done(record, now);
				}
			}
		}
		return any;
	}

	/** Marks handled records as done up to the first that is not acknowledged. */
	private void finishHandled(MonotonicTime now) {
		for (TrackedRecord next = this.handled.peek(); next != null
				&& next.isAcknowledged(); next = this.handled.peek()) {
			if (next.changesTimers()) {
				this.progress.timers().acknowledged();
			}
			this.progress.done(this.handled.remove(), now);
		}
	}

	/** Reports that no more records are handled until some are acknowledged. */
	void reportMissing() {
		if (!this.manual) {
			return;
		}
		if (this.progress.window().isFull()) {
			this.problems.blockedBy("%s has handled %d records after offset %s and not acknowledged the first of them"
				.formatted(this.handlerName, this.progress.window().size(), this.progress.window().position()));
		}
		else if (this.progress.queue().stalledAt() > 0) {
			this.problems.blockedBy(
					"%s has handled %d records of the retry queue and not acknowledged them: no more come from there"
						.formatted(this.handlerName, this.progress.queue().stalledAt()));
		}
	}

}
