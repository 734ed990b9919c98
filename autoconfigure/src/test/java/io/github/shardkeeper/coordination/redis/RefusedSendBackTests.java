package io.github.shardkeeper.coordination.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.Commit;
import io.github.shardkeeper.coordination.CommitNumber;
import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.OnEveryRedis;
import io.github.shardkeeper.testsupport.RedisClients;
import io.github.shardkeeper.testsupport.TestRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A user who may not put dead letters into the retry queue loses none of them.
 */
@OnEveryRedis
class RefusedSendBackTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private final TestRedis redis = TestRedis.start();

	private final LettuceConnectionFactory factory = RedisClients.factory(this.redis);

	private final RedisConnector connector = new RedisConnector(this.factory);

	private final RedisCheckpointStore checkpoints = new RedisCheckpointStore(this.connector, "test", "group", TIMEOUT);

	private final RedisDeadLetterStore letters = new RedisDeadLetterStore(this.connector, "test", "group", TIMEOUT);

	@AfterEach
	void close() {
		this.letters.close();
		this.checkpoints.close();
		this.connector.stop();
		this.factory.destroy();
		this.redis.close();
	}

	@Test
	void theLetterStaysWhereItIs() {
		Token token = new Token(1);
		Instant failed = Instant.parse("2026-01-01T00:00:00Z");
		this.checkpoints.acquireNow(SHARD, token);
		this.checkpoints
			.commit(SHARD, token,
					new Commit(CommitNumber.ofWhole(1), new Offset("1-0"), Set.of(), Map.of(), List.of(), Set.of(),
							List.of(new FailedRecord(new Offset("1-0"), null, new byte[0], Map.of(), failed, 1, 0, "e",
									"s", failed))))
			.join();
		this.redis
			.call((commands) -> commands.aclSetuser("default", AclSetuserArgs.Builder.removeCommand(CommandType.ZADD)));

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.letters.sendBack(SHARD, this.letters.list(SHARD, null, 10)))
			.withMessageContaining("+zadd");
		assertThat(this.letters.list(SHARD, null, 10)).hasSize(1);
	}

}
