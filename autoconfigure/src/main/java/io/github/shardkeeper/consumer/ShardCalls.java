package io.github.shardkeeper.consumer;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.MonotonicClock;
import io.github.shardkeeper.handover.MonotonicTime;

/**
 * Calls the application for one owned shard. The calls may run on any thread, and at the
 * same time; looking and interrupting is thread-safe.
 */
final class ShardCalls {

	private final OwnedShard owned;

	/** The one of a shard whose calls are made one after the other. */
	private final HandlerCall only;

	/** Those that run at the same time, the oldest first. */
	private final Queue<HandlerCall> beside = new ConcurrentLinkedQueue<>();

	private final MonotonicClock clock;

	ShardCalls(OwnedShard owned, MonotonicClock clock) {
		this.owned = owned;
		this.clock = clock;
		this.only = new HandlerCall(clock);
	}

	/**
	 * Calls unless the shard is lost, while no other call for the shard runs.
	 * @param state what the call may see, {@code null} for nothing
	 */
	Result callWhileHeld(@Nullable JournaledState state, StateCall code) {
		return call(this.only, state, code, true);
	}

	/** Calls unless the shard is lost, while others may run. */
	Result callBeside(@Nullable JournaledState state, StateCall code) {
		HandlerCall call = new HandlerCall(this.clock);
		this.beside.add(call);
		try {
			return call(call, state, code, true);
		}
		finally {
			this.beside.remove(call);
		}
	}

	/** Calls in any case, while no other call for the shard runs. */
	Result call(@Nullable JournaledState state, StateCall code) {
		return call(this.only, state, code, false);
	}

	private Result call(HandlerCall call, @Nullable JournaledState state, StateCall code, boolean onlyWhileHeld) {
		StateView view = (state != null) ? state.open() : null;
		try {
			call.run(() -> {
				// Once more, now that whoever takes shard or lease away can interrupt
				// this: acquiring or converting may have taken long.
				if (onlyWhileHeld && !this.owned.isHeld()) {
					throw new InterruptedException("The shard was lost before the call");
				}
				code.run(view);
			});
			return new Result(view, null, false);
		}
		catch (Throwable ex) {
			return new Result(view, PrintableFailure.of(ex), call.wasInterrupted());
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
		this.beside.forEach(HandlerCall::interrupt);
	}

	/** Since when the oldest of the calls that run now does so, {@code null} for none. */
	@Nullable MonotonicTime since() {
		MonotonicTime since = this.only.since();
		for (HandlerCall call : this.beside) {
			if (since == null) {
				since = call.since();
			}
		}
		return since;
	}

	/** Where the oldest of the calls that run now stands, empty when none does. */
	List<StackTraceElement> stack() {
		List<StackTraceElement> stack = this.only.stack();
		for (HandlerCall call : this.beside) {
			if (stack.isEmpty()) {
				stack = call.stack();
			}
		}
		return stack;
	}

	/**
	 * What came of a call.
	 *
	 * @param view what it has read and written; {@code null} if it got no state
	 * @param failure what it has thrown, {@code null} for nothing
	 * @param interrupted whether it was interrupted from here: what it has thrown is
	 * nobody's fault then
	 */
	record Result(@Nullable StateView view, @Nullable Throwable failure, boolean interrupted) {

	}

	/** A call that gets the state. */
	@FunctionalInterface
	interface StateCall {

		void run(@Nullable StateView view) throws Throwable;

	}

}
