package io.github.shardkeeper.consumer;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.MonotonicClock;
import io.github.shardkeeper.handover.MonotonicTime;

/**
 * Runs user code so that another thread can interrupt just that, and nothing that the
 * thread does afterwards, and can see where it stands. Thread-safe.
 */
final class HandlerCall {

	private final MonotonicClock clock;

	private @Nullable Thread running;

	private @Nullable MonotonicTime since;

	private boolean interrupted;

	HandlerCall(MonotonicClock clock) {
		this.clock = clock;
	}

	/** Runs user code on the current thread. */
	void run(UserCode code) throws Throwable {
		synchronized (this) {
			this.since = this.clock.now();
			this.running = Thread.currentThread();
			this.interrupted = false;
		}
		try {
			code.run();
		}
		finally {
			synchronized (this) {
				this.running = null;
				this.since = null;
				// Ours or the handler's own: it must not leak into what follows.
				Thread.interrupted();
			}
		}
	}

	/** Interrupts the user code that runs now, if any. */
	synchronized void interrupt() {
		if (this.running != null) {
			this.interrupted = true;
			this.running.interrupt();
		}
	}

	/** Whether the user code that runs now, or ran last, was interrupted from here. */
	synchronized boolean wasInterrupted() {
		return this.interrupted;
	}

	/**
	 * Where the user code that runs now stands, the innermost frame first; empty when
	 * none runs.
	 */
	synchronized List<StackTraceElement> stack() {
		return (this.running != null) ? List.of(this.running.getStackTrace()) : List.of();
	}

	/** Since when the user code that runs now does so, {@code null} when none runs. */
	synchronized @Nullable MonotonicTime since() {
		return this.since;
	}

	/** A call into the application. */
	@FunctionalInterface
	interface UserCode {

		void run() throws Throwable;

	}

}
