package io.github.shardkeeper.worker.shard;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * Lifecycle of a shard: consumed, draining, seeking or abandoned; paused or not. A drain
 * can be cancelled until the stop begins with the revocation callback. Thread-safe.
 */
public final class ShardLifecycle {

	private volatile boolean abandoned;

	private volatile boolean stopping;

	private volatile @Nullable MonotonicTime drainingSince;

	private volatile @Nullable MonotonicTime seekingSince;

	private volatile boolean paused;

	/** Returns whether this is a change. */
	public boolean pause(boolean wanted) {
		boolean changes = this.paused != wanted;
		this.paused = wanted;
		return changes;
	}

	/**
	 * Returns whether no further record is handled until an operator resumes the shard.
	 */
	public boolean isPaused() {
		return this.paused;
	}

	public synchronized void drain(MonotonicTime now) {
		if (this.drainingSince == null) {
			this.drainingSince = now;
		}
	}

	public synchronized boolean cancelDrain() {
		if (this.stopping || this.abandoned || this.drainingSince == null) {
			return false;
		}
		this.drainingSince = null;
		return true;
	}

	public @Nullable MonotonicTime drainingSince() {
		return this.drainingSince;
	}

	public synchronized void abandon() {
		this.abandoned = true;
	}

	public boolean isAbandoned() {
		return this.abandoned;
	}

	/** Returns whether no further record may be handled. */
	public boolean isLeaving() {
		return this.abandoned || this.stopping || this.drainingSince != null;
	}

	/** Begins the stop if the shard is leaving; returns whether it is. */
	public synchronized boolean beginStop() {
		this.stopping = isLeaving();
		return this.stopping;
	}

	public void seek(MonotonicTime now) {
		this.seekingSince = now;
	}

	public void seekEnded() {
		this.seekingSince = null;
	}

	public @Nullable MonotonicTime seekingSince() {
		return this.seekingSince;
	}

	public boolean isSeeking() {
		return this.seekingSince != null;
	}

}
