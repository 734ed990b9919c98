package io.github.shardkeeper.worker.shard;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Listener for this instance's session and shards. No method may block. Thread-safe.
 */
public interface ConsumerEvents {

	ConsumerEvents NONE = new ConsumerEvents() {

		@Override
		public void sessionLost(MemberId member) {
		}

		@Override
		public void sessionResumed(MemberId member, boolean newSession) {
		}

		@Override
		public void assigned(ShardContext shard, @Nullable Offset after) {
		}

		@Override
		public void revoked(ShardContext shard, boolean lost) {
		}

	};

	/** Called when the lease has ended, before running calls are interrupted. */
	void sessionLost(MemberId member);

	/** Called when the lease is held again after a {@linkplain #sessionLost loss}. */
	void sessionResumed(MemberId member, boolean newSession);

	/**
	 * Called when a shard is consumed.
	 * @param after the offset after which its records are read, {@code null} for none
	 */
	void assigned(ShardContext shard, @Nullable Offset after);

	/**
	 * Called when a shard is no longer consumed.
	 * @param lost whether it was lost without a handover
	 */
	void revoked(ShardContext shard, boolean lost);

	/**
	 * Called when a shard of the group reaches a phase of a move, at most once for each
	 * phase and token. Not called for broadcast shards.
	 */
	default void reached(ShardContext shard, MovePhase phase, MonotonicTime at) {
	}

}
