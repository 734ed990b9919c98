package io.github.shardkeeper.worker;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * Lifecycle of a shard: consumed, draining, seeking or abandoned; paused or not. A drain
 * can be cancelled until the stop begins with the revocation callback. Thread-safe.
 */
final class ShardLifecycle {

	private volatile boolean abandoned;

	private volatile boolean stopping;

	private volatile @Nullable MonotonicTime drainingSince;

	private volatile @Nullable MonotonicTime seekingSince;

	private volatile boolean paused;

	/** Returns whether this is a change. */
	boolean pause(boolean wanted) {
		boolean changes = this.paused != wanted;
		this.paused = wanted;
		return changes;
	}

	/**
	 * Returns whether no further record is handled until an operator resumes the shard.
	 */
	boolean isPaused() {
		return this.paused;
	}

	synchronized void drain(MonotonicTime now) {
		if (this.drainingSince == null) {
			this.drainingSince = now;
		}
	}

	synchronized boolean cancelDrain() {
		if (this.stopping || this.abandoned || this.drainingSince == null) {
			return false;
		}
		this.drainingSince = null;
		return true;
	}

	@Nullable MonotonicTime drainingSince() {
		return this.drainingSince;
	}

	synchronized void abandon() {
		this.abandoned = true;
	}

	boolean isAbandoned() {
		return this.abandoned;
	}

	/** Returns whether no further record may be handled. */
	boolean isLeaving() {
		return this.abandoned || this.stopping || this.drainingSince != null;
	}

	/** Begins the stop if the shard is leaving; returns whether it is. */
	synchronized boolean beginStop() {
		this.stopping = isLeaving();
		return this.stopping;
	}

	void seek(MonotonicTime now) {
		this.seekingSince = now;
	}

	void seekEnded() {
		this.seekingSince = null;
	}

	@Nullable MonotonicTime seekingSince() {
		return this.seekingSince;
	}

	boolean isSeeking() {
		return this.seekingSince != null;
	}

}
