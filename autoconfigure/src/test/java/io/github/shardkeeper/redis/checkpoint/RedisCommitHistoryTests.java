package io.github.shardkeeper.redis.checkpoint;

import java.util.UUID;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CommitHistoryContract;
import io.github.shardkeeper.testsupport.OnEveryRedis;

@OnEveryRedis
class RedisCommitHistoryTests extends CommitHistoryContract {

	@Override
	protected CheckpointStore createStore() {
		return new RedisDataServer(UUID.randomUUID().toString()).store();
	}

}
