package io.github.shardkeeper.loop;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks on another executor, but only so many at a time; the others wait here, in
 * order. A task that throws holds none of them up, and neither does whatever the executor
 * throws. Thread-safe.
 */
public final class BoundedExecutor implements Executor {

	private static final Logger logger = LoggerFactory.getLogger(BoundedExecutor.class);

	private final Executor executor;

	private final int limit;

	private final Deque<Runnable> waiting = new ArrayDeque<>();

	private int running;

	public BoundedExecutor(Executor executor, int limit) {
		this.executor = executor;
		this.limit = limit;
	}

	@Override
	public synchronized void execute(Runnable task) {
		Turn turn = new Turn();
		this.waiting.add(task);
		if (this.running == this.limit) {
			return;
		}
		this.running++;
		try {
			this.executor.execute(turn);
		}
		catch (Throwable ex) {
			// An executor that throws may have kept, or even run, the turn all the same.
			if (turn.begin()) {
				this.running--;
				this.waiting.removeLast();
				throw ex;
			}
		}
	}

	private void run() {
		for (Runnable task = next(); task != null; task = next()) {
			run(task);
			// Between two tasks the thread belongs to whoever waits for it. If no other
			// thread can be had, this one goes on.
			if (isTakenByAnotherThread()) {
				return;
			}
		}
	}

	private static void run(Runnable task) {
		try {
			task.run();
		}
		catch (Throwable ex) {
			try {
				logger.error("Unexpected failure; queued tasks continue", ex);
			}
			catch (Throwable unsaid) {
				// An appender that fails, or no memory: what waits matters more.
				return;
			}
		}
	}

	private boolean isTakenByAnotherThread() {
		Turn turn = null;
		try {
			turn = new Turn();
			this.executor.execute(turn);
			return true;
		}
		catch (Throwable ex) {
			return turn != null && !turn.begin();
		}
	}

	private synchronized @Nullable Runnable next() {
		Runnable task = this.waiting.poll();
		if (task == null) {
			this.running--;
		}
		return task;
	}

	/** A thread's turn: runs at least one task of those that wait. */
	private final class Turn implements Runnable {

		private final AtomicBoolean begun = new AtomicBoolean();

		/** Whether it has not begun yet; it never begins twice. */
		boolean begin() {
			return this.begun.compareAndSet(false, true);
		}

		@Override
		public void run() {
			if (begin()) {
				BoundedExecutor.this.run();
			}
		}

	}

}
