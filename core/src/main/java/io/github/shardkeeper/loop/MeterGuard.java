package io.github.shardkeeper.loop;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Counts what can be counted. The application's own code runs in meters, its filters
 * above all: what that throws must end nothing, nor come between two steps that belong
 * together. Thread-safe.
 */
public final class MeterGuard {

	private final Consumer<Throwable> tell;

	private final AtomicBoolean told = new AtomicBoolean();

	/**
	 * Creates it.
	 * @param tell hears of the first failure only: it may be thrown for every record
	 */
	public MeterGuard(Consumer<Throwable> tell) {
		this.tell = tell;
	}

	/**
	 * Counts, and throws nothing.
	 * @param counting calls the meters
	 */
	public void run(Runnable counting) {
		try {
			counting.run();
		}
		catch (Throwable ex) {
			if (this.told.compareAndSet(false, true)) {
				this.tell.accept(ex);
			}
		}
	}

}
