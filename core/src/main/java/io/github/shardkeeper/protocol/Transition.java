package io.github.shardkeeper.protocol;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * A change of one shard that the leader decides. Applied only if the shard still has the
 * expected generation. Immutable.
 */
public sealed interface Transition {

	/** Returns the shard to change. */
	ShardId shard();

	/** Returns the generation of the shard that the leader has seen; 0 for a new one. */
	long expectedGeneration();

	/** Gives a member a shard that is free, new or past its quiet period. */
	record Assign(ShardId shard, long expectedGeneration, MemberId owner) implements Transition {

	}

	/** Asks the owner to release a shard to a target; {@code null} for none. */
	record Revoke(ShardId shard, long expectedGeneration, @Nullable MemberId target) implements Transition {

	}

	/** Changes the target of a revoked or quiet shard, not its quiet period. */
	record Retarget(ShardId shard, long expectedGeneration, @Nullable MemberId target) implements Transition {

	}

	/** Cancels a revocation: the owner keeps the shard under its token. */
	record Cancel(ShardId shard, long expectedGeneration) implements Transition {

	}

}
