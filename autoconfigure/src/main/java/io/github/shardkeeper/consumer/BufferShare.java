package io.github.shardkeeper.consumer;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one shard has of the budget of all: records that wait for its handler, and those
 * that were taken up out of their order. Thread-safe.
 */
final class BufferShare {

	private static final Logger logger = LoggerFactory.getLogger(BufferShare.class);

	private final BufferBudget budget;

	private final Runnable wake;

	private final AtomicLong bytes = new AtomicLong();

	/** Whether it is, or is about to be, among those who wait. */
	private volatile boolean waiting;

	/** It had to wait, and may be read on. */
	private final AtomicBoolean mayGoOn = new AtomicBoolean();

	/** What runs still may give back what was given back with all the rest. */
	private volatile boolean closed;

	/**
	 * Creates a share with nothing in it.
	 * @param wake wakes the shard's worker when it may be read on; on any thread
	 */
	BufferShare(BufferBudget budget, Runnable wake) {
		this.budget = budget;
		this.wake = wake;
	}

	/** How much it has, in bytes. */
	long bytes() {
		return this.bytes.get();
	}

	void take(long more) {
		if (this.closed) {
			return;
		}
		this.bytes.addAndGet(more);
		this.budget.take(more);
	}

	/** Gives back; the shard itself, or others, may be told to go on. */
	void giveBack(long less) {
		if (this.closed) {
			return;
		}
		long left = this.bytes.addAndGet(-less);
		this.budget.giveBack(less);
		if (this.waiting && !this.budget.isExceededBy(left) && this.budget.stopWaiting(this)) {
			goOn();
		}
	}

	/**
	 * Whether the shard is not to be read on because all shards together have too much.
	 * Its worker is woken when it may be.
	 */
	boolean mustWait() {
		this.waiting = true;
		if (this.budget.mustWait(this)) {
			return true;
		}
		this.waiting = false;
		return false;
	}

	/** It waits no longer. */
	void goOn() {
		this.waiting = false;
		this.mayGoOn.set(true);
		try {
			this.wake.run();
		}
		catch (RuntimeException | OutOfMemoryError ex) {
			// Whoever gives back can do nothing about it, and others wait, too.
			logger.error("A shard that may be read on could not be woken; it is with its next turn", ex);
		}
	}

	/** Whether it was told to go on; tells each time once. */
	boolean takeGoOn() {
		return this.mayGoOn.get() && this.mayGoOn.getAndSet(false);
	}

	/** The shard is not read any more: gives everything back, once. */
	void close() {
		if (this.waiting) {
			this.budget.stopWaiting(this);
			this.waiting = false;
		}
		giveBack(this.bytes.get());
		this.closed = true;
	}

}
