package io.github.shardkeeper.consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.MonotonicTime;

/**
 * Which way a worker goes: on, or to its end. A drain can be cancelled until the end has
 * begun, with the application's farewell; from there is no way back. Thread-safe.
 */
final class WorkerCourse {

	private volatile boolean abandoned;

	/** The end has begun. */
	private volatile boolean ending;

	private volatile @Nullable MonotonicTime drainingSince;

	/** The shard is to be handed over. */
	synchronized void drain(MonotonicTime now) {
		if (this.drainingSince == null) {
			this.drainingSince = now;
		}
	}

	/**
	 * The shard stays; tells whether that is still possible, or nothing was cancelled.
	 */
	synchronized boolean cancelDrain() {
		if (this.ending || this.abandoned || this.drainingSince == null) {
			return false;
		}
		this.drainingSince = null;
		return true;
	}

	/** The shard is lost. */
	synchronized void abandon() {
		this.abandoned = true;
	}

	synchronized boolean isAbandoned() {
		return this.abandoned;
	}

	/** Whether no further record is to be handled; asked before each. */
	boolean leadsToEnd() {
		return this.abandoned || this.ending || this.drainingSince != null;
	}

	/** Begins the end if the course leads there; tells whether it does. */
	synchronized boolean beginEnd() {
		this.ending = leadsToEnd();
		return this.ending;
	}

	/** Since when the shard is to be handed over, {@code null} if it is not. */
	synchronized @Nullable MonotonicTime drainingSince() {
		return this.drainingSince;
	}

}
