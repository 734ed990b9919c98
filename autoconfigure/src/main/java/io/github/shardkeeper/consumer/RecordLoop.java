package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.consumer.ConsumerSettings.CommitMode;
import io.github.shardkeeper.consumer.ConsumerSettings.Ordering;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
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

	private final WorkerTroubles troubles;

	private final Lanes lanes;

	/** Where calls run that do not run on the worker, {@code null} if all do. */
	private final @Nullable Executor executor;

	/**
	 * The call on another thread that has returned last, with those before it. No queue:
	 * that would need memory when there may be none.
	 */
	private final AtomicReference<@Nullable ParallelCall> lastReturned = new AtomicReference<>();

	/** The first of those whose results are taken in now, with those after it. */
	private @Nullable ParallelCall firstReturned;

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
		this.troubles = troubles;
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
			RecordCalls.Returned over = callHere(delivery, progress, now);
			this.settlement.settle(over, progress);
			if (this.commitsEachBatch) {
				progress.commitSoon();
			}
			return over.ended();
		}
		ParallelCall call = null;
		try {
			call = new ParallelCall(delivery, progress.state());
			this.executor.execute(call);
		}
		catch (Throwable ex) {
			// An executor that throws may have kept, or even run, the call all the same.
			if (call == null || call.begin()) {
				this.settlement.noThread(delivery, ex);
			}
		}
		return this.context.clock().now();
	}

	private RecordCalls.Returned callHere(Delivery delivery, ShardProgress progress, MonotonicTime now) {
		try {
			return this.recordCalls.call(delivery, progress.state(), now);
		}
		catch (Throwable ex) {
			// Otherwise its lane would wait for its end for ever.
			this.lanes.again(delivery);
			throw ex;
		}
	}

	@Override
	public boolean settle(ShardProgress progress) {
		for (ParallelCall next = nextReturned(); next != null; next = nextReturned()) {
			RecordCalls.Returned result = next.result;
			if (result != null) {
				this.settlement.settle(result, progress);
			}
			else {
				this.lanes.again(next.delivery);
				this.troubles.unexpected(Objects.requireNonNull(next.failure));
			}
		}
		this.settlement.settleAcknowledged(progress);
		return this.lanes.areQuiet();
	}

	/** Removes the call that has returned first, {@code null} if there is none. */
	private @Nullable ParallelCall nextReturned() {
		if (this.firstReturned == null) {
			ParallelCall last = this.lastReturned.getAndSet(null);
			while (last != null) {
				ParallelCall earlier = last.neighbor;
				last.neighbor = this.firstReturned;
				this.firstReturned = last;
				last = earlier;
			}
		}
		ParallelCall first = this.firstReturned;
		if (first != null) {
			this.firstReturned = first.neighbor;
		}
		return first;
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

	/**
	 * A call on a thread of its own. Whatever happens, its end reaches the worker: from
	 * when it exists that needs no memory.
	 */
	private final class ParallelCall implements Runnable {

		private final Delivery delivery;

		private final JournaledState state;

		private final AtomicBoolean begun = new AtomicBoolean();

		/** {@code null} before it has returned, and if that could not be made. */
		private RecordCalls.@Nullable Returned result;

		/** Why there is no result. */
		private @Nullable Throwable failure;

		/** The next one in the list of those that have returned. */
		private @Nullable ParallelCall neighbor;

		ParallelCall(Delivery delivery, JournaledState state) {
			this.delivery = delivery;
			this.state = state;
		}

		/** Whether it has not begun yet; it never begins twice. */
		boolean begin() {
			return this.begun.compareAndSet(false, true);
		}

		@Override
		public void run() {
			if (!begin()) {
				return;
			}
			try {
				this.result = RecordLoop.this.recordCalls.callBeside(this.delivery, this.state);
			}
			catch (Throwable ex) {
				this.failure = ex;
			}
			ParallelCall before;
			do {
				before = RecordLoop.this.lastReturned.get();
				this.neighbor = before;
			}
			while (!RecordLoop.this.lastReturned.compareAndSet(before, this));
			RecordLoop.this.wake.run();
		}

	}

}
