package io.github.shardkeeper.worker;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * Whether a shard is consumed, is to be handed over, or is lost. A drain can be cancelled
 * until the stop has begun, with the revocation callback; after that there is no way
 * back. Thread-safe.
 */
final class ShardLifecycle {

	private volatile boolean abandoned;

	private volatile boolean stopping;

	private volatile @Nullable MonotonicTime drainingSince;

	private volatile @Nullable MonotonicTime seekingSince;

	/** Begins to hand the shard over. */
	synchronized void drain(MonotonicTime now) {
		if (this.drainingSince == null) {
			this.drainingSince = now;
		}
	}

	/** Cancels a drain and returns whether there was one that could be cancelled. */
	synchronized boolean cancelDrain() {
		if (this.stopping || this.abandoned || this.drainingSince == null) {
			return false;
		}
		this.drainingSince = null;
		return true;
	}

	/** Returns since when the shard is to be handed over, {@code null} if it is not. */
	@Nullable MonotonicTime drainingSince() {
		return this.drainingSince;
	}

	/** Marks the shard as lost. */
	synchronized void abandon() {
		this.abandoned = true;
	}

	boolean isAbandoned() {
		return this.abandoned;
	}

	/** Returns whether no further record may be handled; asked before each. */
	boolean isLeaving() {
		return this.abandoned || this.stopping || this.drainingSince != null;
	}

	/** Begins the stop if the shard is leaving; returns whether it is. */
	synchronized boolean beginStop() {
		this.stopping = isLeaving();
		return this.stopping;
	}

	/** Begins to move the shard to another position. */
	void seek(MonotonicTime now) {
		this.seekingSince = now;
	}

	/** Ends the move to another position. */
	void seekEnded() {
		this.seekingSince = null;
	}

	/** Returns since when the shard is to move to another position, or {@code null}. */
	@Nullable MonotonicTime seekingSince() {
		return this.seekingSince;
	}

	boolean isSeeking() {
		return this.seekingSince != null;
	}

}
