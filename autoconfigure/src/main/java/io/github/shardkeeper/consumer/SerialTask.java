package io.github.shardkeeper.consumer;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A task that runs on a shared executor while there is something to do, never twice at a
 * time, and is nothing but an object otherwise. Thread-safe.
 */
final class SerialTask {

	private final Executor executor;

	private final BooleanSupplier turn;

	private final Consumer<Throwable> onRefusal;

	/** Guarded by this. */
	private boolean scheduled;

	/** Guarded by this: something happened since the last turn began. */
	private boolean wakeRequested;

	/**
	 * Creates a task that sleeps.
	 * @param executor runs it
	 * @param turn does what there is to do, for a bounded time, and tells whether there
	 * is more; must not throw
	 * @param onRefusal hears that the executor had no thread for a turn; is to wake the
	 * task later
	 */
	SerialTask(Executor executor, BooleanSupplier turn, Consumer<Throwable> onRefusal) {
		this.onRefusal = onRefusal;
		this.executor = executor;
		this.turn = turn;
	}

	/** Something happened: take a turn. */
	void wake() {
		synchronized (this) {
			this.wakeRequested = true;
			if (this.scheduled) {
				return;
			}
			this.scheduled = true;
		}
		try {
			this.executor.execute(this::run);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			// No thread can be had now (or, at the end, ever): try again later.
			synchronized (this) {
				this.scheduled = false;
			}
			this.onRefusal.accept(ex);
		}
	}

	private void run() {
		while (turnLeavesMore()) {
			try {
				// Between two turns the thread belongs to whoever waits for it.
				this.executor.execute(this::run);
				return;
			}
			catch (RejectedExecutionException | OutOfMemoryError ex) {
				// No other thread can be had: this one goes on.
			}
		}
	}

	private boolean turnLeavesMore() {
		synchronized (this) {
			this.wakeRequested = false;
		}
		boolean more = this.turn.getAsBoolean();
		synchronized (this) {
			this.scheduled = more || this.wakeRequested;
			return this.scheduled;
		}
	}

}
