package io.github.shardkeeper.consumer;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Runs user code so that another thread can interrupt just that, and nothing that the
 * thread does afterwards, and can see where it stands. Thread-safe.
 */
final class HandlerCall {

	private @Nullable Thread running;

	private boolean interrupted;

	/**
	 * Runs user code on the current thread.
	 * @throws InterruptedException also when it was interrupted from here and has
	 * returned with its thread still, or again, interrupted: then it has stopped early,
	 * as far as anybody can tell
	 */
	void run(UserCode code) throws Throwable {
		synchronized (this) {
			this.running = Thread.currentThread();
			this.interrupted = false;
		}
		try {
			code.run();
		}
		catch (Throwable ex) {
			end();
			throw ex;
		}
		if (end()) {
			throw new InterruptedException("The call was interrupted and returned with its thread interrupted");
		}
	}

	/** Tells whether the thread is interrupted, and was from here. */
	private synchronized boolean end() {
		this.running = null;
		// Ours or the handler's own: it must not leak into what follows.
		return Thread.interrupted() && this.interrupted;
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

	/** A call into the application. */
	@FunctionalInterface
	interface UserCode {

		void run() throws Throwable;

	}

}
