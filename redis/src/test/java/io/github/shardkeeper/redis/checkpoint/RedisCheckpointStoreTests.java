package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.util.UUID;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStoreContract;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.redis.testsupport.RedisKeys;

@OnEveryRedis
class RedisCheckpointStoreTests extends CheckpointStoreContract {

	private final String group = UUID.randomUUID().toString();

	private final RedisKeys keys = new RedisKeys("test:{" + this.group + "/");

	@Override
	protected CheckpointStore createStore() {
		return new RedisCheckpointStore(RedisClients.sharedConnector(), "test", this.group, Duration.ofSeconds(60));
	}

	@Override
	protected Object snapshot(CheckpointStore created) {
		return this.keys.snapshot();
	}

	@Override
	protected void loseWritesSince(CheckpointStore created, Object snapshot) {
		this.keys.restore(snapshot);
	}

	@Override
	protected void empty(CheckpointStore created) {
		this.keys.delete();
	}

}
