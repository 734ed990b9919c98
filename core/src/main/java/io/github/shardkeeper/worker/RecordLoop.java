package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.WakeTimer;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.ConsumerMeters.TopicMeters;
import io.github.shardkeeper.worker.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.ConsumerSettings.Ordering;

/**
 * Handles the records of an acquired shard. The path of a record: {@link RecordIntake}
 * takes it up, {@link DeliveryOrder} decides when it may be called, {@link DeliveryCalls}
 * calls the handler, {@link DeliveryResults} processes the result, {@link ShardProgress}
 * marks it as done, {@link ShardCommits} commits it.
 * <p>
 * With the ordering {@code shard} the worker makes the calls itself. Otherwise they run
 * on other threads, and the worker processes their results. Confined to the shard's
 * worker, except for {@link #offer}, {@link #movedTo} and {@link #ended}.
 */
final class RecordLoop implements ShardOwnership.Loop {

	private static final Logger logger = PrintableLogger.of(RecordLoop.class);

	/** Maximum number of deliveries before other workers get the thread. */
	private static final int MAX_DELIVERIES_PER_TURN = 500;

	private static final Duration MAX_TURN = Duration.ofMillis(100);

	/**
	 * Maximum number of calls in a row that give way to other transactions and do not
	 * count as failures.
	 */
	private static final int MAX_CONFLICTS = 10;

	/**
	 * Maximum number of calls in a row that lose their connections to a database that
	 * works, as when something on the way restarts, and do not count as failures.
	 */
	private static final int MAX_LOST_CONNECTIONS = 3;

	private static final Duration PAUSE_AFTER_LOST_CONNECTION = Duration.ofMillis(200);

	private final ShardScope scope;

	private final WorkerContext context;

	private final ShardProgress progress;

	private final ShardCommits commits;

	private final RecordIntake intake;

	private final DeliveryOrder order;

	private final DeliveryCalls calls;

	private final DeliveryResults results;

	private final DeliveryCalls.@Nullable Transacted transacted;

	/** Whether the last transaction was refused because of a newer owner. */
	private boolean fenced;

	private final boolean inOrder;

	private final boolean commitsEachBatch;

	private final WakeTimer timer;

	RecordLoop(ShardScope scope, ShardProgress progress, ShardCommits commits) {
		ConsumerSettings settings = scope.settings();
		this.scope = scope;
		this.context = scope.context();
		this.progress = progress;
		this.commits = commits;
		this.timer = new WakeTimer(this.context.timer(), scope.wake());
		this.inOrder = settings.ordering() == Ordering.SHARD;
		boolean batches = scope.handler().shape() == HandlerShape.BATCH;
		this.commitsEachBatch = batches && settings.commits().mode() == CommitMode.BATCH;
		this.intake = new RecordIntake(scope, progress, batches ? settings.batchSize() : 1);
		this.order = DeliveryOrder.of(settings, this.intake.share());
		this.results = new DeliveryResults(scope, progress, this.order, this.intake);
		CallTransactions transactions = this.context.checkpoints().transactions(scope.topic());
		this.transacted = (transactions != null) ? new DeliveryCalls.Transacted(transactions, scope, progress, commits)
				: null;
		this.calls = new DeliveryCalls(scope, progress.state(), this.results, this.transacted);
	}

	@Override
	public boolean offer(List<SourceRecord> records) {
		return this.intake.buffer().add(records);
	}

	@Override
	public void movedTo(Offset after, boolean offsetsReused) {
		this.intake.buffer().add(new RecordBuffer.Move(after, offsetsReused));
	}

	@Override
	public void ended() {
		this.intake.buffer().end();
	}

	@Override
	public void clear() {
		this.intake.buffer().clear();
	}

	@Override
	public Outcome run() {
		MonotonicTime now = this.context.clock().now();
		MonotonicTime end = now.plus(MAX_TURN);
		for (int deliveries = 0; deliveries < MAX_DELIVERIES_PER_TURN; deliveries++) {
			collectResults();
			Outcome stop = this.fenced ? Outcome.FENCED : Outcome.after(advance(now));
			if (stop != null) {
				return stop;
			}
			boolean permitted = mayHandOut(now);
			Delivery next = permitted ? next(now) : null;
			if (next == null) {
				return rest(now, permitted);
			}
			now = call(next, now);
			if (end.isBefore(now)) {
				break;
			}
		}
		return Outcome.MORE;
	}

	/** Commits, or lets the running calls do so if they commit themselves. */
	private ShardCommits.Outcome advance(MonotonicTime now) {
		if (this.transacted != null && !this.order.isIdle()) {
			this.progress.forward(now);
			this.transacted.publish();
			return ShardCommits.Outcome.DONE;
		}
		return this.commits.advance(now);
	}

	private boolean mayHandOut(MonotonicTime now) {
		if (this.results.isHalted(now) || this.scope.lifecycle().isLeaving() || this.commits.mustWait()
				|| !this.progress.permitsCalls() || this.transacted != null && !this.transacted.mayCall()) {
			return false;
		}
		if (this.scope.lifecycle().isPaused() || !this.context.lease().permitsHandOut(now)) {
			// Nothing more is done for now, or the shard may be lost soon.
			this.progress.commitSoon();
			return false;
		}
		return true;
	}

	private @Nullable Delivery next(MonotonicTime now) {
		Delivery next = this.order.next(now);
		while (next == null && this.order.hasRoom()) {
			Delivery taken = this.intake.next(now);
			if (taken == null) {
				return null;
			}
			this.order.add(taken);
			next = this.order.next(now);
		}
		return next;
	}

	private MonotonicTime call(Delivery delivery, MonotonicTime now) {
		if (this.results.expire(delivery)) {
			return this.context.clock().now();
		}
		if (this.results.parkBehind(delivery)) {
			return this.context.clock().now();
		}
		this.progress.busy();
		if (this.transacted != null) {
			this.progress.publish();
		}
		if (this.inOrder) {
			DeliveryCalls.Result result = this.calls.call(delivery, now);
			process(result);
			if (this.commitsEachBatch && this.transacted == null) {
				this.progress.commitSoon();
			}
			return result.ended();
		}
		try {
			this.calls.start(delivery);
		}
		catch (Throwable ex) {
			this.results.noThread(delivery, ex);
		}
		return this.context.clock().now();
	}

	private void process(DeliveryCalls.Result result) {
		if (this.transacted != null && result.attempt() != null) {
			process(result, result.attempt(), this.transacted);
		}
		else {
			this.results.process(result);
		}
	}

	/**
	 * Processes a call in a transaction.
	 * @throws StoreUnavailableException if the call has to be repeated, or if it is not
	 * known yet whether its transaction was committed
	 */
	private void process(DeliveryCalls.Result result, DeliveryCalls.Transacted.Attempt attempt,
			DeliveryCalls.Transacted calls) {
		CallTransactions.Result ended = calls.settle(result);
		Delivery delivery = result.delivery();
		if (ended instanceof CallTransactions.Result.Committed) {
			this.results.process(result.committed());
			calls.processCommitted(attempt);
		}
		else if (ended instanceof CallTransactions.Result.Unavailable unavailable) {
			this.order.retry(delivery);
			throw unavailable.failure();
		}
		else if (ended instanceof CallTransactions.Result.Stale) {
			this.fenced = true;
			this.order.retry(delivery);
		}
		else if (attempt.isOutdated()) {
			logger.debug("{}: the state that the call {} has read was changed by another call; repeating it",
					this.scope.owned(), delivery.where());
			this.order.retry(delivery);
		}
		else if (ended instanceof CallTransactions.Result.Conflict conflict) {
			processConflict(result, conflict.failure());
		}
		else if (ended instanceof CallTransactions.Result.ConnectionLost lost) {
			processLostConnection(result, lost.failure());
		}
		else {
			this.results.process((ended instanceof CallTransactions.Result.Failed failed)
					? result.withFailure(failed.failure()) : result);
		}
	}

	private void processConflict(DeliveryCalls.Result result, Throwable failure) {
		if (result.delivery().conflicted() > MAX_CONFLICTS) {
			this.results.process(result.withFailure(failure));
			return;
		}
		this.scope.meters().count(TopicMeters::conflicted);
		this.context.failures()
			.log(Level.INFO, "conflict " + this.scope.topic(),
					"%s: the database has rolled back the call %s in favor of another transaction, for example to end a deadlock; repeating it"
						.formatted(this.scope.owned(), result.delivery().where()),
					failure);
		this.order.retry(result.delivery());
	}

	private void processLostConnection(DeliveryCalls.Result result, Throwable failure) {
		Delivery delivery = result.delivery();
		if (delivery.lostConnection() > MAX_LOST_CONNECTIONS) {
			this.results.process(result.withFailure(failure));
			return;
		}
		this.context.failures()
			.log(Level.WARN, "lost connection " + this.scope.topic(),
					"%s: the call %s has lost its connection, though the database works; repeating it in %d ms"
						.formatted(this.scope.owned(), delivery.where(), PAUSE_AFTER_LOST_CONNECTION.toMillis()),
					failure);
		delivery.waitUntil(this.context.clock().now().plus(PAUSE_AFTER_LOST_CONNECTION));
		this.order.retry(delivery);
	}

	@Override
	public boolean collectResults() {
		StoreUnavailableException unavailable = null;
		for (DeliveryCalls.Result next = nextResult(); next != null; next = nextResult()) {
			try {
				process(next);
			}
			catch (StoreUnavailableException ex) {
				unavailable = ex;
				if (this.transacted != null && this.transacted.unsettled() != null) {
					break;
				}
			}
		}
		this.results.processAcknowledged();
		this.intake.move();
		if (this.transacted != null && this.order.isIdle()) {
			this.transacted.withdraw();
		}
		if (unavailable != null) {
			throw unavailable;
		}
		return this.order.isIdle();
	}

	/** Returns the next result of a call to process, {@code null} for none. */
	private DeliveryCalls.@Nullable Result nextResult() {
		DeliveryCalls.Result unsettled = (this.transacted != null) ? this.transacted.unsettled() : null;
		return (unsettled != null) ? unsettled : this.calls.nextReturned();
	}

	/** Ends a turn. If calls are not permitted, the worker is woken when they are. */
	private Outcome rest(MonotonicTime now, boolean permitted) {
		if (this.scope.lifecycle().isLeaving()) {
			return Outcome.MORE;
		}
		boolean idle = this.order.isIdle();
		boolean atEnd = idle && this.intake.isAtEnd();
		if (atEnd || idle && this.scope.settings().commits().mode() == CommitMode.BATCH) {
			this.progress.commitSoon();
		}
		else if (idle && permitted) {
			this.progress.idle(now);
		}
		boolean waits = this.transacted != null && idle && this.progress.commitDue() != null;
		Outcome stop = Outcome.after(advance(now));
		if (stop != null) {
			return stop;
		}
		if (waits && this.commits.isIdle() && this.progress.commitDue() == null) {
			// Answered at once: no answer wakes the worker for the call that has waited.
			return Outcome.MORE;
		}
		if (atEnd && !this.order.hasFailing() && this.progress.isAtEnd() && this.commits.isIdle()) {
			return Outcome.COMPLETED;
		}
		this.results.reportMissingAcknowledgments();
		MonotonicTime next = this.results.haltEnds(now);
		next = MonotonicTime.earliestOf(next,
				(idle || this.transacted == null) ? this.commits.nextDue() : this.progress.outbox().nextAttempt());
		if (permitted) {
			next = MonotonicTime.earliestOf(next, this.order.nextDue(),
					this.order.hasRoom() ? this.progress.queue().nextLook() : null);
		}
		if (next != null) {
			this.timer.wakeAt(next, now);
		}
		return Outcome.IDLE;
	}

}
