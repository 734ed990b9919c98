package io.github.shardkeeper.checkpoint;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * Requests to consume a shard from another position. Immutable.
 *
 * @param applied the number of the request that was carried out last, 0 for none
 * @param pending the request that is not carried out yet, {@code null} for none
 */
public record Seeks(long applied, @Nullable SeekRequest pending) {

	public static final Seeks NONE = new Seeks(0, null);

	/** Returns the pending request that an owner has not done yet. */
	public @Nullable SeekRequest pendingAfter(long done) {
		return (this.pending != null && this.pending.number() > done) ? this.pending : null;
	}

	/** Returns the next number; the store's time keeps it unique after lost writes. */
	public long nextNumber(long nowMillis) {
		long last = (this.pending != null) ? Math.max(this.applied, this.pending.number()) : this.applied;
		return Math.max(last + 1, nowMillis);
	}

	/**
	 * A request to consume a shard from another position. Immutable.
	 *
	 * @param number the number of the request; later requests of a shard have higher ones
	 * @param after the offset before the first record to consume
	 * @param clearsState whether the shard's state is removed as well
	 */
	public record SeekRequest(long number, Offset after, boolean clearsState) {

	}

}
