package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import io.github.shardkeeper.consumer.FailurePolicy.Decision;
import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.SourceRecord;

/**
 * What becomes of a delivery whose call has returned: its records count, or are tried
 * again, or are put aside. Confined to the shard's worker.
 */
final class Settlement {

	private static final Logger logger = LoggerFactory.getLogger(Settlement.class);

	private static final Duration CONVERT_AGAIN_AFTER = Duration.ofSeconds(30);

	private static final Duration NO_THREAD_PAUSE = Duration.ofMillis(200);

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final WorkerContext context;

	private final FailurePolicy policy;

	private final WorkerTroubles troubles;

	private final Lanes lanes;

	private final RecordIntake intake;

	private final Acknowledgments acknowledgments;

	private final @Nullable WorkMeter meter;

	/**
	 * Handled and not settled, in the order in which they were handled, whether they were
	 * read or came from the retry queue: what they wrote to the state builds on each
	 * other, so it can count only in this order. Not used where there is no state.
	 */
	private final Deque<TrackedRecord> open = new ArrayDeque<>();

	/** Whether what is acknowledged counts only with all that was handled before. */
	private final boolean inTurn;

	private boolean halted;

	private final int maxConversionFailures;

	private int conversionFailures;

	/** Set while the shard is halted because too many in a row have failed. */
	private @Nullable MonotonicTime convertAgainAt;

	Settlement(OwnedShard owned, ShardHandler handler, WorkerContext context, WorkerTroubles troubles, Lanes lanes,
			RecordIntake intake, Acknowledgments acknowledgments, @Nullable WorkMeter meter) {
		this.owned = owned;
		this.handler = handler;
		this.context = context;
		ConsumerSettings settings = context.settings(owned.shard().topic());
		this.policy = new FailurePolicy(settings);
		this.maxConversionFailures = settings.maxConversionFailures();
		this.troubles = troubles;
		this.lanes = lanes;
		this.intake = intake;
		this.acknowledgments = acknowledgments;
		this.meter = meter;
		this.inTurn = acknowledgments.areWanted() && handler.takesState();
	}

	/** Whether the shard stays in front of a record now. */
	boolean isHalted(MonotonicTime now) {
		MonotonicTime lookAt = this.halted ? null : this.convertAgainAt;
		return this.halted || lookAt != null && now.isBefore(lookAt);
	}

	/** Whether it stays there, or is to look whether it still has to. */
	private boolean isHalted() {
		return this.halted || this.convertAgainAt != null;
	}

	/** When a halt is looked at again, {@code null} if that is not to come. */
	@Nullable MonotonicTime haltEnds(MonotonicTime now) {
		return (!this.halted && isHalted(now)) ? this.convertAgainAt : null;
	}

	void settle(RecordCalls.Returned returned, ShardProgress progress) {
		Delivery delivery = returned.delivery();
		ShardCalls.Result result = returned.result();
		if (result == null && delivery.records().size() > 1 && this.policy.unreadable() instanceof Decision.Halt) {
			// Those before it have their turns, and then it is known where to stay.
			this.lanes.remove(delivery);
			this.intake.split(delivery.single());
			return;
		}
		if (result != null && !(result.failure() instanceof PayloadConversionException)) {
			converted();
		}
		for (RecordCalls.Unreadable unreadable : returned.unreadable()) {
			this.context.meters().failed(this.owned.shard().topic());
			if (result == null && isOneTooMany()) {
				delivery.records().removeIf(TrackedRecord::isDone);
				haltByConversions(delivery, unreadable.failure());
				return;
			}
			putAside(this.policy.unreadable(), unreadable.record(), unreadable.failure(),
					unreadable.record().earlierCalls(), progress);
		}
		delivery.records().removeIf(TrackedRecord::isDone);
		if (result == null || this.halted && result.failure() != null) {
			this.lanes.remove(delivery);
		}
		else if (result.failure() != null) {
			failed(delivery, result, result.failure(), progress);
		}
		else {
			returned(returned, result, progress);
		}
	}

	/** A record could be converted. */
	private void converted() {
		this.conversionFailures = 0;
		if (this.convertAgainAt != null) {
			this.convertAgainAt = null;
			logger.info("{} resumes: its records can be converted again", this.owned);
		}
	}

	/** Whether the conversion that has failed now is one with which the shard halts. */
	private boolean isOneTooMany() {
		if (this.maxConversionFailures == 0 || this.policy.unreadable() instanceof Decision.Halt) {
			return false;
		}
		this.conversionFailures++;
		return this.conversionFailures >= this.maxConversionFailures;
	}

	/**
	 * Something is wrong with the conversion rather than with its records: stays in front
	 * of the first one, and looks now and then whether what was missing is there again.
	 */
	private void haltByConversions(Delivery delivery, Throwable failure) {
		boolean first = this.convertAgainAt == null;
		MonotonicTime again = this.context.clock().now().plus(CONVERT_AGAIN_AFTER);
		this.convertAgainAt = again;
		delivery.waitUntil(again);
		this.lanes.again(delivery);
		if (first) {
			this.troubles.haltedByConversions(delivery.first().offset(), this.conversionFailures, CONVERT_AGAIN_AFTER,
					failure);
		}
	}

	private void returned(RecordCalls.Returned returned, ShardCalls.Result result, ShardProgress progress) {
		Delivery delivery = returned.delivery();
		boolean counts = !this.acknowledgments.areWanted() || !this.inTurn && delivery.last().isAcknowledged();
		JournaledState.Changes changes = JournaledState.Changes.NONE;
		if (result.view() != null) {
			try {
				changes = counts ? progress.state().addSettled(result.view()) : progress.state().add(result.view());
			}
			catch (ArithmeticException | IllegalArgumentException ex) {
				// A sum that other calls have made too large meanwhile.
				failed(delivery, result, ex, progress);
				return;
			}
		}
		if (changes == null) {
			logger.debug("{}: what the call {} has read was changed by another; calling again", this.owned,
					delivery.where());
			this.lanes.again(delivery);
			return;
		}
		this.lanes.remove(delivery);
		for (TrackedRecord record : delivery.records()) {
			record.handled((record == delivery.last()) ? changes : JournaledState.Changes.NONE);
			if (counts) {
				progress.done(record, returned.begun());
			}
		}
		if (this.inTurn) {
			this.open.addAll(delivery.records());
			settleInTurn(progress, returned.begun());
		}
		if (this.lanes.failing() == null && !isHalted()) {
			this.troubles.callSucceeded();
		}
		int records = delivery.records().size();
		if (this.meter != null) {
			this.meter.handled(records);
		}
		this.context.meters().handled(this.owned.shard().topic(), records, returned.begun().until(returned.ended()));
	}

	/** Takes in what the application has acknowledged. */
	void settleAcknowledged(ShardProgress progress) {
		for (List<TrackedRecord> records = this.acknowledgments.next(); records != null; records = this.acknowledgments
			.next()) {
			MonotonicTime now = this.context.clock().now();
			for (TrackedRecord record : records) {
				record.acknowledged(true);
			}
			if (this.inTurn) {
				settleInTurn(progress, now);
			}
			else {
				records.forEach((record) -> settleHandled(record, progress, now));
			}
			if (this.lanes.failing() == null && !isHalted()) {
				this.troubles.callSucceeded();
			}
		}
	}

	/** Without them a shard stands still at last; that shall be seen. */
	void lookForMissingAcknowledgments(ShardProgress progress) {
		if (isHalted()) {
			return;
		}
		if (this.acknowledgments.areWanted() && progress.window().isFull() && this.lanes.failing() == null) {
			this.troubles.heldUpBy("%s has handled %d records after offset %s and not acknowledged the first of them"
				.formatted(this.handler.name(), progress.window().size(), progress.window().position()));
		}
		else if (this.acknowledgments.areWanted() && progress.queue().stalledAt() > 0 && this.lanes.failing() == null) {
			this.troubles.heldUpBy(
					"%s has handled %d records of the retry queue and not acknowledged them: no more come from there"
						.formatted(this.handler.name(), progress.queue().stalledAt()));
		}
	}

	/** What was acknowledged counts, up to the first record that was not. */
	private void settleInTurn(ShardProgress progress, MonotonicTime now) {
		for (TrackedRecord next = this.open.peek(); next != null && next.isAcknowledged(); next = this.open.peek()) {
			progress.done(this.open.remove(), now);
		}
	}

	private static void settleHandled(TrackedRecord record, ShardProgress progress, MonotonicTime now) {
		if (record.isHandled() && !record.isDone()) {
			progress.done(record, now);
		}
	}

	private void failed(Delivery delivery, ShardCalls.Result result, Throwable failure, ShardProgress progress) {
		if (!this.owned.isHeld() || result.interrupted()) {
			// Because the shard or the lease is lost, or was, or the shard is to go: not
			// the record's fault.
			logger.debug("{} was interrupted {}", this.owned, delivery.where(), failure);
			this.lanes.again(delivery);
			return;
		}
		this.context.meters().failed(this.owned.shard().topic());
		delivery.failed(failure);
		Decision decision = this.policy.decide(delivery, failure);
		if (decision instanceof Decision.Again again) {
			delivery.waitUntil(this.context.clock().now().plus(again.pause()));
			this.lanes.again(delivery);
			this.troubles.callFailed(this.handler.name(), delivery.where(), failure, again.pause());
			return;
		}
		if (failure instanceof PayloadConversionException && decision instanceof Decision.Bury && isOneTooMany()) {
			haltByConversions(delivery, failure);
			return;
		}
		this.lanes.remove(delivery);
		if (decision instanceof Decision.Split) {
			log(Level.WARN, "split", "%s failed %s of %s; handling its records one by one"
				.formatted(this.handler.name(), delivery.where(), this.owned), failure);
			this.intake.split(delivery.parts());
			return;
		}
		putAside(decision, delivery.first(), failure, delivery.calls(), progress);
		if (!isHalted() && this.lanes.failing() == null) {
			this.troubles.callSucceeded();
		}
	}

	private void putAside(Decision decision, TrackedRecord record, Throwable failure, int calls,
			ShardProgress progress) {
		MonotonicTime now = this.context.clock().now();
		if (decision instanceof Decision.Halt) {
			this.halted = true;
			this.troubles.haltedAt(record.offset(), this.handler.name(), failure);
			return;
		}
		FailedRecord failed = failedRecord(record, decision, calls, failure);
		if (decision instanceof Decision.Park park) {
			progress.park(record, failed, park.delay(), now);
			log(Level.WARN, "park", "%s failed at offset %s of %s; it is retried in %d ms, and the shard continues"
				.formatted(this.handler.name(), failed.offset(), this.owned, park.delay().toMillis()), failure);
		}
		else {
			this.context.meters().deadLettered(this.owned.shard().topic());
			progress.bury(record, failed, now);
			log(Level.ERROR, "bury",
					"%s cannot handle the record at offset %s of %s: stored as a dead letter after %d calls"
						.formatted(this.handler.name(), failed.offset(), this.owned, calls),
					failure);
		}
	}

	private void log(Level level, String what, String message, Throwable failure) {
		this.context.failures().log(level, what + " " + this.handler.name(), message, failure);
	}

	private FailedRecord failedRecord(TrackedRecord record, Decision decision, int calls, Throwable failure) {
		SourceRecord source = record.source();
		int rounds = record.rounds() + ((decision instanceof Decision.Park) ? 1 : 0);
		return FailedRecord.of(source.offset(), source.key(), source.payload(), source.headers(), source.timestamp(),
				calls, rounds, failure, this.context.wallClock().instant());
	}

	/** A call could not be made: no thread is available. */
	void noThread(Delivery delivery, Throwable refusal) {
		try {
			delivery.waitUntil(this.context.clock().now().plus(NO_THREAD_PAUSE));
		}
		finally {
			// Without a pause rather than never, if there is no memory for that either.
			this.lanes.again(delivery);
		}
		this.troubles.noThread(refusal);
	}

}
