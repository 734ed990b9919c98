package io.github.shardkeeper.coordination.redis;

import java.time.Duration;
import java.util.UUID;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CheckpointStoreContract;
import io.github.shardkeeper.testsupport.OnEveryRedis;
import io.github.shardkeeper.testsupport.RedisClients;

@OnEveryRedis
class RedisCheckpointStoreTests extends CheckpointStoreContract {

	@Override
	protected CheckpointStore createStore() {
		return new RedisCheckpointStore(RedisClients.sharedConnector(), "test", UUID.randomUUID().toString(),
				Duration.ofSeconds(10));
	}

}
