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
 * What all shards of an instance together may have read ahead. Once that is used up, a
 * shard that has more than its even share is not read on, while the others are: so a few
 * slow shards cannot take the room of all.
 * <p>
 * Who has to wait is remembered, and told once there is room: all at once, when the last
 * byte too much is given back, and each only once. What gives back while nobody waits, or
 * while there is too much still, costs the same however many shards there are.
 * Thread-safe.
 */
public final class BufferBudget {

	private static final Logger logger = LoggerFactory.getLogger(BufferBudget.class);

	private final long limit;

	private final AtomicLong used = new AtomicLong();

	private final AtomicInteger shards = new AtomicInteger();

	/** Guarded by itself. */
	private final Set<Share> waiting = new LinkedHashSet<>();

	/** So that nobody needs the lock to see that none is waiting. */
	private volatile boolean anyWaiting;

	/**
	 * With how many shards was looked for those that have less than their share; guarded
	 * by {@link #waiting}.
	 */
	private int lookedWithShards;

	/**
	 * Creates a budget of which nothing is used.
	 * @param limit bytes for all shards
	 */
	public BufferBudget(long limit) {
		this.limit = limit;
	}

	/** One more shard shares it. */
	void join() {
		this.shards.incrementAndGet();
	}

	/** One shard less: the shares of the others are larger. */
	void leave() {
		int left = this.shards.decrementAndGet();
		if (!this.anyWaiting) {
			return;
		}
		List<Share> free = new ArrayList<>();
		synchronized (this.waiting) {
			// Not for each of many that leave one after the other. Who has somewhat less
			// than its share until then waits for what it has itself, or for the others.
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
		free.forEach(Share::goOn);
	}

	/** How much one shard may have at least, in bytes. */
	long evenShare() {
		return this.limit / Math.max(1, this.shards.get());
	}

	void take(long bytes) {
		this.used.addAndGet(bytes);
	}

	/** Gives back; those who wait are told when that leaves room. */
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
		// Without the lock: they wake their workers.
		all.forEach(Share::goOn);
	}

	/** Whether a shard with so much has to pause. */
	boolean isExceededBy(long bytesOfShard) {
		return this.used.get() > this.limit && bytesOfShard > evenShare();
	}

	/**
	 * Whether a shard has to pause; it is told when it may go on, if so.
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
		// Who gave back in between has not seen it. If it has been told to go on
		// already, it pauses, and does.
		return isExceededBy(share.bytes()) || !stopWaiting(share);
	}

	/** Whether the shard was waiting, and does not any more. */
	boolean stopWaiting(Share share) {
		synchronized (this.waiting) {
			boolean waited = this.waiting.remove(share);
			this.anyWaiting = !this.waiting.isEmpty();
			return waited;
		}
	}

	/** How much is used, in bytes. */
	long used() {
		return this.used.get();
	}

	/**
	 * What one shard has of the budget of all: records that wait for its handler, and
	 * those that were taken up out of their order. Thread-safe.
	 */
	static final class Share {

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
		Share(BufferBudget budget, Runnable wake) {
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
		 * Whether the shard is not to be read on because all shards together have too
		 * much. Its worker is woken when it may be.
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

}
