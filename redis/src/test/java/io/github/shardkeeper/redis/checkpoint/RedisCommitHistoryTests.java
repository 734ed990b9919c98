package io.github.shardkeeper.redis.checkpoint;

import java.util.UUID;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CommitHistoryContract;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;

@OnEveryRedis
class RedisCommitHistoryTests extends CommitHistoryContract {

	@Override
	protected CheckpointStore createStore() {
		return new RedisDataServer(UUID.randomUUID().toString()).store();
	}

}
