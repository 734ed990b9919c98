package io.github.shardkeeper.benchmarks.scale;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Which member holds which shard, as the members themselves tell when they take it and
 * when they give it up. Thread-safe.
 */
final class Board {

	private static final int NOBODY = -1;

	private final AtomicIntegerArray holders;

	/** By member how many it holds. */
	private final AtomicIntegerArray counts;

	/** By member 1 for one that is to hold some. */
	private final AtomicIntegerArray staying;

	private final AtomicInteger held = new AtomicInteger();

	private final AtomicInteger members = new AtomicInteger();

	private final AtomicLong moves = new AtomicLong();

	private final AtomicLong violations = new AtomicLong();

	private volatile long lastTakenNanos;

	/** 0 as long as none was taken since somebody looked. */
	private final AtomicLong firstTakenNanos = new AtomicLong();

	Board(int mostShards, int mostMembers) {
		this.holders = new AtomicIntegerArray(mostShards);
		this.counts = new AtomicIntegerArray(mostMembers);
		this.staying = new AtomicIntegerArray(mostMembers);
		for (int i = 0; i < mostShards; i++) {
			this.holders.set(i, NOBODY);
		}
	}

	void came(int member) {
		this.staying.set(member, 1);
		this.members.incrementAndGet();
	}

	/** Nobody else has to wait for it any longer; what it holds it gives up, or loses. */
	void goes(int member) {
		this.staying.set(member, 0);
		this.members.decrementAndGet();
	}

	/** It consumes nothing any more. */
	void died(int member) {
		for (int shard = 0; shard < this.holders.length(); shard++) {
			if (this.holders.get(shard) == member) {
				gave(shard, member);
			}
		}
	}

	void took(int shard, int member) {
		if (!this.holders.compareAndSet(shard, NOBODY, member)) {
			this.violations.incrementAndGet();
			return;
		}
		this.counts.incrementAndGet(member);
		this.moves.incrementAndGet();
		long now = System.nanoTime();
		this.firstTakenNanos.compareAndSet(0, now);
		this.lastTakenNanos = now;
		// Last: who sees that all are held sees when.
		this.held.incrementAndGet();
	}

	void gave(int shard, int member) {
		if (!this.holders.compareAndSet(shard, member, NOBODY)) {
			this.violations.incrementAndGet();
			return;
		}
		this.counts.decrementAndGet(member);
		this.held.decrementAndGet();
	}

	int holder(int shard) {
		return this.holders.get(shard);
	}

	/** How often a shard was taken so far. */
	long moves() {
		return this.moves.get();
	}

	/** How often a shard was taken from somebody who had not given it up. */
	long violations() {
		return this.violations.get();
	}

	/** Forgets when a shard was taken first. */
	void watch() {
		this.firstTakenNanos.set(0);
	}

	/**
	 * When a shard was taken first since {@link #watch()}, in {@link System#nanoTime()}.
	 */
	long firstTakenNanos() {
		return this.firstTakenNanos.get();
	}

	/** Whether every shard is held, and no member has two more than another. */
	boolean isEven(int shards) {
		if (this.held.get() != shards) {
			return false;
		}
		int least = shards / this.members.get();
		int most = (shards + this.members.get() - 1) / this.members.get();
		for (int member = 0; member < this.counts.length(); member++) {
			int count = this.counts.get(member);
			boolean asItShould = (this.staying.get(member) == 1) ? count >= least && count <= most : count == 0;
			if (!asItShould) {
				return false;
			}
		}
		return this.held.get() == shards;
	}

	/**
	 * Waits until every member has what it is to have.
	 * @param shards how many shards there are to be held
	 * @param patienceSeconds how long to wait
	 * @return when the last one was taken, in {@link System#nanoTime()}
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
