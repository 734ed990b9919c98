package io.github.shardkeeper.worker;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.JournaledState;
import io.github.shardkeeper.checkpoint.StateView;
import io.github.shardkeeper.handler.HandlerCall;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Calls the application for one owned shard, and can interrupt these calls. Thread-safe.
 */
final class HandlerCalls {

	private final OwnedShard owned;

	private final ShardLifecycle lifecycle;

	/** The call that runs alone: all callbacks, and records that are handled in order. */
	private final HandlerCall exclusive = new HandlerCall();

	private volatile @Nullable MonotonicTime exclusiveSince;

	/** The calls that run at the same time, the oldest first. */
	private final Queue<ConcurrentCall> concurrent = new ConcurrentLinkedQueue<>();

	HandlerCalls(OwnedShard owned, ShardLifecycle lifecycle) {
		this.owned = owned;
		this.lifecycle = lifecycle;
	}

	/**
	 * Calls unless the shard is lost, while no other call for the shard runs.
	 * @param state what the call may see, {@code null} for nothing
	 * @param now when it begins
	 */
	Result callWhileHeld(@Nullable JournaledState state, MonotonicTime now, StateCall code) {
		return callExclusively(state, now, code, true);
	}

	/** Calls in any case, while no other call for the shard runs. */
	Result call(@Nullable JournaledState state, MonotonicTime now, StateCall code) {
		return callExclusively(state, now, code, false);
	}

	private Result callExclusively(@Nullable JournaledState state, MonotonicTime now, StateCall code,
			boolean onlyWhileHeld) {
		this.exclusiveSince = now;
		try {
			return call(this.exclusive, state, code, onlyWhileHeld);
		}
		finally {
			this.exclusiveSince = null;
		}
	}

	/** Calls unless the shard is lost or leaving, while others may run. */
	Result callConcurrently(@Nullable JournaledState state, MonotonicTime now, StateCall code) {
		ConcurrentCall running = new ConcurrentCall(new HandlerCall(), now);
		this.concurrent.add(running);
		try {
			return call(running.call(), state, (view) -> {
				// It may have waited for its thread since it was handed out.
				if (this.lifecycle.isLeaving()) {
					throw new NotCalledException("The shard is leaving");
				}
				code.run(view);
			}, true);
		}
		finally {
			this.concurrent.remove(running);
		}
	}

	private Result call(HandlerCall call, @Nullable JournaledState state, StateCall code, boolean onlyWhileHeld) {
		StateView view = (state != null) ? state.open() : null;
		try {
			call.run(() -> {
				// Checked here, where a loss of shard or lease interrupts the call:
				// acquiring or converting may have taken long.
				if (onlyWhileHeld && !this.owned.isHeld()) {
					throw new NotCalledException("The shard was lost before the call");
				}
				code.run(view);
			});
			return new Result(view, null, false);
		}
		catch (Throwable ex) {
			// Decided here: the lease may be held again when the result is looked at.
			boolean interrupted = call.wasInterrupted() || ex instanceof NotCalledException
					|| onlyWhileHeld && !this.owned.isHeld();
			return new Result(view, PrintableFailure.of(ex), interrupted);
		}
		finally {
			if (view != null) {
				view.close();
			}
		}
	}

	/** Interrupts the calls that run now. */
	void interrupt() {
		this.exclusive.interrupt();
		this.concurrent.forEach((running) -> running.call().interrupt());
	}

	/** Returns since when the oldest running call runs, {@code null} if none does. */
	@Nullable MonotonicTime since() {
		MonotonicTime since = this.exclusiveSince;
		ConcurrentCall oldest = this.concurrent.peek();
		return (since != null || oldest == null) ? since : oldest.since();
	}

	/** Returns the stack of the oldest running call, empty if none runs. */
	List<StackTraceElement> stack() {
		List<StackTraceElement> stack = this.exclusive.stack();
		for (ConcurrentCall running : this.concurrent) {
			if (stack.isEmpty()) {
				stack = running.call().stack();
			}
		}
		return stack;
	}

	private record ConcurrentCall(HandlerCall call, MonotonicTime since) {

	}

	/**
	 * Result of a call.
	 *
	 * @param view what the call has read and written; {@code null} if it got no state
	 * @param failure what it has thrown, {@code null} for nothing
	 * @param interrupted whether it was interrupted by this instance, not made, or has
	 * lost the shard: a failure is not the record's fault then
	 */
	record Result(@Nullable StateView view, @Nullable Throwable failure, boolean interrupted) {

	}

	/** Thrown when the application was not called. */
	private static final class NotCalledException extends Exception {

		NotCalledException(String why) {
			super(why);
		}

	}

	/** A call that gets the state. */
	@FunctionalInterface
	interface StateCall {

		void run(@Nullable StateView view) throws Throwable;

	}

}
