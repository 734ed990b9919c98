package io.github.shardkeeper.protocol;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * A change of one shard that the leader decides. Applied only if the shard still has the
 * expected generation. Immutable.
 */
public sealed interface Transition {

	/**
	 * Returns the shard to change.
	 * @return the shard
	 */
	ShardId shard();

	/**
	 * Returns the generation of the shard's last change that the leader has seen.
	 * @return the generation; 0 for a shard that is new to the store
	 */
	long expectedGeneration();

	/**
	 * Gives a member a free or new shard, or a quiet one after its quiet period, with a
	 * new token.
	 *
	 * @param shard the shard
	 * @param expectedGeneration its generation
	 * @param owner the new owner
	 */
	record Assign(ShardId shard, long expectedGeneration, MemberId owner) implements Transition {

	}

	/**
	 * Asks the owner to release a shard.
	 *
	 * @param shard the shard
	 * @param expectedGeneration its generation
	 * @param target the next owner; {@code null} for none
	 */
	record Revoke(ShardId shard, long expectedGeneration, @Nullable MemberId target) implements Transition {

	}

	/**
	 * Changes the target of a revoked or quiet shard. Its quiet period stays the same.
	 *
	 * @param shard the shard
	 * @param expectedGeneration its generation
	 * @param target the new target; {@code null} for none
	 */
	record Retarget(ShardId shard, long expectedGeneration, @Nullable MemberId target) implements Transition {

	}

	/**
	 * Cancels a revocation: the owner keeps the shard under its token.
	 *
	 * @param shard the shard
	 * @param expectedGeneration its generation
	 */
	record Cancel(ShardId shard, long expectedGeneration) implements Transition {

	}

}
