package io.github.shardkeeper.loop;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.text.PrintableLogger;

/**
 * Executor with a limit of concurrent tasks on another executor; further tasks wait in
 * order. Neither a task nor an executor that throws blocks them. Thread-safe.
 */
public final class BoundedExecutor implements Executor {

	private static final Logger logger = PrintableLogger.of(BoundedExecutor.class);

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
			// An executor that throws may still have kept, or even run, the turn.
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
			// Releases the thread to others; if no other is available, this one
			// continues.
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
			catch (Throwable logging) {
				// An appender of the application failed: waiting tasks matter more.
				return;
			}
		}
	}

	private boolean isTakenByAnotherThread() {
		Turn turn = new Turn();
		try {
			this.executor.execute(turn);
			return true;
		}
		catch (Throwable ex) {
			return !turn.begin();
		}
	}

	private synchronized @Nullable Runnable next() {
		Runnable task = this.waiting.poll();
		if (task == null) {
			this.running--;
		}
		return task;
	}

	private final class Turn implements Runnable {

		private final AtomicBoolean begun = new AtomicBoolean();

		/** Returns whether the turn begins now; it begins only once. */
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
