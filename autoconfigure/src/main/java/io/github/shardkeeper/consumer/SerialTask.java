package io.github.shardkeeper.consumer;

import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/**
 * A task that runs on a shared executor while there is something to do, never twice at a
 * time, and is nothing but an object otherwise. Thread-safe.
 */
final class SerialTask {

	private final Executor executor;

	private final BooleanSupplier turn;

	/** Guarded by this. */
	private boolean scheduled;

	/** Guarded by this: something happened since the last turn began. */
	private boolean wakeRequested;

	/**
	 * Creates a task that sleeps.
	 * @param executor runs it
	 * @param turn does what there is to do, for a bounded time, and tells whether there
	 * is more; must not throw
	 */
	SerialTask(Executor executor, BooleanSupplier turn) {
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
		this.executor.execute(this::run);
	}

	private void run() {
		synchronized (this) {
			this.wakeRequested = false;
		}
		boolean more = this.turn.getAsBoolean();
		synchronized (this) {
			this.scheduled = more || this.wakeRequested;
			if (!this.scheduled) {
				return;
			}
		}
		// Not a loop: between two turns the thread belongs to whoever waits for it.
		this.executor.execute(this::run);
	}

}
