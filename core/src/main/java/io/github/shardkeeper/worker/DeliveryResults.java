package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;

import org.slf4j.Logger;
import org.slf4j.event.Level;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.call.CallResults;
import io.github.shardkeeper.worker.call.Delivery;
import io.github.shardkeeper.worker.call.DeliveryCalls;
import io.github.shardkeeper.worker.call.DeliveryOrder;
import io.github.shardkeeper.worker.call.HandlerCalls;
import io.github.shardkeeper.worker.commit.Committer;
import io.github.shardkeeper.worker.failure.ConversionLimit;
import io.github.shardkeeper.worker.failure.FailurePolicy;
import io.github.shardkeeper.worker.failure.FailurePolicy.Decision;
import io.github.shardkeeper.worker.failure.FailureRoute;
import io.github.shardkeeper.worker.failure.FailureRoutes;
import io.github.shardkeeper.worker.failure.ShardHalt;
import io.github.shardkeeper.worker.failure.ShardProblems;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.ConsumerMeters.TopicMeters;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Processes the results of calls: marks records as done, retries them, or stores them as
 * failed. With manual acknowledgment a handled record is done once it is acknowledged.
 * Confined to the shard's worker.
 */
final class DeliveryResults implements CallResults {

	private static final Logger logger = PrintableLogger.of(DeliveryResults.class);

	private static final Duration NO_THREAD_PAUSE = Duration.ofMillis(200);

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final HandlerCalls handlerCalls;

	private final WorkerContext context;

	private final ShardProblems problems;

	private final ShardProgress progress;

	private final DeliveryOrder order;

	private final RecordIntake intake;

	private final FailurePolicy policy;

	/** Whether calls commit what they do, so that it is done when they return. */
	private final boolean callsCommit;

	private final Acknowledgments acknowledgments;

	private final ShardHalt halt = new ShardHalt();

	private final ConversionLimit conversions;

	DeliveryResults(OwnedShard owned, ShardHandler handler, HandlerCalls handlerCalls, ShardProblems problems,
			Committer committer, DeliveryOrder order, RecordIntake intake) {
		this.owned = owned;
		this.handler = handler;
		this.handlerCalls = handlerCalls;
		this.context = owned.context();
		this.problems = problems;
		this.progress = committer.progress();
		this.order = order;
		this.intake = intake;
		this.policy = new FailurePolicy(owned,
				new FailureRoutes(owned, handler.name(), problems, this.progress, this.halt));
		this.conversions = new ConversionLimit(owned, problems, this.progress.queue(), this.halt);
		this.acknowledgments = new Acknowledgments(owned, handler, problems, this.progress);
		this.callsCommit = committer.commitsCalls();
	}

	/**
	 * Returns whether no record may be handled, or committed, before earlier ones of its
	 * delivery.
	 */
	boolean splitsAtUnreadable() {
		return this.callsCommit || this.policy.splitsAtUnreadable();
	}

	Acknowledgments acknowledgments() {
		return this.acknowledgments;
	}

	ShardHalt halt() {
		return this.halt;
	}

	@Override
	public void process(DeliveryCalls.Result result) {
		Delivery delivery = result.delivery();
		HandlerCalls.Result call = result.call();
		if (delivery.first().isReplaced() && !this.callsCommit) {
			// Another call has set or cancelled the timer meanwhile.
			this.order.retry(delivery);
			return;
		}
		if (call == null && delivery.records().size() > 1 && splitsAtUnreadable()) {
			// The records before an unreadable one are handled, and committed, before it.
			this.order.remove(delivery);
			this.intake.addParts(delivery.single());
			return;
		}
		if (call != null && !(call.failure() instanceof PayloadConversionException)) {
			this.conversions.succeeded();
		}
		for (DeliveryCalls.Unreadable unreadable : result.unreadable()) {
			this.owned.meters().count(TopicMeters::notConverted);
			TrackedRecord record = unreadable.record();
			FailureRoute route = this.policy.unreadable(record, delivery.calls() + 1, unreadable.failure());
			if (call == null && this.conversions.isExceededBy(record, route)) {
				delivery.records().removeIf(TrackedRecord::isDone);
				haltForConversions(delivery, unreadable.failure());
				return;
			}
			if (isHeldBack(delivery, record, route)) {
				return;
			}
			route.take(record, record.earlierCalls(), unreadable.failure());
		}
		delivery.records().removeIf(TrackedRecord::isDone);
		if (call == null || this.halt.lasts() && call.failure() != null) {
			this.order.remove(delivery);
		}
		else if (call.failure() != null) {
			failed(result, call, call.failure());
		}
		else {
			succeeded(result, call);
		}
	}

	private void haltForConversions(Delivery delivery, Throwable failure) {
		try {
			this.conversions.haltAt(delivery, failure);
		}
		finally {
			// Also if the failure cannot be logged: else its call would never end.
			this.order.retry(delivery);
		}
	}

	private void succeeded(DeliveryCalls.Result result, HandlerCalls.Result call) {
		Delivery delivery = result.delivery();
		boolean done = this.acknowledgments.isDone(delivery);
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
		delivery.last().effects(result.effects());
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
		this.acknowledgments.handled(delivery, result.begun());
		clearProblem();
		int records = delivery.records().size();
		this.handlerCalls.handled(records);
		this.owned.reached(MovePhase.FIRST_RECORD, result.ended());
		long size = bytes;
		this.owned.meters().count((meters) -> {
			meters.handled(records, result.begun().until(result.ended()));
			meters.handledBytes(size);
		});
	}

	private void clearProblem() {
		if (!this.order.hasFailing() && !this.halt.hasBegun()) {
			this.problems.callSucceeded();
		}
	}

	void processAcknowledged() {
		if (this.acknowledgments.process()) {
			clearProblem();
		}
	}

	void reportMissingAcknowledgments() {
		if (!this.halt.hasBegun() && !this.order.hasFailing()) {
			this.acknowledgments.reportMissing();
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
		StoreUnavailableException unavailable = call.unavailable();
		if (unavailable != null) {
			this.order.retry(delivery);
			throw unavailable;
		}
		this.owned.meters().count((meters) -> meters.failed(result.begun().until(result.ended()), failure));
		delivery.failed(failure);
		Decision decision = this.policy.decide(delivery, failure);
		if (decision instanceof Decision.Retry retry) {
			delivery.waitUntil(this.context.clock().now().plus(retry.pause()));
			this.order.retry(delivery);
			this.owned.meters().count(TopicMeters::retried);
			this.problems.callFailed(this.handler.name(), delivery.where(), failure, retry.pause());
			return;
		}
		if (decision instanceof Decision.Split split) {
			this.order.remove(delivery);
			log(Level.WARN, "split", "%s failed %s of %s; handling its records one by one"
				.formatted(this.handler.name(), delivery.where(), this.owned), failure);
			this.intake.addParts(split.parts());
		}
		else if (decision instanceof Decision.Take take) {
			FailureRoute route = take.route();
			if (failure instanceof PayloadConversionException && !route.halts()
					&& this.conversions.isExceededBy(delivery.first(), route)) {
				haltForConversions(delivery, failure);
				return;
			}
			if (isHeldBack(delivery, delivery.first(), route)) {
				return;
			}
			this.order.remove(delivery);
			route.take(delivery.first(), delivery.calls(), failure);
			clearProblem();
		}
	}

	/** Removes a timer that was set or cancelled since; returns whether it has. */
	boolean dropReplaced(Delivery delivery) {
		if (!delivery.first().isReplaced()) {
			return false;
		}
		this.order.remove(delivery);
		delivery.first().done();
		return true;
	}

	/**
	 * Puts the records of a delivery whose keys wait behind those in the retry queue.
	 * @return whether the delivery must not be called, or not yet
	 */
	boolean parkBehind(Delivery delivery) {
		if (!this.progress.queue().keepsOrder() || delivery.first().isOfQueue()) {
			return false;
		}
		if (delivery.first().isTimer()) {
			return waitBehindKey(delivery);
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

	private boolean waitBehindKey(Delivery timer) {
		boolean waits = this.progress.mustWait(timer.first());
		if (waits) {
			this.order.remove(timer);
			this.progress.timers().giveBack(timer.first());
		}
		return waits;
	}

	private boolean isHeldBack(Delivery delivery, TrackedRecord record, FailureRoute route) {
		return !route.isOpenTo(record) && isHeldBack(delivery, record);
	}

	/** Holds a delivery back if a record of it must wait in the queue, and must not. */
	private boolean isHeldBack(Delivery delivery, TrackedRecord record) {
		if (this.progress.mayWait(record)) {
			return false;
		}
		this.intake.holdBack(this.order.withdraw(delivery));
		this.problems.retryQueueFull(record.offset(), this.progress.queue());
		return true;
	}

	/**
	 * Stores a record that has waited too long in the retry queue as a dead letter, and
	 * returns whether it has. One that somebody has sent back is not affected.
	 */
	boolean expire(Delivery delivery) {
		TrackedRecord record = delivery.first();
		Duration maxAge = this.owned.settings().retryMaxAge();
		if (maxAge == null || record.failedAt() == null || record.earlierCalls() == 0
				|| this.progress.queue().keepsOrder()) {
			return false;
		}
		Duration waited = Duration.between(record.failedAt(), this.context.wallClock().instant());
		if (waited.compareTo(maxAge) <= 0) {
			return false;
		}
		this.order.remove(delivery);
		this.policy.expired()
			.take(record, record.earlierCalls(), new RetryExpiredException(waited, maxAge, record.lastException()));
		return true;
	}

	private void log(Level level, String what, String message, Throwable failure) {
		this.context.failures().log(level, what + " " + this.handler.name(), message, failure);
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
