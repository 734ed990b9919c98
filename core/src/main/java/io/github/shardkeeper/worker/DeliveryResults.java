package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.JournaledState;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.ConsumerMeters.TopicMeters;
import io.github.shardkeeper.worker.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.FailurePolicy.Decision;

/**
 * Processes the results of calls: marks records as done, retries them, or stores them as
 * failed. With manual acknowledgment a handled record is done once it is acknowledged.
 * Confined to the shard's worker, except for {@link #acknowledgmentOf}.
 */
final class DeliveryResults implements CallResults {

	private static final Logger logger = PrintableLogger.of(DeliveryResults.class);

	private static final Duration CONVERSION_RETRY_PAUSE = Duration.ofSeconds(30);

	private static final Duration NO_THREAD_PAUSE = Duration.ofMillis(200);

	private final ShardScope scope;

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final WorkerContext context;

	private final ShardProblems problems;

	private final ShardProgress progress;

	private final DeliveryOrder order;

	private final RecordIntake intake;

	private final FailurePolicy policy;

	/** Whether calls commit what they do, so that it is done when they return. */
	private final boolean callsCommit;

	private final boolean manual;

	/** Whether a record is done only with all before it: its state depends on theirs. */
	private final boolean manualWithState;

	/** Acknowledged records to process; added on any thread. */
	private final Queue<List<TrackedRecord>> acknowledged = new ConcurrentLinkedQueue<>();

	/** Handled records in the order of their calls; only manual with state. */
	private final Deque<TrackedRecord> handled = new ArrayDeque<>(1);

	/** Whether the shard halts at a record until it has another owner. */
	private boolean halted;

	private final int maxConversionFailures;

	private int conversionFailures;

	/** Set while the shard halts because too many conversions in a row failed. */
	private @Nullable MonotonicTime conversionRetryAt;

	DeliveryResults(ShardScope scope, Committer committer, DeliveryOrder order, RecordIntake intake) {
		this.scope = scope;
		this.owned = scope.owned();
		this.handler = scope.handler();
		this.context = scope.context();
		this.problems = scope.problems();
		this.progress = committer.progress();
		this.order = order;
		this.intake = intake;
		this.policy = new FailurePolicy(scope.settings());
		this.maxConversionFailures = scope.settings().maxConversionFailures();
		this.callsCommit = committer.commitsCalls();
		this.manual = scope.settings().commits().mode() == CommitMode.MANUAL;
		this.manualWithState = this.manual && this.handler.takesState();
	}

	/**
	 * Returns whether no record may be handled, or committed, before earlier ones of its
	 * delivery.
	 */
	boolean splitsAtUnreadable() {
		return this.callsCommit || this.policy.splitsAtUnreadable();
	}

	boolean isHalted(MonotonicTime now) {
		MonotonicTime retryAt = this.halted ? null : this.conversionRetryAt;
		return this.halted || retryAt != null && now.isBefore(retryAt);
	}

	private boolean isHalted() {
		return this.halted || this.conversionRetryAt != null;
	}

	/** Returns when the halted record is retried, {@code null} for never. */
	@Nullable MonotonicTime haltEnds(MonotonicTime now) {
		return (!this.halted && isHalted(now)) ? this.conversionRetryAt : null;
	}

	@Override
	public void process(DeliveryCalls.Result result) {
		Delivery delivery = result.delivery();
		HandlerCalls.Result call = result.call();
		if (call == null && delivery.records().size() > 1 && splitsAtUnreadable()) {
			// The records before an unreadable one are handled, and committed, before it.
			this.order.remove(delivery);
			this.intake.addParts(delivery.single());
			return;
		}
		if (call != null && !(call.failure() instanceof PayloadConversionException)) {
			conversionSucceeded();
		}
		for (DeliveryCalls.Unreadable unreadable : result.unreadable()) {
			this.scope.meters().count(TopicMeters::notConverted);
			if (call == null && isOneConversionFailureTooMany(unreadable.record())) {
				delivery.records().removeIf(TrackedRecord::isDone);
				haltForConversions(delivery, unreadable.failure());
				return;
			}
			if (this.policy.unreadable() instanceof Decision.RetryLater && isHeldBack(delivery, unreadable.record())) {
				return;
			}
			store(this.policy.unreadable(), unreadable.record(), unreadable.failure(),
					unreadable.record().earlierCalls());
		}
		delivery.records().removeIf(TrackedRecord::isDone);
		if (call == null || this.halted && call.failure() != null) {
			this.order.remove(delivery);
		}
		else if (call.failure() != null) {
			failed(result, call, call.failure());
		}
		else {
			succeeded(result, call);
		}
	}

	private void conversionSucceeded() {
		this.conversionFailures = 0;
		if (this.conversionRetryAt != null) {
			this.conversionRetryAt = null;
			logger.info("{} resumes: its records can be converted again", this.owned);
		}
	}

	private boolean isOneConversionFailureTooMany(TrackedRecord record) {
		if (this.maxConversionFailures == 0 || this.policy.unreadable() instanceof Decision.Halt) {
			return false;
		}
		if (record.isOfQueue() && this.progress.queue().keepsOrder()) {
			// The same one again and again.
			return false;
		}
		this.conversionFailures++;
		return this.conversionFailures >= this.maxConversionFailures;
	}

	/**
	 * Halts because probably the conversion is wrong and not the records, and retries the
	 * first record after a pause.
	 */
	private void haltForConversions(Delivery delivery, Throwable failure) {
		boolean first = this.conversionRetryAt == null;
		MonotonicTime retryAt = this.context.clock().now().plus(CONVERSION_RETRY_PAUSE);
		this.conversionRetryAt = retryAt;
		delivery.waitUntil(retryAt);
		this.order.retry(delivery);
		if (first) {
			this.problems.haltedByConversions(delivery.first().offset(), this.conversionFailures,
					CONVERSION_RETRY_PAUSE, failure);
		}
	}

	private void succeeded(DeliveryCalls.Result result, HandlerCalls.Result call) {
		Delivery delivery = result.delivery();
		boolean done = !this.manual || !this.manualWithState && delivery.last().isAcknowledged();
		JournaledState.Changes changes = JournaledState.Changes.NONE;
		if (call.view() != null) {
			try {
				changes = done ? this.progress.state().addCommittable(call.view())
						: this.progress.state().add(call.view());
			}
			catch (ArithmeticException | IllegalArgumentException ex) {
				// Concurrent calls have made a sum too large.
				failed(result, call, ex);
				return;
			}
		}
		if (changes == null) {
			logger.debug("{}: the state that the call {} has read was changed by another call; repeating it",
					this.owned, delivery.where());
			this.order.retry(delivery);
			return;
		}
		this.order.remove(delivery);
		delivery.last().sends(result.sends());
		long bytes = 0;
		for (TrackedRecord record : delivery.records()) {
			bytes += record.source().size();
			record.handled((record == delivery.last()) ? changes : JournaledState.Changes.NONE);
			if (this.callsCommit) {
				this.progress.written(record);
			}
			else if (done) {
				this.progress.done(record, result.begun());
			}
		}
		if (this.manualWithState) {
			this.handled.addAll(delivery.records());
			finishHandled(result.begun());
		}
		clearProblem();
		int records = delivery.records().size();
		this.scope.calls().handled(records);
		this.owned.reached(MovePhase.FIRST_RECORD, result.ended());
		long size = bytes;
		this.scope.meters().count((meters) -> {
			meters.handled(records, result.begun().until(result.ended()));
			meters.handledBytes(size);
		});
	}

	private void clearProblem() {
		if (!this.order.hasFailing() && !isHalted()) {
			this.problems.callSucceeded();
		}
	}

	/** Returns the acknowledgment of a delivery, for the handler. Thread-safe. */
	Acknowledgment acknowledgmentOf(Delivery delivery) {
		List<TrackedRecord> records = delivery.records();
		return () -> {
			this.acknowledged.add(records);
			this.scope.wake().run();
		};
	}

	void processAcknowledged() {
		for (List<TrackedRecord> records = this.acknowledged.poll(); records != null; records = this.acknowledged
			.poll()) {
			MonotonicTime now = this.context.clock().now();
			for (TrackedRecord record : records) {
				record.acknowledged();
			}
			if (this.manualWithState) {
				finishHandled(now);
			}
			else {
				for (TrackedRecord record : records) {
					if (record.isHandled() && !record.isDone()) {
						this.progress.done(record, now);
					}
				}
			}
			clearProblem();
		}
	}

	/** Marks handled records as done up to the first that is not acknowledged. */
	private void finishHandled(MonotonicTime now) {
		for (TrackedRecord next = this.handled.peek(); next != null
				&& next.isAcknowledged(); next = this.handled.peek()) {
			this.progress.done(this.handled.remove(), now);
		}
	}

	void reportMissingAcknowledgments() {
		if (!this.manual || isHalted() || this.order.hasFailing()) {
			return;
		}
		if (this.progress.window().isFull()) {
			this.problems.blockedBy("%s has handled %d records after offset %s and not acknowledged the first of them"
				.formatted(this.handler.name(), this.progress.window().size(), this.progress.window().position()));
		}
		else if (this.progress.queue().stalledAt() > 0) {
			this.problems.blockedBy(
					"%s has handled %d records of the retry queue and not acknowledged them: no more come from there"
						.formatted(this.handler.name(), this.progress.queue().stalledAt()));
		}
	}

	private void failed(DeliveryCalls.Result result, HandlerCalls.Result call, Throwable failure) {
		Delivery delivery = result.delivery();
		if (!this.owned.isHeld() || call.interrupted()) {
			// Not caused by the record.
			logger.debug("{} was interrupted {}", this.owned, delivery.where(), failure);
			this.order.retry(delivery);
			return;
		}
		this.scope.meters().count((meters) -> meters.failed(result.begun().until(result.ended()), failure));
		delivery.failed(failure);
		Decision decision = this.policy.decide(delivery, failure);
		if (decision instanceof Decision.Retry retry) {
			delivery.waitUntil(this.context.clock().now().plus(retry.pause()));
			this.order.retry(delivery);
			this.scope.meters().count(TopicMeters::retried);
			this.problems.callFailed(this.handler.name(), delivery.where(), failure, retry.pause());
			return;
		}
		if (failure instanceof PayloadConversionException
				&& (decision instanceof Decision.DeadLetter || decision instanceof Decision.RetryLater)
				&& isOneConversionFailureTooMany(delivery.first())) {
			haltForConversions(delivery, failure);
			return;
		}
		if (decision instanceof Decision.RetryLater && isHeldBack(delivery, delivery.first())) {
			return;
		}
		this.order.remove(delivery);
		if (decision instanceof Decision.Split) {
			log(Level.WARN, "split", "%s failed %s of %s; handling its records one by one"
				.formatted(this.handler.name(), delivery.where(), this.owned), failure);
			this.intake.addParts(delivery.parts());
			return;
		}
		store(decision, delivery.first(), failure, delivery.calls());
		clearProblem();
	}

	private void store(Decision decision, TrackedRecord record, Throwable failure, int calls) {
		MonotonicTime now = this.context.clock().now();
		if (decision instanceof Decision.Halt) {
			this.halted = true;
			UnreadableStateException unreadable = FailurePolicy.unreadableState(failure);
			if (unreadable != null) {
				this.problems.haltedByState(" at offset " + record.offset(), unreadable, failure);
			}
			else {
				this.problems.haltedAt(record.offset(), this.handler.name(), failure);
			}
			return;
		}
		FailedRecord failed = failedRecord(record, decision, calls, failure);
		if (decision instanceof Decision.RetryLater later) {
			this.progress.retryLater(record, failed, later.delay(), now);
			this.scope.meters().count(TopicMeters::retried);
			log(Level.WARN, "retry",
					"%s failed at offset %s of %s; it is retried in %d ms, and %s".formatted(this.handler.name(),
							failed.offset(), this.owned, later.delay().toMillis(),
							(this.progress.queue().keepsOrder()) ? "all other keys continue" : "the shard continues"),
					failure);
		}
		else {
			this.scope.meters().count(TopicMeters::deadLettered);
			this.progress.deadLetter(record, failed, now);
			log(Level.ERROR, "dead letter",
					"%s cannot handle the record at offset %s of %s: stored as a dead letter after %d calls"
						.formatted(this.handler.name(), failed.offset(), this.owned, calls),
					failure);
		}
	}

	/**
	 * Puts the records of a delivery whose keys wait behind those in the retry queue.
	 * @return whether the delivery must not be called, or not yet
	 */
	boolean parkBehind(Delivery delivery) {
		if (!this.progress.queue().keepsOrder() || delivery.first().isOfQueue()) {
			return false;
		}
		MonotonicTime now = this.context.clock().now();
		boolean parked = false;
		for (TrackedRecord record : List.copyOf(delivery.records())) {
			if (this.progress.mustWait(record)) {
				if (isHeldBack(delivery, record)) {
					return true;
				}
				this.progress.waitBehind(record, now);
				delivery.records().remove(record);
				parked = true;
			}
		}
		if (delivery.records().isEmpty()) {
			this.order.remove(delivery);
			return true;
		}
		if (parked && this.callsCommit) {
			// So that a call in a batch has nothing to commit but its own records.
			this.order.retry(delivery);
			return true;
		}
		return false;
	}

	/** Holds a delivery back if a record of it must wait in the queue, and must not. */
	private boolean isHeldBack(Delivery delivery, TrackedRecord record) {
		if (this.progress.mayWait(record)) {
			return false;
		}
		this.intake.holdBack(this.order.withdraw(delivery));
		this.problems.parkingFull(record.offset(), this.progress.queue(), this.scope.settings().parking());
		return true;
	}

	/**
	 * Stores a record that has waited too long in the retry queue as a dead letter, and
	 * returns whether it has. One that somebody has sent back is not affected.
	 */
	boolean expire(Delivery delivery) {
		TrackedRecord record = delivery.first();
		Duration maxAge = this.scope.settings().retryMaxAge();
		if (maxAge == null || record.failedAt() == null || record.earlierCalls() == 0
				|| this.progress.queue().keepsOrder()) {
			return false;
		}
		Duration waited = Duration.between(record.failedAt(), this.context.wallClock().instant());
		if (waited.compareTo(maxAge) <= 0) {
			return false;
		}
		this.order.remove(delivery);
		store(new Decision.DeadLetter(), record, new RetryExpiredException(waited, maxAge, record.lastException()),
				record.earlierCalls());
		return true;
	}

	private void log(Level level, String what, String message, Throwable failure) {
		this.context.failures().log(level, what + " " + this.handler.name(), message, failure);
	}

	private FailedRecord failedRecord(TrackedRecord record, Decision decision, int calls, Throwable failure) {
		SourceRecord source = record.source();
		boolean later = decision instanceof Decision.RetryLater;
		int rounds = record.rounds() + (later ? 1 : 0);
		// One that cannot be converted was not called, but is not new either.
		int attempts = later ? Math.max(calls, record.earlierCalls() + 1) : calls;
		return FailedRecord.of(source.offset(), source.key(), source.payload(), source.headers(), source.timestamp(),
				attempts, rounds, failure, this.context.wallClock().instant());
	}

	/** Failure of a record that was not called again in time. Has no stack. */
	static final class RetryExpiredException extends RuntimeException {

		private RetryExpiredException(Duration waited, Duration maxAge, String lastException) {
			super("It has waited for %s in the retry queue, longer than 'shardkeeper.consumer.retry-queue.max-age' (%s); its last failure: %s"
				.formatted(waited.truncatedTo(ChronoUnit.SECONDS), maxAge, lastException), null, false, false);
		}

	}

	void noThread(Delivery delivery, Throwable refusal) {
		delivery.waitUntil(this.context.clock().now().plus(NO_THREAD_PAUSE));
		this.order.retry(delivery);
		this.problems.noThread(refusal);
	}

}
