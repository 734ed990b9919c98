package io.github.shardkeeper.handover;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * What a member does next about one of its shards.
 */
public sealed interface HoldingAction {

	/**
	 * The shard concerned.
	 * @return the shard
	 */
	ShardId shard();

	/**
	 * Acquire the shard and consume it.
	 *
	 * @param shard the shard
	 * @param token the token to do it under
	 */
	record Start(ShardId shard, Token token) implements HoldingAction {

	}

	/**
	 * Stop consuming, put the state away, and say when that is done.
	 *
	 * @param shard the shard
	 */
	record Drain(ShardId shard) implements HoldingAction {

	}

	/**
	 * Stop consuming at once: the shard is lost.
	 *
	 * @param shard the shard
	 */
	record Abandon(ShardId shard) implements HoldingAction {

	}

	/**
	 * Tell the store that the shard is given up; to be repeated until it has answered.
	 *
	 * @param shard the shard
	 * @param token the token under which it was held
	 * @param tokenFloor what the next token must exceed, or {@link Token#NONE}: the
	 * fence's value when the fence was found ahead
	 * @param completed whether the shard has come to its end, and nobody is to get it
	 * again
	 */
	record Release(ShardId shard, Token token, Token tokenFloor, boolean completed) implements HoldingAction {

	}

}
