package io.github.shardkeeper.worker;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.time.Backoff;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.call.HandlerCalls;
import io.github.shardkeeper.worker.commit.CallWrites;
import io.github.shardkeeper.worker.commit.Committer;
import io.github.shardkeeper.worker.failure.FailurePolicy;
import io.github.shardkeeper.worker.failure.ShardProblems;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Calls of a handler without records for its timers, one after the other. One that fails
 * is repeated after a pause that grows, and later ones wait for it. Confined to the
 * shard's worker.
 */
final class FixedShardTimers {

	/** Maximum number of calls before the handler may run. */
	private static final int MAX_IN_A_ROW = 100;

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final HandlerCalls handlerCalls;

	private final ShardProblems problems;

	private final Committer committer;

	private final ShardProgress progress;

	private final Backoff backoff = ShardProblems.retryPauses();

	/** Timer that has failed, {@code null} for none. */
	private @Nullable TrackedRecord failing;

	private @Nullable MonotonicTime nextAttempt;

	/** Number of failed calls for the timer that is repeated. */
	private int failures;

	/** Whether no call is made until the shard has another owner. */
	private boolean halted;

	FixedShardTimers(OwnedShard owned, ShardHandler handler, HandlerCalls handlerCalls, ShardProblems problems,
			Committer committer) {
		this.owned = owned;
		this.handler = handler;
		this.handlerCalls = handlerCalls;
		this.problems = problems;
		this.committer = committer;
		this.progress = committer.progress();
	}

	boolean isHalted() {
		return this.halted;
	}

	boolean isFailing() {
		return this.failing != null;
	}

	/** Calls for timers that are due. */
	void call(MonotonicTime now) {
		MonotonicTime begun = now;
		for (int i = 0; i < MAX_IN_A_ROW && !this.halted && this.committer.mayCall(); i++) {
			TrackedRecord next = next(begun);
			if (next == null) {
				return;
			}
			call(next, begun);
			begun = this.owned.context().clock().now();
		}
	}

	private @Nullable TrackedRecord next(MonotonicTime now) {
		TrackedRecord repeated = this.failing;
		if (repeated == null || repeated.isReplaced()) {
			endRetries();
			return this.progress.timers().next(now);
		}
		return (this.nextAttempt == null || !now.isBefore(this.nextAttempt)) ? repeated : null;
	}

	private void call(TrackedRecord timer, MonotonicTime begun) {
		CallWrites writes = CallWrites.open(this.handler, this.owned);
		HandlerCalls.Result result = this.handlerCalls.callHandler(
				this.handler.takesState() ? this.progress.state() : null, begun,
				(view) -> this.handler.handle(this.handler.convert(this.owned, timer.source(), this.failures + 1),
						writes.arguments(this.owned, view, null)));
		writes.close();
		if (result.failure() != null) {
			this.failing = timer;
			failed(result, result.failure(), begun);
			return;
		}
		// Not null: no other call has run meanwhile.
		JournaledState.Changes changes = (result.view() != null) ? this.progress.state().add(result.view()) : null;
		timer.handled((changes != null) ? changes : JournaledState.Changes.NONE);
		timer.effects(writes.effects());
		this.progress.done(timer, begun);
		endRetries();
		this.backoff.reset();
		this.problems.callSucceeded();
		MonotonicTime now = this.owned.context().clock().now();
		this.owned.meters().count((meters) -> meters.handled(0, begun.until(now)));
	}

	private void endRetries() {
		this.failing = null;
		this.nextAttempt = null;
		this.failures = 0;
	}

	private void failed(HandlerCalls.Result result, Throwable failure, MonotonicTime begun) {
		if (!this.owned.isHeld() || result.interrupted()) {
			return;
		}
		StoreUnavailableException unavailable = result.unavailable();
		if (unavailable != null) {
			throw unavailable;
		}
		MonotonicTime now = this.owned.context().clock().now();
		this.owned.meters().count((meters) -> meters.failed(begun.until(now), failure));
		UnreadableStateException unreadable = FailurePolicy.unreadableState(failure);
		if (unreadable != null) {
			this.halted = true;
			this.problems.haltedByState("", unreadable, failure);
			return;
		}
		this.failures++;
		Duration pause = this.backoff.next();
		this.nextAttempt = now.plus(pause);
		this.problems.callFailed(this.handler.name(), "", failure, pause);
	}

	/** Returns when to call again, {@code null} for not before an event. */
	@Nullable MonotonicTime nextDue(MonotonicTime now) {
		if (!this.committer.mayCall()) {
			return null;
		}
		TrackedRecord repeated = this.failing;
		return (repeated == null || repeated.isReplaced()) ? this.progress.timers().nextLook(now)
				: (this.nextAttempt != null) ? this.nextAttempt : now;
	}

}
