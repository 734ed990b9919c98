package io.github.shardkeeper.worker;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds what all shards of an instance together read ahead. Once it is used up, reading
 * pauses for shards that have more than their even share: so a few slow shards cannot
 * take the room of all.
 * <p>
 * Waiting shards are woken together, once each, when the last byte above the limit is
 * given back. The cost of giving back does not depend on the number of shards, unless
 * some are woken. Thread-safe.
 */
public final class BufferBudget {

	private static final Logger logger = LoggerFactory.getLogger(BufferBudget.class);

	private final long limit;

	private final AtomicLong used = new AtomicLong();

	private final AtomicInteger shards = new AtomicInteger();

	/** Guarded by itself. */
	private final Set<Share> waiting = new LinkedHashSet<>();

	/** Whether any is waiting; read without the lock. */
	private volatile boolean anyWaiting;

	/**
	 * Number of shards when the waiting ones were last checked; guarded by
	 * {@link #waiting}.
	 */
	private int lookedWithShards;

	/**
	 * Creates a budget of which nothing is used.
	 * @param limit bytes for all shards
	 */
	public BufferBudget(long limit) {
		this.limit = limit;
	}

	/** Adds a shard that shares the budget. */
	void join() {
		this.shards.incrementAndGet();
	}

	/** Removes a shard; the even share of the others grows. */
	void leave() {
		int left = this.shards.decrementAndGet();
		if (!this.anyWaiting) {
			return;
		}
		List<Share> free = new ArrayList<>();
		synchronized (this.waiting) {
			// Not for each of many that leave one after the other. Until then a shard
			// just
			// below its share waits until it, or others, give something back.
			if (left > this.lookedWithShards - Math.max(1, this.lookedWithShards / 8)) {
				return;
			}
			this.lookedWithShards = left;
			for (Iterator<Share> each = this.waiting.iterator(); each.hasNext();) {
				Share share = each.next();
				if (!isExceededBy(share.bytes())) {
					each.remove();
					free.add(share);
				}
			}
			this.anyWaiting = !this.waiting.isEmpty();
		}
		free.forEach(Share::resume);
	}

	/** Returns how much one shard may have at least, in bytes. */
	long evenShare() {
		return this.limit / Math.max(1, this.shards.get());
	}

	void take(long bytes) {
		this.used.addAndGet(bytes);
	}

	/** Gives back, and wakes the waiting shards when that leaves room. */
	void giveBack(long bytes) {
		long left = this.used.addAndGet(-bytes);
		if (left > this.limit || !this.anyWaiting) {
			return;
		}
		List<Share> all;
		synchronized (this.waiting) {
			all = List.copyOf(this.waiting);
			this.waiting.clear();
			this.anyWaiting = false;
		}
		// Without the lock: this wakes their workers.
		all.forEach(Share::resume);
	}

	/** Returns whether a shard with so much has to pause. */
	boolean isExceededBy(long bytesOfShard) {
		return this.used.get() > this.limit && bytesOfShard > evenShare();
	}

	/**
	 * Returns whether a shard has to pause; if so, it is woken when it may resume.
	 */
	boolean mustWait(Share share) {
		if (!isExceededBy(share.bytes())) {
			return false;
		}
		synchronized (this.waiting) {
			int all = this.shards.get();
			this.lookedWithShards = this.waiting.isEmpty() ? all : Math.max(all, this.lookedWithShards);
			this.waiting.add(share);
			this.anyWaiting = true;
		}
		// What was given back in between has not woken it. If it was woken already, it
		// pauses, and resumes.
		return isExceededBy(share.bytes()) || !stopWaiting(share);
	}

	/** Returns whether the shard was waiting, and does not any more. */
	boolean stopWaiting(Share share) {
		synchronized (this.waiting) {
			boolean waited = this.waiting.remove(share);
			this.anyWaiting = !this.waiting.isEmpty();
			return waited;
		}
	}

	/** Returns how much is used, in bytes. */
	long used() {
		return this.used.get();
	}

	/**
	 * One shard's part of the budget: records that wait for its handler, and those that
	 * were taken up out of order. Thread-safe.
	 */
	static final class Share {

		private final BufferBudget budget;

		private final Runnable wake;

		private final AtomicLong bytes = new AtomicLong();

		/** Whether it is, or is about to be, among the waiting ones. */
		private volatile boolean waiting;

		/** Whether reading had to pause, and may resume. */
		private final AtomicBoolean mayResume = new AtomicBoolean();

		/** Set when all was given back: calls that still run may give back again. */
		private volatile boolean closed;

		/**
		 * Creates a share with nothing in it.
		 * @param wake wakes the shard's worker when it may be read on; on any thread
		 */
		Share(BufferBudget budget, Runnable wake) {
			this.budget = budget;
			this.wake = wake;
		}

		/** Returns how much it has, in bytes. */
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

		/** Gives back; this may wake the shard itself, or others. */
		void giveBack(long less) {
			if (this.closed) {
				return;
			}
			long left = this.bytes.addAndGet(-less);
			this.budget.giveBack(less);
			if (this.waiting && !this.budget.isExceededBy(left) && this.budget.stopWaiting(this)) {
				resume();
			}
		}

		/**
		 * Returns whether the shard is not to be read on because all shards together have
		 * too much. Its worker is woken when it may be.
		 */
		boolean mustWait() {
			this.waiting = true;
			if (this.budget.mustWait(this)) {
				return true;
			}
			this.waiting = false;
			return false;
		}

		/** Wakes the worker to resume reading. */
		void resume() {
			this.waiting = false;
			this.mayResume.set(true);
			try {
				this.wake.run();
			}
			catch (RuntimeException | OutOfMemoryError ex) {
				// The caller can do nothing about it, and others wait, too.
				logger.error("A shard that may be read on could not be woken; it is with its next turn", ex);
			}
		}

		/** Returns, once for each time, whether reading may resume. */
		boolean takeResume() {
			return this.mayResume.get() && this.mayResume.getAndSet(false);
		}

		/** Gives everything back, because the shard is not read any more. */
		void close() {
			if (this.waiting) {
				this.budget.stopWaiting(this);
				this.waiting = false;
			}
			giveBack(this.bytes.get());
			this.closed = true;
		}

	}

}
