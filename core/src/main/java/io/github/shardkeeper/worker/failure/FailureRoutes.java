package io.github.shardkeeper.worker.failure;

import java.time.Duration;

import org.slf4j.event.Level;

import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.ConsumerMeters.TopicMeters;
import io.github.shardkeeper.worker.shard.OwnedShard;

/** The routes of the failed records of a shard. Confined to the shard's worker. */
public final class FailureRoutes {

	private final OwnedShard owned;

	private final ShardProblems problems;

	private final String handlerName;

	private final ShardProgress progress;

	private final ShardHalt halt;

	private final FailureRoute deadLetters = new DeadLetters();

	public FailureRoutes(OwnedShard owned, String handlerName, ShardProblems problems, ShardProgress progress,
			ShardHalt halt) {
		this.owned = owned;
		this.handlerName = handlerName;
		this.problems = problems;
		this.progress = progress;
		this.halt = halt;
	}

	/** Returns the route that stores a record as a dead letter. */
	FailureRoute deadLetters() {
		return this.deadLetters;
	}

	/**
	 * Returns the route that puts a record into the retry queue, with later ones of its
	 * key behind it if the queue keeps the order.
	 */
	FailureRoute retryQueue(Duration delay) {
		return new LaterRetry(delay);
	}

	/** Returns the route that halts the shard until it has another owner. */
	FailureRoute halt() {
		return new Halt();
	}

	private FailedRecord failed(TrackedRecord record, int attempts, int rounds, Throwable failure) {
		SourceRecord source = record.source();
		return FailedRecord.of(source.offset(), source.key(), source.payload(), source.headers(), source.timestamp(),
				attempts, rounds, failure, this.owned.context().wallClock().instant());
	}

	private void log(Level level, String what, String message, Throwable failure) {
		this.owned.context().failures().log(level, what + " " + this.handlerName, message, failure);
	}

	private final class DeadLetters implements FailureRoute {

		@Override
		public void take(TrackedRecord record, int calls, Throwable failure) {
			FailedRecord failed = failed(record, calls, record.rounds(), failure);
			FailureRoutes.this.owned.meters().count(TopicMeters::deadLettered);
			FailureRoutes.this.progress.deadLetter(record, failed, FailureRoutes.this.owned.context().clock().now());
			log(Level.ERROR, "dead letter",
					"%s cannot handle the record at offset %s of %s: stored as a dead letter after %d calls".formatted(
							FailureRoutes.this.handlerName, failed.offset(), FailureRoutes.this.owned, calls),
					failure);
		}

	}

	private final class LaterRetry implements FailureRoute {

		private final Duration delay;

		private LaterRetry(Duration delay) {
			this.delay = delay;
		}

		@Override
		public boolean isOpenTo(TrackedRecord record) {
			return FailureRoutes.this.progress.mayWait(record);
		}

		@Override
		public void take(TrackedRecord record, int calls, Throwable failure) {
			// One that cannot be converted was not called, but is not new either.
			int attempts = Math.max(calls, record.earlierCalls() + 1);
			FailedRecord failed = failed(record, attempts, record.rounds() + 1, failure);
			FailureRoutes.this.progress.retryLater(record, failed, this.delay,
					FailureRoutes.this.owned.context().clock().now());
			FailureRoutes.this.owned.meters().count(TopicMeters::retried);
			boolean keepsOrder = FailureRoutes.this.progress.queue().keepsOrder();
			log(Level.WARN, "retry",
					"%s failed at offset %s of %s; it is retried in %d ms, and %s".formatted(
							FailureRoutes.this.handlerName, failed.offset(), FailureRoutes.this.owned,
							this.delay.toMillis(), keepsOrder ? "all other keys continue" : "the shard continues"),
					failure);
		}

	}

	private final class Halt implements FailureRoute {

		@Override
		public boolean halts() {
			return true;
		}

		@Override
		public void take(TrackedRecord record, int calls, Throwable failure) {
			FailureRoutes.this.halt.begin();
			ShardProblems problems = FailureRoutes.this.problems;
			UnreadableStateException unreadable = FailurePolicy.unreadableState(failure);
			if (unreadable != null) {
				problems.haltedByState(" at offset " + record.offset(), unreadable, failure);
			}
			else {
				problems.haltedAt(record.offset(), FailureRoutes.this.handlerName, failure);
			}
		}

	}

}
