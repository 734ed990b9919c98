package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Appends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A reader drops a connection on which it cannot be woken, and continues on another one.
 */
class ReaderWithoutClientIdTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private final BlockingQueue<SourceRecord> records = new LinkedBlockingQueue<>();

	@Test
	void connectionWithoutClientIdIsClosed() throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			LettuceConnectionFactory connections = RedisClients.factory(redis);
			try (RedisStreamSource source = new RedisStreamSource(new RedisConnector(connections), "ids",
					Map.of("orders", 1), Duration.ofSeconds(10)); ShardReader reader = source.openReader()) {
				Appends.append(source, List.of(new NewRecord(SHARD, "k", new byte[1])));
				reader.start(SHARD, null, this.records::addAll);
				permit(redis, "-client");
				long before = connected(redis);
				for (int attempt = 0; attempt < 3; attempt++) {
					assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(reader::poll)
						.withMessageContaining("no reply to CLIENT ID");
				}
				Awaitility.await().until(() -> connected(redis), (now) -> now <= before);

				permit(redis, "+client");

				Awaitility.await().until(() -> reader.poll() && !this.records.isEmpty());
				assertThat(this.records).hasSize(1);
			}
			finally {
				connections.destroy();
			}
		}
	}

	private static void permit(EmbeddedRedis redis, String rule) {
		redis.call((commands) -> commands.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8),
				new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add("default").add(rule)));
	}

	private static long connected(EmbeddedRedis redis) {
		return redis.call((commands) -> commands.info("clients"))
			.lines()
			.filter((line) -> line.startsWith("connected_clients:"))
			.mapToLong((line) -> Long.parseLong(line.substring("connected_clients:".length()).strip()))
			.sum();
	}

}
