package io.github.shardkeeper.worker;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.MemberId;

/**
 * Hears what becomes of this instance's session and shards. No method may block.
 * Thread-safe.
 */
public interface ConsumerEvents {

	/** Hears nothing. */
	ConsumerEvents NONE = new ConsumerEvents() {

		@Override
		public void sessionLost(MemberId member) {
		}

		@Override
		public void sessionResumed(MemberId member, boolean anew) {
		}

		@Override
		public void assigned(ShardContext shard) {
		}

		@Override
		public void revoked(ShardContext shard, boolean lost) {
		}

	};

	/**
	 * The lease has ended. Called at once, before the calls that run are interrupted.
	 * @param member the id that the instance had
	 */
	void sessionLost(MemberId member);

	/**
	 * After a {@linkplain #sessionLost loss} the lease is held again.
	 * @param member the id that the instance has now
	 * @param anew whether it is another session
	 */
	void sessionResumed(MemberId member, boolean anew);

	/**
	 * A shard is consumed.
	 * @param shard the shard
	 */
	void assigned(ShardContext shard);

	/**
	 * A shard is no longer consumed.
	 * @param shard the shard
	 * @param lost whether it was lost without warning
	 */
	void revoked(ShardContext shard, boolean lost);

}
