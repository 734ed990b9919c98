package io.github.shardkeeper.loop;

import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.text.FailureText;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/** A loop with a thread of its own. Thread-safe. */
final class LoopThread implements Loops.Loop {

	private static final Logger logger = PrintableLogger.of(LoopThread.class);

	private static final long FIRST_PAUSE_MILLIS = 50;

	private static final long LONGEST_PAUSE_MILLIS = 5000;

	private static final long CLOSE_MILLIS = 1000;

	private final Loops.Step step;

	private final MonotonicClock clock;

	private final MeterGuard<LoopMeters> meters;

	private final Consumer<LoopThread> onClose;

	private final Thread thread;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/** Guarded by the lock. */
	private boolean woken;

	private volatile boolean running = true;

	/** {@code null} between two steps. */
	private volatile @Nullable MonotonicTime stepSince;

	/** {@code null} if the last step succeeded. */
	private volatile @Nullable Throwable failure;

	/** Confined to the watchdog. */
	private @Nullable MonotonicTime interruptedAt;

	LoopThread(String name, Loops.Step step, boolean daemon, MonotonicClock clock, MeterGuard<LoopMeters> meters,
			Consumer<LoopThread> onClose, ThreadFactory threads) {
		this.step = step;
		this.clock = clock;
		this.meters = meters;
		this.onClose = onClose;
		this.thread = threads.newThread(this::run);
		this.thread.setName(name);
		this.thread.setDaemon(daemon);
	}

	String name() {
		return this.thread.getName();
	}

	void begin() {
		this.thread.start();
	}

	/** Only closing ends the loop: nothing would start it again. */
	private void run() {
		long pauseMillis = FIRST_PAUSE_MILLIS;
		while (this.running) {
			try {
				MonotonicTime next = runStep();
				this.failure = null;
				pauseMillis = FIRST_PAUSE_MILLIS;
				awaitNext(next);
			}
			catch (InterruptedException ex) {
				// The loop is closed, or its step exceeded the limit and is repeated.
			}
			catch (Throwable ex) {
				if (this.running) {
					this.failure = ex;
					report(ex, pauseMillis);
					pause(pauseMillis);
					pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
				}
			}
		}
	}

	private @Nullable MonotonicTime runStep() throws InterruptedException {
		this.lock.lock();
		try {
			this.woken = false;
		}
		finally {
			this.lock.unlock();
		}
		this.stepSince = this.clock.now();
		try {
			return this.step.run();
		}
		finally {
			this.stepSince = null;
		}
	}

	private void report(Throwable ex, long pauseMillis) {
		try {
			logger.error("Unexpected failure in {}; retrying in {} ms", name(), pauseMillis, ex);
			this.meters.count((counted) -> counted.failed(name()));
		}
		catch (Throwable reporting) {
			// Appenders of the application run here: the loop has to continue.
		}
	}

	private static void pause(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			// The loop checks `running` next.
		}
	}

	private void awaitNext(@Nullable MonotonicTime next) throws InterruptedException {
		this.lock.lockInterruptibly();
		try {
			while (!this.woken) {
				if (next == null) {
					this.changed.await();
					continue;
				}
				long nanos = this.clock.now().until(next).toNanos();
				if (nanos <= 0) {
					return;
				}
				this.changed.await(nanos, TimeUnit.NANOSECONDS);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void wake() {
		this.lock.lock();
		try {
			this.woken = true;
			this.changed.signal();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Interrupts a step once per limit that it exceeds. Called by the watchdog. */
	void interruptIfStalled(Duration limit) {
		MonotonicTime since = this.stepSince;
		MonotonicTime now = this.clock.now();
		if (since == null || since.until(now).compareTo(limit) < 0) {
			return;
		}
		MonotonicTime last = this.interruptedAt;
		if (last != null && !last.isBefore(since) && last.until(now).compareTo(limit) < 0) {
			return;
		}
		this.interruptedAt = now;
		try {
			logger.error("{} has not completed a step for {} ms and is interrupted", name(),
					since.until(now).toMillis(), new HangingStep(this.thread.getStackTrace()));
			this.meters.count((counted) -> counted.stalled(name()));
		}
		finally {
			// Even if reporting fails.
			this.thread.interrupt();
		}
	}

	@Nullable String problem(Duration limit) {
		String hanging = hanging(limit);
		if (hanging != null) {
			return hanging;
		}
		Throwable failed = this.failure;
		return (failed != null) ? "Fails and is retried: " + FailureText.withoutMessage(failed) : null;
	}

	@Nullable String hanging(Duration limit) {
		MonotonicTime since = this.stepSince;
		if (since == null || since.until(this.clock.now()).compareTo(limit) < 0) {
			return null;
		}
		return "Hangs for %d s; see the log for where".formatted(since.until(this.clock.now()).toSeconds());
	}

	@Override
	public void close() {
		this.running = false;
		this.thread.interrupt();
		if (Thread.currentThread() != this.thread) {
			try {
				this.thread.join(CLOSE_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
		this.onClose.accept(this);
	}

	/** Stack of a step that hangs, for the log. */
	private static final class HangingStep extends Exception {

		private HangingStep(StackTraceElement[] stack) {
			super("It hangs here");
			setStackTrace(stack);
		}

	}

}
