package io.github.shardkeeper.loop;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Meters whose failures have no effect. Meters run code of the application, such as
 * filters; what that throws must neither end a loop nor separate two steps that belong
 * together. Thread-safe.
 */
public final class MeterGuard<M> {

	private final M meters;

	private final Consumer<Throwable> onFirstFailure;

	private final AtomicBoolean failed = new AtomicBoolean();

	/**
	 * Creates a guard.
	 * @param onFirstFailure receives the first failure only: there may be one per record
	 */
	public MeterGuard(M meters, Consumer<Throwable> onFirstFailure) {
		this.meters = meters;
		this.onFirstFailure = onFirstFailure;
	}

	/** Counts. Never throws. */
	public void count(Consumer<M> counting) {
		try {
			counting.accept(this.meters);
		}
		catch (Throwable ex) {
			if (this.failed.compareAndSet(false, true)) {
				this.onFirstFailure.accept(ex);
			}
		}
	}

}
