package io.github.shardkeeper.consumer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks on another executor, but only so many at a time; the others wait here, in
 * order. A task that throws holds none of them up. Thread-safe.
 */
final class BoundedExecutor implements Executor {

	private static final Logger logger = LoggerFactory.getLogger(BoundedExecutor.class);

	private final Executor executor;

	private final int limit;

	private final Deque<Runnable> waiting = new ArrayDeque<>();

	private int running;

	BoundedExecutor(Executor executor, int limit) {
		this.executor = executor;
		this.limit = limit;
	}

	@Override
	public synchronized void execute(Runnable task) {
		if (this.running < this.limit) {
			this.executor.execute(this::run);
			this.running++;
		}
		this.waiting.add(task);
	}

	private void run() {
		for (Runnable task = next(); task != null; task = next()) {
			try {
				task.run();
			}
			catch (Throwable ex) {
				logger.error("Unexpected failure; what waits goes on", ex);
			}
			try {
				// Between two tasks the thread belongs to whoever waits for it.
				this.executor.execute(this::run);
				return;
			}
			catch (RejectedExecutionException | OutOfMemoryError ex) {
				// No other thread can be had: this one goes on.
			}
		}
	}

	private synchronized @Nullable Runnable next() {
		Runnable task = this.waiting.poll();
		if (task == null) {
			this.running--;
		}
		return task;
	}

}
