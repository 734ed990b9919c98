package io.github.shardkeeper.benchmarks.state;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.github.shardkeeper.benchmarks.Samples;

/**
 * Times without a record while a shard changes its owner: from the last record of an
 * instance to the first one of the next. No record may be lost, and each is to change the
 * whole state once: one that is repeated, after a lost lease, finds the state before it.
 * Thread-safe.
 */
final class Gaps {

	private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(5);

	private final Samples millis = new Samples();

	private Object owner = this;

	private int next;

	private long lastNanos;

	private String problem = "";

	/**
	 * Has a record handled.
	 * @param instance the instance
	 * @param counted the number of records in the state, with this one
	 * @param found whether the state has the entry that belongs to it
	 */
	synchronized void handled(Object instance, int number, long counted, boolean found) {
		long now = System.nanoTime();
		if (this.problem.isEmpty() && (number > this.next || counted != number + 1 || !found)) {
			this.problem = "Record %d after %d, as number %d of the state, its entry found: %b".formatted(number,
					this.next - 1, counted, found);
		}
		if (this.owner != instance && this.owner != this) {
			this.millis.add((now - this.lastNanos) / 1e6);
		}
		this.owner = instance;
		this.next = number + 1;
		this.lastNanos = now;
		notifyAll();
	}

	/** Waits for some more records. */
	synchronized void awaitRecords(int more) throws InterruptedException {
		int end = this.next + more;
		await(() -> this.next >= end);
	}

	/** Waits until the shard has changed its owner so many times in all. */
	synchronized void awaitChanges(int changes) throws InterruptedException {
		await(() -> this.millis.values().size() >= changes);
	}

	private void await(BooleanSupplier condition) throws InterruptedException {
		long deadline = System.nanoTime() + PATIENCE_NANOS;
		while (!condition.getAsBoolean()) {
			long left = deadline - System.nanoTime();
			if (left <= 0) {
				throw new IllegalStateException("No instance handles record " + this.next);
			}
			TimeUnit.NANOSECONDS.timedWait(this, left);
		}
	}

	/**
	 * Returns the gaps; fails if a record was lost, or has not changed the state once.
	 */
	synchronized Samples verified(int changes) {
		if (!this.problem.isEmpty()) {
			throw new IllegalStateException(this.problem);
		}
		if (this.millis.values().size() != changes) {
			throw new IllegalStateException(
					"%d changes of the owner instead of %d".formatted(this.millis.values().size(), changes));
		}
		return this.millis;
	}

}
