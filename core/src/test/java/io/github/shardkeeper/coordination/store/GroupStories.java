package io.github.shardkeeper.coordination.store;

import io.github.shardkeeper.shard.ShardId;

/**
 * Tests of a coordination store, each with a new group.
 */
public interface GroupStories {

	ShardId FIRST = ShardId.of("orders", 1);

	ShardId SECOND = ShardId.of("orders", 2);

	ShardId THIRD = ShardId.of("payments", 1);

	TestGroup group();

}
