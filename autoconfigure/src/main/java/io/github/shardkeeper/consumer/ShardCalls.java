package io.github.shardkeeper.consumer;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handler.HandlerCall;
import io.github.shardkeeper.handover.MonotonicTime;

/**
 * Calls the application for one owned shard. The calls may run on any thread, and at the
 * same time; looking and interrupting is thread-safe.
 */
final class ShardCalls {

	private final OwnedShard owned;

	private final WorkerCourse course;

	/** The one of a shard whose calls are made one after the other. */
	private final HandlerCall only = new HandlerCall();

	/** Since when that one runs, {@code null} when it does not. */
	private volatile @Nullable MonotonicTime onlySince;

	/** Those that run at the same time, the oldest first. */
	private final Queue<Beside> beside = new ConcurrentLinkedQueue<>();

	ShardCalls(OwnedShard owned, WorkerCourse course) {
		this.owned = owned;
		this.course = course;
	}

	/**
	 * Calls unless the shard is lost, while no other call for the shard runs.
	 * @param state what the call may see, {@code null} for nothing
	 * @param now when it begins
	 */
	Result callWhileHeld(@Nullable JournaledState state, MonotonicTime now, StateCall code) {
		return callOnly(state, now, code, true);
	}

	/** Calls unless the shard is lost or is to go, while others may run. */
	Result callBeside(@Nullable JournaledState state, MonotonicTime now, StateCall code) {
		Beside running = new Beside(new HandlerCall(), now);
		this.beside.add(running);
		try {
			return call(running.call(), state, (view) -> {
				// It may have waited for its thread since it was handed out.
				if (this.course.leadsToEnd()) {
					throw new NotMade("The shard was to go before the call");
				}
				code.run(view);
			}, true);
		}
		finally {
			this.beside.remove(running);
		}
	}

	/** Calls in any case, while no other call for the shard runs. */
	Result call(@Nullable JournaledState state, MonotonicTime now, StateCall code) {
		return callOnly(state, now, code, false);
	}

	private Result callOnly(@Nullable JournaledState state, MonotonicTime now, StateCall code, boolean onlyWhileHeld) {
		this.onlySince = now;
		try {
			return call(this.only, state, code, onlyWhileHeld);
		}
		finally {
			this.onlySince = null;
		}
	}

	private Result call(HandlerCall call, @Nullable JournaledState state, StateCall code, boolean onlyWhileHeld) {
		StateView view = (state != null) ? state.open() : null;
		try {
			call.run(() -> {
				// Once more, now that whoever takes shard or lease away can interrupt
				// this: acquiring or converting may have taken long.
				if (onlyWhileHeld && !this.owned.isHeld()) {
					throw new NotMade("The shard was lost before the call");
				}
				code.run(view);
			});
			return new Result(view, null, false);
		}
		catch (Throwable ex) {
			// Whoever looks at it later may find the lease held again.
			boolean nobodysFault = call.wasInterrupted() || ex instanceof NotMade
					|| onlyWhileHeld && !this.owned.isHeld();
			return new Result(view, PrintableFailure.of(ex), nobodysFault);
		}
		finally {
			if (view != null) {
				view.close();
			}
		}
	}

	/** Interrupts the calls that run now, if any. */
	void interrupt() {
		this.only.interrupt();
		this.beside.forEach((running) -> running.call().interrupt());
	}

	/** Since when the oldest of the calls that run now does so, {@code null} for none. */
	@Nullable MonotonicTime since() {
		MonotonicTime since = this.onlySince;
		Beside oldest = this.beside.peek();
		return (since != null || oldest == null) ? since : oldest.since();
	}

	/** Where the oldest of the calls that run now stands, empty when none does. */
	List<StackTraceElement> stack() {
		List<StackTraceElement> stack = this.only.stack();
		for (Beside running : this.beside) {
			if (stack.isEmpty()) {
				stack = running.call().stack();
			}
		}
		return stack;
	}

	/**
	 * A call that others run beside.
	 *
	 * @param call the call
	 * @param since since when it runs
	 */
	private record Beside(HandlerCall call, MonotonicTime since) {

	}

	/**
	 * What came of a call.
	 *
	 * @param view what it has read and written; {@code null} if it got no state
	 * @param failure what it has thrown, {@code null} for nothing
	 * @param interrupted whether it was interrupted from here, or not made, or had lost
	 * the shard: what it has thrown is nobody's fault then
	 */
	record Result(@Nullable StateView view, @Nullable Throwable failure, boolean interrupted) {

	}

	/** Tells that the application was not called. */
	private static final class NotMade extends Exception {

		NotMade(String why) {
			super(why);
		}

	}

	/** A call that gets the state. */
	@FunctionalInterface
	interface StateCall {

		void run(@Nullable StateView view) throws Throwable;

	}

}
