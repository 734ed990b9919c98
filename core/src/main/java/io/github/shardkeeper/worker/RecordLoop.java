package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.WakeTimer;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.call.CallResults;
import io.github.shardkeeper.worker.call.Delivery;
import io.github.shardkeeper.worker.call.DeliveryCalls;
import io.github.shardkeeper.worker.call.DeliveryOrder;
import io.github.shardkeeper.worker.call.HandlerCalls;
import io.github.shardkeeper.worker.call.TurnWatch;
import io.github.shardkeeper.worker.commit.Committer;
import io.github.shardkeeper.worker.commit.TransactionalCommitter;
import io.github.shardkeeper.worker.failure.ShardProblems;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.record.RecordBuffer;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Handles the records of an acquired shard. The path of a record: {@link RecordIntake}
 * takes it up, {@link DeliveryOrder} decides when it may be called, {@link DeliveryCalls}
 * calls the handler, {@link DeliveryResults} processes the result, {@link ShardProgress}
 * marks it as done, a {@link Committer} commits it.
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

	private final OwnedShard owned;

	private final WorkerContext context;

	private final ShardProgress progress;

	private final Committer committer;

	private final RecordIntake intake;

	private final DeliveryOrder order;

	private final DeliveryCalls calls;

	private final DeliveryResults results;

	private final CallResults ends;

	private final boolean inOrder;

	/** Whether a commit is due after each call of a batch. */
	private final boolean commitsEachBatch;

	private final WakeTimer timer;

	RecordLoop(OwnedShard owned, ShardHandler handler, HandlerCalls handlerCalls, TurnWatch turns,
			ShardProblems problems, Committer committer) {
		ConsumerSettings settings = owned.settings();
		this.owned = owned;
		this.context = owned.context();
		this.progress = committer.progress();
		this.committer = committer;
		this.timer = new WakeTimer(this.context.timer(), owned::wake);
		this.inOrder = settings.ordering() == Ordering.SHARD;
		boolean batches = handler.shape() == HandlerShape.BATCH;
		this.commitsEachBatch = batches && settings.commits().mode() == CommitMode.BATCH && !committer.commitsCalls();
		this.intake = new RecordIntake(owned, problems, this.progress, batches ? settings.batchSize() : 1);
		this.order = DeliveryOrder.of(settings, this.intake.share());
		this.results = new DeliveryResults(owned, handler, handlerCalls, problems, committer, this.order, this.intake);
		this.ends = (committer instanceof TransactionalCommitter transactional)
				? new TransactionResults(owned, transactional, this.order, this.results) : this.results;
		this.calls = new DeliveryCalls(owned, handler, handlerCalls, turns, committer,
				this.results.acknowledgments()::of, this.results.splitsAtUnreadable());
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
			Outcome stop = advance(now);
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

	private @Nullable Outcome advance(MonotonicTime now) {
		return Outcome.after(this.committer.advance(now, !this.order.isIdle()));
	}

	private boolean mayHandOut(MonotonicTime now) {
		if (this.results.halt().isInEffect(now) || this.owned.lifecycle().isLeaving()
				|| !this.progress.nextCommit().permitsCalls() || !this.committer.mayCall()) {
			return false;
		}
		if (this.owned.lifecycle().isPaused() || !this.context.lease().permitsHandOut(now)) {
			// Nothing more is done for now, or the shard may be lost soon.
			this.progress.nextCommit().commitSoon();
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
		if (this.results.dropReplaced(delivery) || this.results.expire(delivery) || this.results.parkBehind(delivery)) {
			return this.context.clock().now();
		}
		this.progress.nextCommit().busy();
		this.committer.callBegins();
		if (this.inOrder) {
			DeliveryCalls.Result result = this.calls.call(delivery, now);
			this.ends.process(result);
			if (this.commitsEachBatch) {
				this.progress.nextCommit().commitSoon();
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

	@Override
	public boolean collectResults() {
		StoreUnavailableException unavailable = null;
		for (DeliveryCalls.Result next = nextResult(); next != null; next = nextResult()) {
			try {
				this.ends.process(next);
			}
			catch (StoreUnavailableException ex) {
				unavailable = ex;
				if (this.ends.unsettled() != null) {
					break;
				}
			}
		}
		this.results.processAcknowledged();
		this.intake.move();
		if (this.order.isIdle()) {
			this.committer.callsEnded();
		}
		if (unavailable != null) {
			throw unavailable;
		}
		return this.order.isIdle();
	}

	/** Returns the next result of a call to process, {@code null} for none. */
	private DeliveryCalls.@Nullable Result nextResult() {
		DeliveryCalls.Result unsettled = this.ends.unsettled();
		return (unsettled != null) ? unsettled : this.calls.nextReturned();
	}

	/** Ends a turn. If calls are not permitted, the worker is woken when they are. */
	private Outcome rest(MonotonicTime now, boolean permitted) {
		if (this.owned.lifecycle().isLeaving()) {
			return Outcome.MORE;
		}
		boolean idle = this.order.isIdle();
		boolean atEnd = idle && this.intake.isAtEnd();
		if (atEnd || idle && this.owned.settings().commits().mode() == CommitMode.BATCH) {
			this.progress.nextCommit().commitSoon();
		}
		else if (idle && permitted) {
			this.progress.nextCommit().idle(now);
		}
		boolean waits = idle && this.committer.holdsBackCalls();
		Outcome stop = advance(now);
		if (stop != null) {
			return stop;
		}
		if (waits && this.committer.isIdle() && !this.committer.holdsBackCalls()) {
			// Answered at once: no reply wakes the worker for the call that has waited.
			return Outcome.MORE;
		}
		if (atEnd && !this.order.hasFailing() && this.progress.isAtEnd() && this.committer.isIdle()) {
			return Outcome.COMPLETED;
		}
		this.results.reportMissingAcknowledgments();
		MonotonicTime next = MonotonicTime.earliestOf(this.results.halt().ends(now),
				this.committer.nextDue(now, !idle));
		if (permitted) {
			next = MonotonicTime.earliestOf(next, this.order.nextDue(),
					this.order.hasRoom() ? this.intake.nextLook(now) : null);
		}
		if (next != null) {
			this.timer.wakeAt(next, now);
		}
		return Outcome.IDLE;
	}

}
