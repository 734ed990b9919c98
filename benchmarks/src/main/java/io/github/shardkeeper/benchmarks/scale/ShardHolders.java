package io.github.shardkeeper.benchmarks.scale;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Owners of shards, as the members themselves report when they acquire and release them.
 * Thread-safe.
 */
final class ShardHolders {

	private static final int NONE = -1;

	private final AtomicIntegerArray holders;

	/** Number of shards by member. */
	private final AtomicIntegerArray counts;

	/** By member 1 if it is to own shards. */
	private final AtomicIntegerArray staying;

	private final AtomicInteger held = new AtomicInteger();

	private final AtomicInteger members = new AtomicInteger();

	private final AtomicLong moves = new AtomicLong();

	private final AtomicLong violations = new AtomicLong();

	private volatile long lastTakenNanos;

	/** 0 as long as none was acquired since the last call of {@link #watch()}. */
	private final AtomicLong firstTakenNanos = new AtomicLong();

	ShardHolders(int mostShards, int mostMembers) {
		this.holders = new AtomicIntegerArray(mostShards);
		this.counts = new AtomicIntegerArray(mostMembers);
		this.staying = new AtomicIntegerArray(mostMembers);
		for (int i = 0; i < mostShards; i++) {
			this.holders.set(i, NONE);
		}
	}

	void memberJoined(int member) {
		this.staying.set(member, 1);
		this.members.incrementAndGet();
	}

	/** A member begins to leave; it releases its shards, or loses them. */
	void memberLeaves(int member) {
		this.staying.set(member, 0);
		this.members.decrementAndGet();
	}

	/** A member has stopped consuming. */
	void memberDied(int member) {
		for (int shard = 0; shard < this.holders.length(); shard++) {
			if (this.holders.get(shard) == member) {
				shardReleased(shard, member);
			}
		}
	}

	void shardTaken(int shard, int member) {
		if (!this.holders.compareAndSet(shard, NONE, member)) {
			this.violations.incrementAndGet();
			return;
		}
		this.counts.incrementAndGet(member);
		this.moves.incrementAndGet();
		long now = System.nanoTime();
		this.firstTakenNanos.compareAndSet(0, now);
		this.lastTakenNanos = now;
		// Last: a reader that sees all shards held sees the time, too.
		this.held.incrementAndGet();
	}

	void shardReleased(int shard, int member) {
		if (!this.holders.compareAndSet(shard, member, NONE)) {
			this.violations.incrementAndGet();
			return;
		}
		this.counts.decrementAndGet(member);
		this.held.decrementAndGet();
	}

	int holder(int shard) {
		return this.holders.get(shard);
	}

	/** Returns the number of acquisitions so far. */
	long moves() {
		return this.moves.get();
	}

	/** Returns the number of acquisitions of shards that were not released. */
	long violations() {
		return this.violations.get();
	}

	/** Resets the time of the first acquisition. */
	void watch() {
		this.firstTakenNanos.set(0);
	}

	/**
	 * Returns the time of the first acquisition since {@link #watch()}, in
	 * {@link System#nanoTime()}.
	 */
	long firstTakenNanos() {
		return this.firstTakenNanos.get();
	}

	/** Returns whether every shard is owned, and no member has two more than another. */
	boolean isEven(int shards) {
		if (this.held.get() != shards) {
			return false;
		}
		int least = shards / this.members.get();
		int most = (shards + this.members.get() - 1) / this.members.get();
		for (int member = 0; member < this.counts.length(); member++) {
			int count = this.counts.get(member);
			boolean balanced = (this.staying.get(member) == 1) ? count >= least && count <= most : count == 0;
			if (!balanced) {
				return false;
			}
		}
		return this.held.get() == shards;
	}

	/**
	 * Waits until every member has its share.
	 * @param shards the number of shards
	 * @param patienceSeconds the maximum time to wait
	 * @return the time of the last acquisition, in {@link System#nanoTime()}
	 */
	long awaitEven(int shards, long patienceSeconds) throws InterruptedException {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(patienceSeconds);
		while (!isEven(shards)) {
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException("After %d s %d of %d shards are held by %d members"
					.formatted(patienceSeconds, this.held.get(), shards, this.members.get()));
			}
			TimeUnit.MILLISECONDS.sleep(2);
		}
		return this.lastTakenNanos;
	}

}
