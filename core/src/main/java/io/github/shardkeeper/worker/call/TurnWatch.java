package io.github.shardkeeper.worker.call;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Work for one shard outside of the calls of its handler: turns of its worker, and
 * conversions of records whose calls run on other threads. It takes milliseconds, unless
 * a schedule, a converter, a source or a store does not return. Thread-safe.
 */
public final class TurnWatch {

	/** Same limit as that of loops: far above all timeouts of stores and sources. */
	static final Duration LIMIT = LoopThreads.DEFAULT_STALL_LIMIT;

	/**
	 * A turn waits for a connection of the application's database, and twice for locks.
	 */
	private static final Duration POOL_LIMIT = Duration.ofSeconds(30);

	private final HandlerCalls calls;

	private final MonotonicClock clock;

	private final Duration limit;

	private final Work turn = new Work();

	/** Conversions beside the turns, the oldest first. */
	private final Queue<Work> conversions = new ConcurrentLinkedQueue<>();

	/**
	 * Creates it for a worker.
	 * @param lockWait how long a statement of its turns may wait in a database,
	 * {@code null} if there are none
	 */
	public TurnWatch(HandlerCalls calls, MonotonicClock clock, @Nullable Duration lockWait) {
		this.calls = calls;
		this.clock = clock;
		this.limit = (lockWait != null) ? LIMIT.plus(lockWait.multipliedBy(2)).plus(POOL_LIMIT) : LIMIT;
	}

	/** Notes that a turn begins on the current thread. */
	public void begin() {
		this.turn.begin(this.clock.now());
	}

	/** Notes that the turn has ended. */
	public void end() {
		this.turn.end();
	}

	/** Converts a record on a thread that is not that of a turn. */
	Object convert(MonotonicTime begun, Supplier<Object> conversion) {
		Work work = new Work();
		work.begin(begun);
		this.conversions.add(work);
		try {
			return conversion.get();
		}
		finally {
			this.conversions.remove(work);
			work.end();
		}
	}

	/** Returns work that exceeds the limit, {@code null} if none does. */
	public @Nullable Overdue overdue(MonotonicTime now) {
		Overdue found = overdue(this.turn, now);
		for (Work conversion : this.conversions) {
			found = (found != null) ? found : overdue(conversion, now);
		}
		return found;
	}

	private @Nullable Overdue overdue(Work work, MonotonicTime now) {
		MonotonicTime since = since(work);
		if (since == null || since.until(now).compareTo(this.limit) <= 0) {
			return null;
		}
		List<StackTraceElement> stack = work.stack();
		// Otherwise the stack may be that of a later turn.
		return since.equals(since(work)) ? new Overdue(since, stack) : null;
	}

	/** A turn that has made a call counts from the end of that call. */
	private @Nullable MonotonicTime since(Work work) {
		MonotonicTime begun = work.since;
		if (begun == null || work != this.turn) {
			return begun;
		}
		MonotonicTime called = this.calls.idleSince();
		return (called != null && called.isBefore(begun)) ? begun : called;
	}

	/**
	 * Work that exceeds the limit.
	 *
	 * @param since the time since which it has made no call
	 */
	public record Overdue(MonotonicTime since, List<StackTraceElement> stack) {

	}

	private static final class Work {

		private @Nullable Thread thread;

		/** {@code null} while there is none. */
		private volatile @Nullable MonotonicTime since;

		synchronized void begin(MonotonicTime now) {
			this.thread = Thread.currentThread();
			this.since = now;
		}

		synchronized void end() {
			this.thread = null;
			this.since = null;
		}

		/** While this is read, the thread cannot go on to other work. */
		synchronized List<StackTraceElement> stack() {
			return (this.thread != null) ? List.of(this.thread.getStackTrace()) : List.of();
		}

	}

}
