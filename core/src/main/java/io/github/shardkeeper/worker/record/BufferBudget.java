package io.github.shardkeeper.worker.record;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Limits the records that all shards of an instance together read ahead. When the budget
 * is used up, only shards above their even share pause, so that a few slow shards cannot
 * use all of it. Waiting shards are woken together when usage falls to the limit. The
 * cost of giving back does not depend on the number of shards, unless some are woken.
 * Thread-safe.
 */
public final class BufferBudget {

	private final long limit;

	private final AtomicLong used = new AtomicLong();

	private final AtomicInteger shards = new AtomicInteger();

	/** Guarded by itself. */
	private final Set<Share> waiting = new LinkedHashSet<>();

	/** Whether any share is waiting; read without the lock. */
	private volatile boolean anyWaiting;

	/** Shards at the last check of the waiting ones; guarded by {@link #waiting}. */
	private int shardsAtLastCheck;

	/** Creates an unused budget; the limit is in bytes. */
	public BufferBudget(long limit) {
		this.limit = limit;
	}

	public void join() {
		this.shards.incrementAndGet();
	}

	public void leave() {
		int left = this.shards.decrementAndGet();
		if (!this.anyWaiting) {
			return;
		}
		List<Share> free = new ArrayList<>();
		synchronized (this.waiting) {
			// Not for each of many shards that leave: until then a shard just below its
			// share waits until it or others give something back.
			if (left > this.shardsAtLastCheck - Math.max(1, this.shardsAtLastCheck / 8)) {
				return;
			}
			this.shardsAtLastCheck = left;
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

	/** Returns the size that each shard may always have, in bytes. */
	public long evenShare() {
		return this.limit / Math.max(1, this.shards.get());
	}

	void take(long bytes) {
		this.used.addAndGet(bytes);
	}

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
		// Without the lock, because it wakes their workers.
		all.forEach(Share::resume);
	}

	boolean isExceededBy(long bytesOfShard) {
		return this.used.get() > this.limit && bytesOfShard > evenShare();
	}

	boolean mustWait(Share share) {
		if (!isExceededBy(share.bytes())) {
			return false;
		}
		synchronized (this.waiting) {
			int all = this.shards.get();
			this.shardsAtLastCheck = this.waiting.isEmpty() ? all : Math.max(all, this.shardsAtLastCheck);
			this.waiting.add(share);
			this.anyWaiting = true;
		}
		// Checked again: a release in between has not woken it. A share that was woken
		// already pauses and resumes.
		return isExceededBy(share.bytes()) || !stopWaiting(share);
	}

	boolean stopWaiting(Share share) {
		synchronized (this.waiting) {
			boolean waited = this.waiting.remove(share);
			this.anyWaiting = !this.waiting.isEmpty();
			return waited;
		}
	}

	/** Returns the size of what is read ahead, in bytes. */
	public long used() {
		return this.used.get();
	}

	/**
	 * One shard's part of the budget: records in its buffer, and those that are taken up
	 * out of order. Thread-safe.
	 */
	public static final class Share {

		private final BufferBudget budget;

		private final Runnable wake;

		private final Usage usage;

		private final AtomicInteger records = new AtomicInteger();

		private final AtomicLong bytes = new AtomicLong();

		/** Whether it is waiting, or about to. */
		private volatile boolean waiting;

		private final AtomicBoolean mayResume = new AtomicBoolean();

		/** Set when all is given back; calls that still run may give back again. */
		private volatile boolean closed;

		/**
		 * Creates an empty share.
		 * @param usage the sum of the shares of its topic
		 * @param wake is called on any thread, and never throws
		 */
		public Share(BufferBudget budget, Usage usage, Runnable wake) {
			this.budget = budget;
			this.usage = usage;
			this.wake = wake;
		}

		long bytes() {
			return this.bytes.get();
		}

		public void take(int moreRecords, long more) {
			if (this.closed) {
				return;
			}
			this.records.addAndGet(moreRecords);
			this.bytes.addAndGet(more);
			this.usage.change(moreRecords, more);
			this.budget.take(more);
		}

		/** Gives back; this may wake this shard or others. */
		public void giveBack(int lessRecords, long less) {
			if (this.closed) {
				return;
			}
			this.records.addAndGet(-lessRecords);
			long left = this.bytes.addAndGet(-less);
			this.usage.change(-lessRecords, -less);
			this.budget.giveBack(less);
			if (this.waiting && !this.budget.isExceededBy(left) && this.budget.stopWaiting(this)) {
				resume();
			}
		}

		/** Returns whether reading has to pause; if so, the worker is woken to resume. */
		boolean mustWait() {
			this.waiting = true;
			if (this.budget.mustWait(this)) {
				return true;
			}
			this.waiting = false;
			return false;
		}

		void resume() {
			this.waiting = false;
			this.mayResume.set(true);
			this.wake.run();
		}

		boolean takeResume() {
			return this.mayResume.get() && this.mayResume.getAndSet(false);
		}

		void close() {
			if (this.waiting) {
				this.budget.stopWaiting(this);
				this.waiting = false;
			}
			giveBack(this.records.get(), this.bytes.get());
			this.closed = true;
		}

	}

	/**
	 * What the shards of a topic on this instance have read ahead: records in their
	 * buffers, and those that are taken up out of order. Thread-safe.
	 */
	public static final class Usage {

		private final LongAdder records = new LongAdder();

		private final LongAdder bytes = new LongAdder();

		public Usage() {
		}

		private void change(int moreRecords, long moreBytes) {
			this.records.add(moreRecords);
			this.bytes.add(moreBytes);
		}

		/** Returns the number of records. */
		public long records() {
			return this.records.sum();
		}

		/** Returns the size of the records in bytes, with what they take in memory. */
		public long bytes() {
			return this.bytes.sum();
		}

	}

}
