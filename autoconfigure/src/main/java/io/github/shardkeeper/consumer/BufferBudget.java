package io.github.shardkeeper.consumer;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

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
final class BufferBudget {

	private final long limit;

	private final AtomicLong used = new AtomicLong();

	private final AtomicInteger shards = new AtomicInteger();

	/** Guarded by itself. */
	private final Set<BufferShare> waiting = new LinkedHashSet<>();

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
	BufferBudget(long limit) {
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
		List<BufferShare> free = new ArrayList<>();
		synchronized (this.waiting) {
			// Not for each of many that leave one after the other. Who has somewhat less
			// than its share until then waits for what it has itself, or for the others.
			if (left > this.lookedWithShards - Math.max(1, this.lookedWithShards / 8)) {
				return;
			}
			this.lookedWithShards = left;
			for (Iterator<BufferShare> each = this.waiting.iterator(); each.hasNext();) {
				BufferShare share = each.next();
				if (!isExceededBy(share.bytes())) {
					each.remove();
					free.add(share);
				}
			}
			this.anyWaiting = !this.waiting.isEmpty();
		}
		free.forEach(BufferShare::goOn);
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
		List<BufferShare> all;
		synchronized (this.waiting) {
			all = List.copyOf(this.waiting);
			this.waiting.clear();
			this.anyWaiting = false;
		}
		// Without the lock: they wake their workers.
		all.forEach(BufferShare::goOn);
	}

	/** Whether a shard with so much has to pause. */
	boolean isExceededBy(long bytesOfShard) {
		return this.used.get() > this.limit && bytesOfShard > evenShare();
	}

	/**
	 * Whether a shard has to pause; it is told when it may go on, if so.
	 */
	boolean mustWait(BufferShare share) {
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
	boolean stopWaiting(BufferShare share) {
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

}
