package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.consumer.ConsumerSettings.CommitMode;
import io.github.shardkeeper.consumer.ConsumerSettings.Ordering;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Hands the records of an owned shard to the handler, and has done what counts committed
 * in between. Without concurrency inside the shard the calls are made by the worker
 * itself; otherwise on threads of their own, and what comes of them is taken in by the
 * worker. Confined to the worker, but for {@link #offer} and {@link #ended}.
 */
final class RecordLoop implements ShardLoop {

	/** After so many deliveries the thread belongs to whoever waits for it … */
	private static final int DELIVERIES_PER_TURN = 500;

	/** … and after this time, too. */
	private static final Duration LONGEST_TURN = Duration.ofMillis(100);

	private final OwnedShard owned;

	private final WorkerContext context;

	private final ConsumerSettings settings;

	private final WorkerCourse course;

	private final RecordIntake intake;

	private final RecordCalls recordCalls;

	private final Settlement settlement;

	private final Lanes lanes;

	/** Where calls run that do not run on the worker, {@code null} if all do. */
	private final @Nullable Executor executor;

	/** Calls that have returned to be taken in. */
	private final Queue<RecordCalls.Returned> returned = new ConcurrentLinkedQueue<>();

	/** Whether the list of each call is committed before the next call. */
	private final boolean commitsEachBatch;

	private final Runnable wake;

	private final WakeTimer timer;

	RecordLoop(OwnedShard owned, ShardHandler handler, WorkerContext context, WorkerCourse course,
			WorkerTroubles troubles, ShardCalls calls, @Nullable WorkMeter meter, Runnable wake) {
		this.owned = owned;
		this.context = context;
		this.settings = context.settings(owned.shard().topic());
		this.course = course;
		this.wake = wake;
		this.timer = new WakeTimer(context.timer(), wake);
		boolean inOrder = this.settings.ordering() == Ordering.SHARD;
		this.executor = inOrder ? null : context.executor();
		boolean batches = handler.shape() == HandlerShape.BATCH;
		this.commitsEachBatch = batches && this.settings.commits().mode() == CommitMode.BATCH;
		this.intake = new RecordIntake(owned, context, this.settings, batches ? this.settings.batchSize() : 1, wake);
		this.lanes = inOrder ? new OneLane() : new KeyLanes(this.settings, this.intake.share());
		Acknowledgments acknowledgments = new Acknowledgments(this.settings, wake);
		this.recordCalls = new RecordCalls(owned, handler, context, calls, meter, acknowledgments);
		this.settlement = new Settlement(owned, handler, context, troubles, this.lanes, this.intake, acknowledgments,
				meter);
	}

	@Override
	public boolean offer(List<SourceRecord> records) {
		return this.intake.buffer().add(records);
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
	public Outcome run(ShardProgress progress) {
		MonotonicTime now = this.context.clock().now();
		MonotonicTime end = now.plus(LONGEST_TURN);
		for (int deliveries = 0; deliveries < DELIVERIES_PER_TURN; deliveries++) {
			settle(progress);
			Outcome stop = stop(progress.advance(now));
			if (stop != null) {
				return stop;
			}
			boolean permitted = mayHandOut(progress, now);
			Delivery next = permitted ? next(progress, now) : null;
			if (next == null) {
				return rest(progress, now, permitted);
			}
			now = call(next, progress, now);
			if (end.isBefore(now)) {
				break;
			}
		}
		return Outcome.MORE;
	}

	private boolean mayHandOut(ShardProgress progress, MonotonicTime now) {
		if (this.settlement.isHalted(now) || this.course.leadsToEnd() || progress.mustWait()) {
			return false;
		}
		if (!this.context.lease().permitsHandOut(now)) {
			// Whatever comes now, what was done is put away.
			progress.commitSoon();
			return false;
		}
		return true;
	}

	private @Nullable Delivery next(ShardProgress progress, MonotonicTime now) {
		Delivery next = this.lanes.next(now);
		while (next == null && this.lanes.hasRoom()) {
			Delivery taken = this.intake.next(progress, now);
			if (taken == null) {
				return null;
			}
			this.lanes.add(taken);
			next = this.lanes.next(now);
		}
		return next;
	}

	/** Makes a call, or has it made; returns the time after that. */
	private MonotonicTime call(Delivery delivery, ShardProgress progress, MonotonicTime now) {
		if (this.executor == null) {
			RecordCalls.Returned over = this.recordCalls.call(delivery, progress.state(), now);
			this.settlement.settle(over, progress);
			if (this.commitsEachBatch) {
				progress.commitSoon();
			}
			return over.ended();
		}
		// An executor that throws may have kept the task all the same.
		AtomicBoolean begun = new AtomicBoolean();
		try {
			this.executor.execute(() -> {
				if (begun.compareAndSet(false, true)) {
					this.returned.add(this.recordCalls.callBeside(delivery, progress.state()));
					this.wake.run();
				}
			});
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			if (begun.compareAndSet(false, true)) {
				this.settlement.noThread(delivery, ex);
			}
		}
		return this.context.clock().now();
	}

	@Override
	public boolean settle(ShardProgress progress) {
		for (RecordCalls.Returned next = this.returned.poll(); next != null; next = this.returned.poll()) {
			this.settlement.settle(next, progress);
		}
		this.settlement.settleAcknowledged(progress);
		return this.lanes.areQuiet();
	}

	/**
	 * There is nothing to hand out now.
	 * @param permitted whether it might be, if there were something; otherwise whoever
	 * permits it wakes the worker
	 */
	private Outcome rest(ShardProgress progress, MonotonicTime now, boolean permitted) {
		if (this.course.leadsToEnd()) {
			return Outcome.MORE;
		}
		boolean nothingRuns = this.lanes.areQuiet();
		boolean atEnd = nothingRuns && this.intake.isAtEnd();
		if (atEnd || nothingRuns && this.settings.commits().mode() == CommitMode.BATCH) {
			progress.commitSoon();
		}
		Outcome stop = stop(progress.advance(now));
		if (stop != null) {
			return stop;
		}
		if (atEnd && this.lanes.failing() == null && progress.isAtEnd()) {
			return Outcome.COMPLETED;
		}
		this.settlement.lookForMissingAcknowledgments(progress);
		List<MonotonicTime> alarms = new ArrayList<>(3);
		add(alarms, progress.commitDue());
		add(alarms, this.settlement.haltEnds(now));
		if (permitted) {
			add(alarms, this.lanes.nextDue());
			add(alarms, this.lanes.hasRoom() ? progress.queue().nextLook() : null);
		}
		alarms.stream().min(MonotonicTime::compareTo).ifPresent((time) -> this.timer.wakeAt(time, now));
		return Outcome.DONE;
	}

	private static void add(List<MonotonicTime> alarms, @Nullable MonotonicTime time) {
		if (time != null) {
			alarms.add(time);
		}
	}

	private static @Nullable Outcome stop(ShardProgress.Outcome commits) {
		return switch (commits) {
			case DONE, SENT -> null;
			case FENCED -> Outcome.FENCED;
			case NOT_YET -> Outcome.CHECKPOINT_GONE;
		};
	}

}
