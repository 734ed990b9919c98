package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.JournaledState;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.WakeTimer;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Calls a handler that takes no records repeatedly while the shard is owned, with a pause
 * after each call. Confined to the shard's worker.
 */
final class CallLoop implements ShardOwnership.Loop {

	private final ShardScope scope;

	private final WorkerContext context;

	private final ShardHandler handler;

	private final ShardProgress progress;

	private final ShardCommits commits;

	private final WakeTimer timer;

	private final ShardProblems.BackOff backOff = new ShardProblems.BackOff();

	private @Nullable MonotonicTime nextCall;

	CallLoop(ShardScope scope, ShardProgress progress, ShardCommits commits) {
		this.scope = scope;
		this.context = scope.context();
		this.handler = scope.handler();
		this.progress = progress;
		this.commits = commits;
		this.timer = new WakeTimer(this.context.timer(), scope.wake());
	}

	@Override
	public boolean offer(List<SourceRecord> records) {
		throw new IllegalStateException("%s takes no records".formatted(this.handler.name()));
	}

	@Override
	public void ended() {
		throw new IllegalStateException("%s takes no records".formatted(this.handler.name()));
	}

	@Override
	public Outcome run() {
		MonotonicTime now = this.context.clock().now();
		if (mayCall(now)) {
			call(now);
			now = this.context.clock().now();
		}
		Outcome stop = Outcome.after(this.commits.advance(now));
		if (stop != null) {
			return stop;
		}
		if (this.scope.lifecycle().isLeaving()) {
			return Outcome.MORE;
		}
		MonotonicTime due = this.commits.nextDue();
		if (due != null) {
			this.timer.wakeAt(due, now);
		}
		// Without permission the time may be in the past, and would wake the worker in a
		// busy loop; it is woken when calls are permitted again.
		if (this.nextCall != null && this.context.lease().permitsHandOut(now)) {
			this.timer.wakeAt(this.nextCall, now);
		}
		return Outcome.IDLE;
	}

	private boolean mayCall(MonotonicTime now) {
		return !this.scope.lifecycle().isLeaving() && this.context.lease().permitsHandOut(now)
				&& (this.nextCall == null || !now.isBefore(this.nextCall));
	}

	private void call(MonotonicTime begun) {
		HandlerCalls.Result result = this.scope.calls()
			.callHandler(this.handler.takesState() ? this.progress.state() : null, begun,
					(view) -> this.handler.handle(null, this.scope.owned(), view, null));
		MonotonicTime now = this.context.clock().now();
		if (result.failure() != null) {
			failed(result, result.failure(), now);
			return;
		}
		if (result.view() != null) {
			JournaledState.Changes changes = this.progress.state().add(result.view());
			this.progress.stateChanged((changes != null) ? changes : JournaledState.Changes.NONE, begun);
		}
		this.backOff.reset();
		this.scope.problems().callSucceeded();
		this.context.meters().count((meters) -> meters.handled(this.scope.topic(), 0, begun.until(now)));
		this.nextCall = now.plus(this.handler.interval());
	}

	private void failed(HandlerCalls.Result result, Throwable failure, MonotonicTime now) {
		if (!this.scope.owned().isHeld() || result.interrupted()) {
			return;
		}
		Duration pause = this.backOff.next();
		this.context.meters().count((meters) -> meters.failed(this.scope.topic()));
		this.scope.problems().callFailed(this.handler.name(), "", failure, pause);
		this.nextCall = now.plus(pause);
	}

	@Override
	public boolean collectResults() {
		return true;
	}

	@Override
	public void clear() {
	}

}
