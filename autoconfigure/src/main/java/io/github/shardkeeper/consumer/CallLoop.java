package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Calls a handler that takes no record again and again while the shard is owned, with a
 * pause between the end of a call and the next. Confined to the worker.
 */
final class CallLoop implements ShardLoop {

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final WorkerContext context;

	private final WorkerCourse course;

	private final WorkerTroubles troubles;

	private final ShardCalls calls;

	private final @Nullable WorkMeter meter;

	private final WakeTimer timer;

	private final FailureBackOff backOff = new FailureBackOff();

	private @Nullable MonotonicTime nextCall;

	CallLoop(OwnedShard owned, ShardHandler handler, WorkerContext context, WorkerCourse course,
			WorkerTroubles troubles, ShardCalls calls, @Nullable WorkMeter meter, Runnable wake) {
		this.owned = owned;
		this.handler = handler;
		this.context = context;
		this.course = course;
		this.troubles = troubles;
		this.calls = calls;
		this.meter = meter;
		this.timer = new WakeTimer(context.timer(), wake);
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
	public Outcome run(ShardProgress progress) {
		MonotonicTime now = this.context.clock().now();
		if (mayCall(now)) {
			call(progress, now);
			now = this.context.clock().now();
		}
		switch (progress.advance(now)) {
			case FENCED -> {
				return Outcome.FENCED;
			}
			case NOT_YET -> {
				return Outcome.CHECKPOINT_GONE;
			}
			case DONE, SENT -> {
			}
		}
		if (this.course.leadsToEnd()) {
			return Outcome.MORE;
		}
		MonotonicTime due = progress.commitDue();
		if (due != null) {
			this.timer.wakeAt(due, now);
		}
		// If not, whoever permits it again wakes the worker; a time in the past would,
		// at once, again and again.
		if (this.nextCall != null && this.context.lease().permitsHandOut(now)) {
			this.timer.wakeAt(this.nextCall, now);
		}
		return Outcome.DONE;
	}

	private boolean mayCall(MonotonicTime now) {
		return !this.course.leadsToEnd() && this.context.lease().permitsHandOut(now)
				&& (this.nextCall == null || !now.isBefore(this.nextCall));
	}

	private void call(ShardProgress progress, MonotonicTime begun) {
		if (this.meter != null) {
			this.meter.callBegins(begun);
		}
		ShardCalls.Result result = this.calls.callWhileHeld(this.handler.takesState() ? progress.state() : null, begun,
				(view) -> this.handler.handle(null, this.owned, view, null));
		MonotonicTime now = this.context.clock().now();
		if (this.meter != null) {
			this.meter.callEnds(now);
		}
		if (result.failure() != null) {
			failed(result, result.failure(), now);
			return;
		}
		if (result.view() != null) {
			JournaledState.Changes changes = progress.state().add(result.view());
			progress.settled((changes != null) ? changes : JournaledState.Changes.NONE, begun);
		}
		this.backOff.reset();
		this.troubles.callSucceeded();
		this.context.meters().handled(this.owned.shard().topic(), 0, begun.until(now));
		this.nextCall = now.plus(this.handler.interval());
	}

	private void failed(ShardCalls.Result result, Throwable failure, MonotonicTime now) {
		if (!this.owned.isHeld() || result.interrupted()) {
			return;
		}
		Duration pause = this.backOff.next();
		this.context.meters().failed(this.owned.shard().topic());
		this.troubles.callFailed(this.handler.name(), "", failure, pause);
		this.nextCall = now.plus(pause);
	}

	@Override
	public boolean settle(ShardProgress progress) {
		return true;
	}

	@Override
	public void clear() {
		// Nothing is read.
	}

}
