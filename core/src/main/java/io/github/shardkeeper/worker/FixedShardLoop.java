package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.WakeTimer;
import io.github.shardkeeper.schedule.RunRules;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.time.Backoff;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.call.HandlerCalls;
import io.github.shardkeeper.worker.commit.CallWrites;
import io.github.shardkeeper.worker.commit.Committer;
import io.github.shardkeeper.worker.failure.FailurePolicy;
import io.github.shardkeeper.worker.failure.ShardProblems;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Calls a handler that takes no records repeatedly while the shard is owned, with a pause
 * after each call or by the schedule of the shard. Confined to the shard's worker.
 */
final class FixedShardLoop implements ShardOwnership.Loop {

	private final OwnedShard owned;

	private final HandlerCalls handlerCalls;

	private final ShardProblems problems;

	private final WorkerContext context;

	private final ShardHandler handler;

	private final ShardProgress progress;

	private final Committer committer;

	private final @Nullable ShardRuns runs;

	private final FixedShardTimers timers;

	private final WakeTimer commitTimer;

	private final WakeTimer callTimer;

	private final Backoff backoff = ShardProblems.retryPauses();

	private @Nullable MonotonicTime nextCall;

	/** Whether no call is made until the shard has another owner. */
	private boolean halted;

	FixedShardLoop(OwnedShard owned, ShardHandler handler, HandlerCalls handlerCalls, ShardProblems problems,
			Committer committer) {
		this.owned = owned;
		this.handlerCalls = handlerCalls;
		this.problems = problems;
		this.context = owned.context();
		this.handler = handler;
		this.progress = committer.progress();
		this.committer = committer;
		RunRules schedule = this.handler.schedule();
		this.runs = (schedule != null) ? new ShardRuns(schedule, owned, problems, committer) : null;
		this.timers = new FixedShardTimers(owned, handler, handlerCalls, problems, committer);
		this.commitTimer = new WakeTimer(this.context.timer(), owned::wake);
		this.callTimer = new WakeTimer(this.context.timer(), (this.runs != null) ? this.runs::wake : owned::wake);
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
		if (!this.owned.lifecycle().isLeaving() && !waits() && isPermitted(now)) {
			this.timers.call(now);
			now = this.context.clock().now();
		}
		if (this.owned.lifecycle().isPaused()) {
			this.progress.nextCommit().commitSoon();
		}
		Outcome stop = Outcome.after(this.committer.advance(now, false));
		if (stop != null) {
			return stop;
		}
		if (this.owned.lifecycle().isLeaving()) {
			return Outcome.MORE;
		}
		MonotonicTime due = MonotonicTime.earliestOf(this.committer.nextDue(now, false),
				(!waits() && isPermitted(now)) ? this.timers.nextDue(now) : null);
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
		return !this.halted && !this.timers.isHalted() && !this.owned.lifecycle().isPaused()
				&& this.context.lease().permitsHandOut(now) && this.progress.nextCommit().permitsCalls();
	}

	private boolean mayCall(MonotonicTime now) {
		return !this.owned.lifecycle().isLeaving() && isPermitted(now)
				&& (this.nextCall == null || !now.isBefore(this.nextCall));
	}

	private void call(MonotonicTime begun) {
		this.owned.runFor((this.runs != null) ? this.runs.time() : null);
		CallWrites writes = CallWrites.open(this.handler, this.owned);
		HandlerCalls.Result result = this.handlerCalls.callHandler(
				this.handler.takesState() ? this.progress.state() : null, begun,
				(view) -> this.handler.handle(null, writes.arguments(this.owned, view, null)));
		this.owned.runFor(null);
		writes.close();
		MonotonicTime now = this.context.clock().now();
		if (result.failure() != null) {
			failed(result, result.failure(), begun, now);
			return;
		}
		if (result.view() != null) {
			JournaledState.Changes changes = this.progress.state().add(result.view());
			this.progress.stateChanged((changes != null) ? changes : JournaledState.Changes.NONE, begun);
		}
		this.progress.add(writes.effects(), begun);
		this.backoff.reset();
		if (!this.timers.isFailing()) {
			this.problems.callSucceeded();
		}
		this.owned.meters().count((meters) -> meters.handled(0, begun.until(now)));
		this.owned.reached(MovePhase.FIRST_RECORD, now);
		if (this.runs != null) {
			this.runs.succeeded(now);
		}
		this.nextCall = (this.runs != null) ? now : now.plus(this.handler.interval());
	}

	private void failed(HandlerCalls.Result result, Throwable failure, MonotonicTime begun, MonotonicTime now) {
		if (!this.owned.isHeld() || result.interrupted()) {
			if (this.runs != null) {
				this.runs.interrupted(now);
			}
			return;
		}
		StoreUnavailableException unavailable = result.unavailable();
		if (unavailable != null) {
			if (this.runs != null) {
				this.runs.failed(now);
			}
			throw unavailable;
		}
		Duration pause = this.backoff.next();
		this.owned.meters().count((meters) -> meters.failed(begun.until(now), failure));
		UnreadableStateException unreadable = FailurePolicy.unreadableState(failure);
		if (unreadable != null) {
			this.halted = true;
			this.problems.haltedByState("", unreadable, failure);
		}
		else {
			this.problems.callFailed(this.handler.name(), "", failure, pause);
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

}
