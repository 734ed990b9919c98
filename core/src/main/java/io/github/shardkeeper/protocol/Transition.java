package io.github.shardkeeper.protocol;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * A change of one shard that the leader wants, compared-and-set against the generation of
 * the shard's last change: a shard that has changed meanwhile is left alone.
 */
public sealed interface Transition {

	/**
	 * The shard to change.
	 * @return the shard
	 */
	ShardId shard();

	/**
	 * The generation of the shard's last change that the leader has seen.
	 * @return the generation, 0 for a shard that the store does not know yet
	 */
	long expectedGeneration();

	/**
	 * Gives a free (or new) shard, or a quiet one whose rest is over, to a member, with a
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
	 * @param target who gets it then; {@code null} for nobody
	 */
	record Revoke(ShardId shard, long expectedGeneration, @Nullable MemberId target) implements Transition {

	}

	/**
	 * Changes who gets a shard that is being released or rests. The rest lasts as long as
	 * before.
	 *
	 * @param shard the shard
	 * @param expectedGeneration its generation
	 * @param target the new target; {@code null} for nobody
	 */
	record Retarget(ShardId shard, long expectedGeneration, @Nullable MemberId target) implements Transition {

	}

	/**
	 * Takes a revocation back: the owner keeps the shard, under the token that it has.
	 *
	 * @param shard the shard
	 * @param expectedGeneration its generation
	 */
	record Cancel(ShardId shard, long expectedGeneration) implements Transition {

	}

}
