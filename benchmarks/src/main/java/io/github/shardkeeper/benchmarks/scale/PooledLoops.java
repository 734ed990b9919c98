package io.github.shardkeeper.benchmarks.scale;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The loops of many members on a few threads: a thousand members would have three
 * thousand threads of their own. A step that throws is counted, and repeated after a
 * pause, as in an application. Thread-safe.
 */
final class PooledLoops implements Loops, AutoCloseable {

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(50);

	private final ExecutorService threads;

	private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);

	private final AtomicLong failures = new AtomicLong();

	private final AtomicReference<@Nullable Throwable> firstFailure = new AtomicReference<>();

	/**
	 * Creates the pool.
	 * @param threads the number of threads: a step blocks one until Redis replies
	 */
	PooledLoops(int threads) {
		this.threads = Executors.newFixedThreadPool(threads);
		this.timer.setRemoveOnCancelPolicy(true);
	}

	@Override
	public Loop start(String name, Step step) {
		PooledLoop loop = new PooledLoop(step);
		loop.wake();
		return loop;
	}

	@Override
	public Loop startForeground(String name, Step step) {
		return start(name, step);
	}

	/** Fails if a step has failed: the figures are not valid then. */
	void verify() {
		if (this.failures.get() > 0) {
			throw new IllegalStateException("%d steps of members failed, the first with %s"
				.formatted(this.failures.get(), this.firstFailure.get()), this.firstFailure.get());
		}
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
		this.threads.shutdownNow();
	}

	/** At most once in the pool's queue or on one of its threads. */
	private final class PooledLoop implements Loop {

		private final Step step;

		private boolean busy;

		private boolean woken;

		private boolean closed;

		private Future<?> alarm;

		private PooledLoop(Step step) {
			this.step = step;
		}

		@Override
		public synchronized void wake() {
			if (this.closed) {
				return;
			}
			this.woken = true;
			if (!this.busy) {
				this.busy = true;
				PooledLoops.this.threads.execute(this::turn);
			}
		}

		private void turn() {
			synchronized (this) {
				this.woken = false;
				if (this.closed) {
					this.busy = false;
					notifyAll();
					return;
				}
			}
			MonotonicTime next;
			try {
				next = this.step.run();
			}
			catch (Throwable ex) {
				// Errors too: a loop that is busy forever is a silent member.
				failed(ex);
				next = MonotonicClock.SYSTEM.now().plus(PAUSE_AFTER_FAILURE);
			}
			ended(next);
		}

		/** The end of a step whose loop is closed is no failure. */
		private synchronized void failed(Throwable ex) {
			if (!this.closed) {
				PooledLoops.this.firstFailure.compareAndSet(null, ex);
				PooledLoops.this.failures.incrementAndGet();
			}
		}

		private synchronized void ended(MonotonicTime next) {
			if (this.alarm != null) {
				this.alarm.cancel(false);
				this.alarm = null;
			}
			this.busy = this.woken && !this.closed;
			if (this.busy) {
				PooledLoops.this.threads.execute(this::turn);
			}
			else if (next != null && !this.closed) {
				long nanos = Math.max(0, MonotonicClock.SYSTEM.now().until(next).toNanos());
				this.alarm = PooledLoops.this.timer.schedule(this::wake, nanos, TimeUnit.NANOSECONDS);
			}
			notifyAll();
		}

		@Override
		public synchronized void close() {
			this.closed = true;
			if (this.alarm != null) {
				this.alarm.cancel(false);
			}
			boolean interrupted = false;
			while (this.busy && !interrupted) {
				try {
					wait();
				}
				catch (InterruptedException ex) {
					interrupted = true;
					Thread.currentThread().interrupt();
				}
			}
		}

	}

}
