package io.github.shardkeeper.coordination;

import io.github.shardkeeper.shard.ShardId;

/**
 * Stories about a group, each told to a fresh one.
 */
public interface GroupStories {

	ShardId FIRST = ShardId.of("orders", 1);

	ShardId SECOND = ShardId.of("orders", 2);

	ShardId THIRD = ShardId.of("payments", 1);

	TestGroup group();

}
