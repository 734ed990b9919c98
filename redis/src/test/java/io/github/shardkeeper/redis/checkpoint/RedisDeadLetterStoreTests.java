package io.github.shardkeeper.redis.checkpoint;

import java.util.UUID;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterContract;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;

@OnEveryRedis
class RedisDeadLetterStoreTests extends DeadLetterContract {

	@Override
	protected StoreServer createServer() {
		return new RedisDataServer(UUID.randomUUID().toString());
	}

	@Override
	protected CheckpointStore createCheckpoints(StoreServer created) {
		return ((RedisDataServer) created).store();
	}

	@Override
	protected DeadLetterStore createLetters(StoreServer created) {
		return ((RedisDataServer) created).letters();
	}

	/** It stops as soon as it has a megabyte. */
	@Override
	protected int mostLargeLettersAtOnce() {
		return 2;
	}

}
