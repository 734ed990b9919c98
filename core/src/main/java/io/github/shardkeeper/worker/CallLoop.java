package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.checkpoint.JournaledState;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.WakeTimer;
import io.github.shardkeeper.output.CallOutput;
import io.github.shardkeeper.schedule.NoNextRunException;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.schedule.RunRules;
import io.github.shardkeeper.schedule.RunSchedule.Skipped;
import io.github.shardkeeper.schedule.RunSchedule;
import io.github.shardkeeper.schedule.RunTrigger;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Calls a handler that takes no records repeatedly while the shard is owned, with a pause
 * after each call or by the schedule of the shard. Confined to the shard's worker.
 */
final class CallLoop implements ShardOwnership.Loop {

	private static final Logger logger = PrintableLogger.of(CallLoop.class);

	private final ShardScope scope;

	private final WorkerContext context;

	private final ShardHandler handler;

	private final ShardProgress progress;

	private final Committer committer;

	private final @Nullable ShardRuns runs;

	private final WakeTimer commitTimer;

	private final WakeTimer callTimer;

	private final ShardProblems.BackOff backOff = new ShardProblems.BackOff();

	private @Nullable MonotonicTime nextCall;

	/** Whether no call is made until the shard has another owner. */
	private boolean halted;

	CallLoop(ShardScope scope, Committer committer) {
		this.scope = scope;
		this.context = scope.context();
		this.handler = scope.handler();
		this.progress = committer.progress();
		this.committer = committer;
		RunRules schedule = this.handler.schedule();
		this.runs = (schedule != null) ? new ShardRuns(schedule, scope, committer) : null;
		this.commitTimer = new WakeTimer(this.context.timer(), scope.wake());
		this.callTimer = new WakeTimer(this.context.timer(), (this.runs != null) ? this.runs::wake : scope.wake());
	}

	@Override
	public boolean offer(List<SourceRecord> records) {
		throw new IllegalStateException("%s takes no records".formatted(this.handler.name()));
	}

	@Override
	public void movedTo(Offset after, boolean offsetsReused) {
		throw new IllegalStateException("%s takes no records".formatted(this.handler.name()));
	}

	@Override
	public void ended() {
		throw new IllegalStateException("%s takes no records".formatted(this.handler.name()));
	}

	@Override
	public Outcome run() {
		// Before the time is read, and for this turn only: it is the one that was woken.
		Instant woken = (this.runs != null) ? this.runs.takeWoken() : null;
		MonotonicTime now = this.context.clock().now();
		if (mayCall(now)) {
			this.nextCall = (this.runs != null) ? this.runs.begin(now, woken) : now;
			if (this.runs != null && this.runs.isUnderWay()) {
				Outcome stop = Outcome.after(this.committer.advance(now, false));
				if (stop != null) {
					return stop;
				}
			}
			if (!waits() && !now.isBefore(this.nextCall)) {
				call(now);
				now = this.context.clock().now();
				if (this.runs != null && mayCall(now)) {
					// Before the commit, which then has the end of the one run and the
					// begin of the next.
					this.nextCall = this.runs.begin(now, null);
				}
			}
		}
		if (this.scope.lifecycle().isPaused()) {
			this.progress.commitSoon();
		}
		Outcome stop = Outcome.after(this.committer.advance(now, false));
		if (stop != null) {
			return stop;
		}
		if (this.scope.lifecycle().isLeaving()) {
			return Outcome.MORE;
		}
		MonotonicTime due = this.committer.nextDue(false);
		if (due != null) {
			this.commitTimer.wakeAt(due, now);
		}
		// Without permission the time may be in the past, and would wake the worker in a
		// busy loop; it is woken when calls are permitted again. A commit that the call
		// waits for wakes it, too.
		if (this.nextCall != null && !waits() && isPermitted(now)) {
			this.callTimer.wakeAt(this.nextCall, now);
		}
		return Outcome.IDLE;
	}

	/** Returns whether a run has begun whose call waits for a commit. */
	private boolean waits() {
		return this.runs != null && this.runs.isUnderWay() && !this.runs.mayCall();
	}

	private boolean isPermitted(MonotonicTime now) {
		return !this.halted && !this.scope.lifecycle().isPaused() && this.context.lease().permitsHandOut(now)
				&& this.progress.permitsCalls();
	}

	private boolean mayCall(MonotonicTime now) {
		return !this.scope.lifecycle().isLeaving() && isPermitted(now)
				&& (this.nextCall == null || !now.isBefore(this.nextCall));
	}

	private void call(MonotonicTime begun) {
		this.scope.owned().runFor((this.runs != null) ? this.runs.time() : null);
		CallOutput output = this.handler.takesOutput() ? this.context.outputs().open() : null;
		HandlerCalls.Result result = this.scope.calls()
			.callHandler(this.handler.takesState() ? this.progress.state() : null, begun,
					(view) -> this.handler.handle(null, this.scope.owned(), view, null, output));
		this.scope.owned().runFor(null);
		if (output != null) {
			output.close();
		}
		MonotonicTime now = this.context.clock().now();
		if (result.failure() != null) {
			failed(result, result.failure(), begun, now);
			return;
		}
		if (result.view() != null) {
			JournaledState.Changes changes = this.progress.state().add(result.view());
			this.progress.stateChanged((changes != null) ? changes : JournaledState.Changes.NONE, begun);
		}
		if (output != null) {
			this.progress.send(output.records(), begun);
		}
		this.backOff.reset();
		this.scope.problems().callSucceeded();
		this.scope.meters().count((meters) -> meters.handled(0, begun.until(now)));
		this.scope.owned().reached(MovePhase.FIRST_RECORD, now);
		if (this.runs != null) {
			this.runs.succeeded(now);
		}
		this.nextCall = (this.runs != null) ? now : now.plus(this.handler.interval());
	}

	private void failed(HandlerCalls.Result result, Throwable failure, MonotonicTime begun, MonotonicTime now) {
		if (!this.scope.owned().isHeld() || result.interrupted()) {
			if (this.runs != null) {
				this.runs.interrupted(now);
			}
			return;
		}
		Duration pause = this.backOff.next();
		this.scope.meters().count((meters) -> meters.failed(begun.until(now), failure));
		UnreadableStateException unreadable = FailurePolicy.unreadableState(failure);
		if (unreadable != null) {
			this.halted = true;
			this.scope.problems().haltedByState("", unreadable, failure);
		}
		else {
			this.scope.problems().callFailed(this.handler.name(), "", failure, pause);
		}
		if (this.runs != null) {
			this.runs.failed(now);
		}
		this.nextCall = now.plus(pause);
	}

	@Override
	public boolean collectResults() {
		return true;
	}

	@Override
	public void clear() {
		if (this.runs != null) {
			this.runs.stop(this.context.clock().now());
		}
	}

	/**
	 * Runs of an owned shard by its schedule: drives the {@link RunSchedule}, and commits
	 * its position as the offset of the shard. Confined to the shard's worker, except for
	 * {@link #wake}.
	 */
	private static final class ShardRuns {

		/** Maximum wait before the wall clock is read again: it may have been set. */
		private static final Duration MAX_WAIT = Duration.ofMinutes(1);

		private final RunRules rules;

		private final ShardScope scope;

		private final WorkerContext context;

		private final ShardProgress progress;

		private final Committer committer;

		private final RunSchedule schedule;

		/** Whether the end of a run is committed at once. */
		private final boolean commitsEnds;

		/**
		 * Number of the commit without which no run is called: it has the end of the last
		 * run, and the begin of this one if the rules want that.
		 */
		private long required;

		/**
		 * Time at which the timer of runs has woken the worker, {@code null} since its
		 * turn.
		 */
		private volatile @Nullable Instant wokenAt;

		private RunPosition position;

		ShardRuns(RunRules rules, ShardScope scope, Committer committer) {
			this.rules = rules;
			this.scope = scope;
			this.context = scope.context();
			this.progress = committer.progress();
			this.committer = committer;
			// An interval that is longer than that of commits needs no more of them.
			this.commitsEnds = rules.marks() || rules.trigger() instanceof RunTrigger.Every every
					&& every.interval().compareTo(scope.settings().commits().interval()) >= 0;
			RunPosition stored = RunPosition.of(this.progress.begin());
			this.schedule = new RunSchedule(rules, stored, wallTime());
			this.position = this.schedule.position();
			scope.problems().scheduledAt(this.position);
			if (!this.position.equals(stored)) {
				this.progress.moveTo(this.position.toOffset(), this.context.clock().now());
			}
		}

		private Instant wallTime() {
			return this.context.wallClock().instant();
		}

		/**
		 * Wakes the worker, and notes that the shard is ready for a run: waiting for a
		 * thread does not make the run a missed one.
		 */
		void wake() {
			if (this.wokenAt == null && this.context.lease().permitsHandOut(this.context.clock().now())) {
				this.wokenAt = wallTime();
			}
			this.scope.wake().run();
		}

		@Nullable Instant takeWoken() {
			Instant woken = this.wokenAt;
			this.wokenAt = null;
			return woken;
		}

		/**
		 * Begins the run that is due, if any; returns now if one is, or when to ask
		 * again.
		 * @param woken the time at which the timer has woken the worker for this turn
		 */
		MonotonicTime begin(MonotonicTime now, @Nullable Instant woken) {
			Instant time = wallTime();
			if (this.schedule.isUnderWay()) {
				return now;
			}
			try {
				MonotonicTime next = next(time, (woken != null && woken.isBefore(time)) ? woken : time, now);
				if (!now.isBefore(next)) {
					this.schedule.begin(time);
					moved(now, this.rules.marks());
					if (this.rules.marksFirst()) {
						this.required = this.committer.numbers().upcoming();
					}
				}
				this.scope.problems().scheduleContinues();
				return next;
			}
			catch (NoNextRunException ex) {
				this.scope.problems().scheduleStopped(ex);
				return now.plus(MAX_WAIT);
			}
		}

		private MonotonicTime next(Instant time, Instant ready, MonotonicTime now) {
			Instant next = this.schedule.decide(time, ready);
			this.schedule.takeSkipped().forEach(this::report);
			moved(now, false);
			if (next == null) {
				return now;
			}
			Duration wait = Duration.between(time, next);
			return now.plus((wait.compareTo(MAX_WAIT) < 0) ? wait : MAX_WAIT);
		}

		private void report(Skipped skipped) {
			if (skipped.interrupted()) {
				logger.warn(
						"The run of {} that was due at {} was interrupted and is not repeated; the next one is due at {}",
						this.scope.owned(), skipped.from(), skipped.until());
			}
			else {
				logger.warn("The runs of {} from {} on were missed and are left out; the next one is of {}",
						this.scope.owned(), skipped.from(), skipped.until());
			}
		}

		/** Returns the time of the run that is under way. */
		Instant time() {
			return this.position.next();
		}

		/** Returns whether a run has begun and its call has not returned. */
		boolean isUnderWay() {
			return this.schedule.isUnderWay();
		}

		/**
		 * Returns whether the run that has begun may be called: the store knows the end
		 * of the last one, which is never called again, and of this one what the rules
		 * want.
		 */
		boolean mayCall() {
			return this.committer.numbers().acknowledged() >= this.required;
		}

		/** Ends the run. */
		void succeeded(MonotonicTime now) {
			this.schedule.succeeded(wallTime());
			moved(now, this.commitsEnds);
			if (this.commitsEnds) {
				this.required = this.committer.numbers().upcoming();
			}
		}

		void failed(MonotonicTime now) {
			this.schedule.failed();
			moved(now, false);
		}

		void interrupted(MonotonicTime now) {
			this.schedule.interrupted();
			moved(now, false);
		}

		/** Cancels a run whose call has not been made: another owner will make it. */
		void stop(MonotonicTime now) {
			if (this.schedule.isUnderWay()) {
				this.schedule.cancel();
				moved(now, false);
			}
		}

		private void moved(MonotonicTime now, boolean soon) {
			RunPosition next = this.schedule.position();
			if (!next.equals(this.position)) {
				this.position = next;
				this.progress.moveTo(next.toOffset(), now);
				this.scope.problems().scheduledAt(next);
			}
			if (soon) {
				this.progress.commitSoon();
			}
		}

	}

}
