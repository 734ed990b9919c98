package io.github.shardkeeper.worker.call;

import java.time.InstantSource;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handler.HandlerCall;
import io.github.shardkeeper.protocol.MeasuredLoads.ShardWork;
import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.state.StateView;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.commit.CallCommit;
import io.github.shardkeeper.worker.shard.FailureLog;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Calls the application for one owned shard, can interrupt these calls, and measures
 * those of the handler. Thread-safe.
 */
public final class HandlerCalls {

	private final OwnedShard owned;

	/** The only running call: a callback, or a record that is handled in order. */
	private final HandlerCall exclusive = new HandlerCall();

	private volatile @Nullable MonotonicTime exclusiveSince;

	/** End of the last exclusive call; published by {@link #exclusiveSince}. */
	private MonotonicTime exclusiveEnded;

	/** Concurrent calls, the oldest first. */
	private final Queue<ConcurrentCall> concurrent = new ConcurrentLinkedQueue<>();

	private final MonotonicClock clock;

	private final InstantSource wallClock;

	private final @Nullable Meter meter;

	public HandlerCalls(OwnedShard owned) {
		this.owned = owned;
		this.clock = owned.context().clock();
		this.wallClock = owned.context().wallClock();
		this.exclusiveEnded = this.clock.now();
		this.meter = owned.context().measuresWork() ? new Meter() : null;
	}

	/** Calls the handler unless the shard is lost; no other call for it runs. */
	public Result callHandler(@Nullable JournaledState state, MonotonicTime now, CallCommit.Code code) {
		callBegins(now);
		try {
			return callAlone(state, now, code, true);
		}
		finally {
			callEnds(this.exclusiveEnded);
		}
	}

	/** Calls the handler unless the shard is lost or leaving, while others may run. */
	Result callConcurrently(@Nullable JournaledState state, MonotonicTime now, CallCommit.Code code) {
		ConcurrentCall running = new ConcurrentCall(new HandlerCall(), now);
		this.concurrent.add(running);
		callBegins(now);
		try {
			return call(running.call(), state, (view) -> {
				// It may have waited for its thread.
				if (this.owned.lifecycle().isLeaving()) {
					throw new NotCalledException("The shard is leaving");
				}
				code.run(view);
			}, true);
		}
		finally {
			callEnds(this.clock.now());
			this.concurrent.remove(running);
		}
	}

	/** Calls a callback unless the shard is lost; no other call for it runs. */
	public Result callbackWhileHeld(JournaledState state, CallCommit.Code code) {
		return callAlone(state, this.clock.now(), code, true);
	}

	/** Calls a callback in any case; no other call for the shard runs. */
	public Result callback(JournaledState state, CallCommit.Code code) {
		return callAlone(state, this.clock.now(), code, false);
	}

	private Result callAlone(@Nullable JournaledState state, MonotonicTime now, CallCommit.Code code,
			boolean onlyWhileHeld) {
		this.exclusiveSince = now;
		try {
			return call(this.exclusive, state, code, onlyWhileHeld);
		}
		finally {
			this.exclusiveEnded = this.clock.now();
			this.exclusiveSince = null;
		}
	}

	private Result call(HandlerCall call, @Nullable JournaledState state, CallCommit.Code code, boolean onlyWhileHeld) {
		StateView view = (state != null) ? state.open(this.wallClock.millis()) : null;
		try {
			call.run(() -> {
				// Checked here, where a loss of shard or lease interrupts the call.
				if (onlyWhileHeld && !this.owned.isHeld()) {
					throw new NotCalledException("The shard was lost before the call");
				}
				code.run(view);
				throwIfUnavailable(view);
			});
			return new Result(view, null, false);
		}
		catch (Throwable ex) {
			if (view != null) {
				view.release();
			}
			// Decided here: the lease may be held again when the result is processed.
			boolean interrupted = call.wasInterrupted() || ex instanceof NotCalledException
					|| onlyWhileHeld && !this.owned.isHeld();
			return new Result(view, FailureLog.printable(ex), interrupted);
		}
		finally {
			if (view != null) {
				view.close();
			}
		}
	}

	/** The call may have hidden that it could not read its state. */
	private static void throwIfUnavailable(@Nullable StateView view) {
		StoreUnavailableException unavailable = (view != null) ? view.unavailable() : null;
		if (unavailable != null) {
			throw unavailable;
		}
	}

	public void interrupt() {
		this.exclusive.interrupt();
		this.concurrent.forEach((running) -> running.call().interrupt());
	}

	/**
	 * Interrupts running calls because the lease has ended, except those that have begun
	 * since it is held again: a process that was stopped for longer than the lease may
	 * notice the end after the renewal.
	 */
	public void interruptAtEndOfLease() {
		this.exclusive.interruptIf(() -> !isHeldSince(this.exclusiveSince));
		this.concurrent.forEach((running) -> running.call().interruptIf(() -> !isHeldSince(running.since())));
	}

	private boolean isHeldSince(@Nullable MonotonicTime begun) {
		return begun != null && this.owned.isHeldSince(begun);
	}

	/** Returns the start of the oldest running call, {@code null} if none runs. */
	public @Nullable MonotonicTime since() {
		MonotonicTime since = this.exclusiveSince;
		ConcurrentCall oldest = this.concurrent.peek();
		return (since != null || oldest == null) ? since : oldest.since();
	}

	/** Returns the end of the last call on the worker's own thread, which asks. */
	MonotonicTime exclusiveEnded() {
		return this.exclusiveEnded;
	}

	/**
	 * Returns since when no call runs on the worker's own thread, {@code null} while one
	 * does: the end of the last one, or the time at which the worker was created.
	 */
	@Nullable MonotonicTime idleSince() {
		return (this.exclusiveSince == null) ? this.exclusiveEnded : null;
	}

	/** Returns the stack of the oldest running call, empty if none runs. */
	public List<StackTraceElement> stack() {
		List<StackTraceElement> stack = this.exclusive.stack();
		for (ConcurrentCall running : this.concurrent) {
			if (stack.isEmpty()) {
				stack = running.call().stack();
			}
		}
		return stack;
	}

	public void handled(int records) {
		if (this.meter != null) {
			this.meter.records.addAndGet(records);
		}
	}

	/** Returns the work, with running calls, {@code null} if it is not measured. */
	public @Nullable ShardWork work(MonotonicTime now) {
		return (this.meter == null) ? null : new ShardWork(this.owned.shard(), this.owned.token(),
				this.meter.callNanos(now), this.meter.records.get());
	}

	private void callBegins(MonotonicTime now) {
		if (this.meter != null) {
			this.meter.add(1, now);
		}
	}

	private void callEnds(MonotonicTime now) {
		if (this.meter != null) {
			this.meter.add(-1, now);
		}
	}

	private record ConcurrentCall(HandlerCall call, MonotonicTime since) {

	}

	/**
	 * Result of a call.
	 *
	 * @param interrupted whether this instance has interrupted it, has not made it, or
	 * has lost the shard: then a failure is not caused by the record
	 */
	public record Result(@Nullable StateView view, @Nullable Throwable failure, boolean interrupted) {

		/**
		 * Returns why the call could not read its state, {@code null} if it could: then
		 * it has to be repeated.
		 */
		public @Nullable StoreUnavailableException unavailable() {
			return (this.view != null) ? this.view.unavailable() : null;
		}

	}

	private static final class NotCalledException extends Exception {

		NotCalledException(String why) {
			super(why);
		}

	}

	private static final class Meter {

		private final AtomicLong records = new AtomicLong();

		/** Duration of calls up to {@link #since}; guarded by this, as is all below. */
		private long callNanos;

		private int running;

		private MonotonicTime since = new MonotonicTime(0);

		private synchronized void add(int calls, MonotonicTime now) {
			count(now);
			this.running += calls;
		}

		/** Returns the duration of all calls so far; concurrent ones count each. */
		private synchronized long callNanos(MonotonicTime now) {
			count(now);
			return this.callNanos;
		}

		private void count(MonotonicTime now) {
			if (this.running == 0 || this.since.isBefore(now)) {
				this.callNanos += this.running * this.since.until(now).toNanos();
				this.since = now;
			}
		}

	}

}
