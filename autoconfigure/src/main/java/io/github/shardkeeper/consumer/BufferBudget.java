package io.github.shardkeeper.consumer;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What all shards of an instance together may have read ahead. Once that is used up, a
 * shard that has more than its even share is not read on, while the others are: so a few
 * slow shards cannot take the room of all. Thread-safe.
 */
final class BufferBudget {

	private final long limit;

	private final AtomicLong used = new AtomicLong();

	private final AtomicInteger shards = new AtomicInteger();

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

	/** One shard less. */
	void leave() {
		this.shards.decrementAndGet();
	}

	void take(long bytes) {
		this.used.addAndGet(bytes);
	}

	void giveBack(long bytes) {
		this.used.addAndGet(-bytes);
	}

	/** Whether a shard with so much in its buffer has to pause. */
	boolean isExceededBy(long bytesOfShard) {
		return this.used.get() > this.limit && bytesOfShard > this.limit / Math.max(1, this.shards.get());
	}

	/** How much is used, in bytes. */
	long used() {
		return this.used.get();
	}

}
