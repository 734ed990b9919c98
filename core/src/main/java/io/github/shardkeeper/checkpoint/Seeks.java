package io.github.shardkeeper.checkpoint;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * The requests to consume a shard from another position on. Immutable.
 *
 * @param applied the number of the one that was carried out last, 0 for none
 * @param pending the one that is to be carried out, {@code null} for none
 */
public record Seeks(long applied, @Nullable SeekRequest pending) {

	/** Nobody has ever asked for it. */
	public static final Seeks NONE = new Seeks(0, null);

	/**
	 * The request that somebody has still to carry out who has done so up to a number.
	 * @param done the number
	 * @return the request, {@code null} for none
	 */
	public @Nullable SeekRequest pendingAfter(long done) {
		return (this.pending != null && this.pending.number() > done) ? this.pending : null;
	}

	/**
	 * The number that a request gets which is made now.
	 * @param nowMillis the time, so that a store that has lost requests gives no number
	 * twice
	 * @return the number
	 */
	public long nextNumber(long nowMillis) {
		long last = (this.pending != null) ? Math.max(this.applied, this.pending.number()) : this.applied;
		return Math.max(last + 1, nowMillis);
	}

	/**
	 * A request to consume a shard from another position on, until its owner has carried
	 * it out. Immutable.
	 *
	 * @param number which of the shard's requests it is; they rise
	 * @param after the offset after which to go on
	 * @param clearsState whether the shard's state is to be removed with it
	 */
	public record SeekRequest(long number, Offset after, boolean clearsState) {

	}

}
