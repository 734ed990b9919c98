package io.github.shardkeeper.handler;

import java.util.List;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * A call of user code that another thread can interrupt, without interrupting what the
 * calling thread does afterwards. Thread-safe.
 */
public final class HandlerCall {

	private @Nullable Thread running;

	private boolean interrupted;

	/**
	 * Runs user code on the current thread, and throws what it throws.
	 * @throws InterruptedException also if it was {@linkplain #interrupt() interrupted}
	 * and the code returned with its thread interrupted: it may have stopped early
	 */
	public void run(UserCode code) throws Throwable {
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

	/** Returns whether {@link #interrupt()} was called and the thread is interrupted. */
	private synchronized boolean end() {
		this.running = null;
		// Clears the flag in any case: it must not leak out of the call.
		return Thread.interrupted() && this.interrupted;
	}

	/** Interrupts the running user code, if any. */
	public void interrupt() {
		interruptIf(() -> true);
	}

	/**
	 * Interrupts the running user code, if any, on a condition.
	 * @param condition asked only if some runs, and no other begins before the reply
	 */
	public synchronized void interruptIf(BooleanSupplier condition) {
		if (this.running != null && condition.getAsBoolean()) {
			this.interrupted = true;
			this.running.interrupt();
		}
	}

	/** Returns whether {@link #interrupt()} has interrupted the last user code. */
	public synchronized boolean wasInterrupted() {
		return this.interrupted;
	}

	/** Returns the stack of the running user code, empty if none runs. */
	public synchronized List<StackTraceElement> stack() {
		return (this.running != null) ? List.of(this.running.getStackTrace()) : List.of();
	}

	@FunctionalInterface
	public interface UserCode {

		/** Runs it, and throws what it throws. */
		void run() throws Throwable;

	}

}
