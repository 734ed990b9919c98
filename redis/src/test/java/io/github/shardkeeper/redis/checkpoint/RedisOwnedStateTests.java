package io.github.shardkeeper.redis.checkpoint;

import java.util.UUID;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.OwnedStateContract;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;

@OnEveryRedis
class RedisOwnedStateTests extends OwnedStateContract {

	@Override
	protected StoreServer createServer() {
		return new RedisDataServer(UUID.randomUUID().toString());
	}

	@Override
	protected CheckpointStore createStore(StoreServer created) {
		return ((RedisDataServer) created).store();
	}

}
