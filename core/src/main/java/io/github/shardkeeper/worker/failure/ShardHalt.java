package io.github.shardkeeper.worker.failure;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * Halt of a shard, until it has another owner or until a record is retried. Confined to
 * the shard's worker.
 */
public final class ShardHalt {

	private boolean lasts;

	private @Nullable MonotonicTime retryAt;

	/** Begins a halt until the shard has another owner. */
	void begin() {
		this.lasts = true;
	}

	/** Halts until a record is retried; returns whether it was not halted like that. */
	boolean beginUntil(MonotonicTime time) {
		boolean begins = this.retryAt == null;
		this.retryAt = time;
		return begins;
	}

	/** Ends a halt until a retry; returns whether there was one. */
	boolean endRetries() {
		boolean ends = this.retryAt != null;
		this.retryAt = null;
		return ends;
	}

	/** Returns whether it lasts until the shard has another owner. */
	public boolean lasts() {
		return this.lasts;
	}

	/** Returns whether the shard is halted, or retries the record that has halted it. */
	public boolean hasBegun() {
		return this.lasts || this.retryAt != null;
	}

	/** Returns whether no call may be made. */
	public boolean isInEffect(MonotonicTime now) {
		return this.lasts || this.retryAt != null && now.isBefore(this.retryAt);
	}

	/** Returns when the halting record is retried, {@code null} for never. */
	public @Nullable MonotonicTime ends(MonotonicTime now) {
		return (!this.lasts && isInEffect(now)) ? this.retryAt : null;
	}

}
