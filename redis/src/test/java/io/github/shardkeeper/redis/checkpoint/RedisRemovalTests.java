package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.RemovalContract;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

@OnEveryRedis
class RedisRemovalTests extends RemovalContract {

	private static final Token TOKEN = new Token(7);

	@Test
	void patternCharactersInAPrefixAreLiteral() {
		String prefix = "te*[s]?t\\" + UUID.randomUUID();
		ShardId shard = ShardId.of("old", 1);
		try (CheckpointStore store = store(prefix); CheckpointStore other = store(prefix.replace("[s]", "s"))) {
			store.acquireNow(shard, TOKEN);
			other.acquireNow(shard, TOKEN);

			assertThat(store.remove("old", TOKEN).removed()).containsExactly(shard);
			assertThat(other.remove("old", TOKEN).removed()).containsExactly(shard);
		}
	}

	private static CheckpointStore store(String prefix) {
		return new RedisCheckpointStore(RedisClients.sharedConnector(), prefix, "group", Duration.ofSeconds(60));
	}

	@Override
	protected StoreServer createServer() {
		return new RedisDataServer(UUID.randomUUID().toString());
	}

	@Override
	protected CheckpointStore createStore(StoreServer created) {
		return ((RedisDataServer) created).store();
	}

	@Override
	protected DeadLetterStore createLetters(StoreServer created) {
		return ((RedisDataServer) created).letters();
	}

}
