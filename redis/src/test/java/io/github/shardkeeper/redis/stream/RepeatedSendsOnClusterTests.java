package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.template.KeyedShardTemplate;
import io.github.shardkeeper.template.SendObserver;
import io.github.shardkeeper.template.SendSettings;
import io.github.shardkeeper.template.SendTopics;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is kept beside a stream lies in its slot.
 */
@Tag("proof")
@Promise("Sent once")
class RepeatedSendsOnClusterTests {

	private static final int SHARDS = 40;

	@Test
	void idsAreRecognizedInEverySlot() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.start(3)) {
			LettuceConnectionFactory factory = RedisClients.factory(cluster);
			RedisConnector connector = new RedisConnector(factory);
			try (RedisStreamSource source = new RedisStreamSource(connector, "test", Map.of("orders", SHARDS),
					Duration.ofSeconds(30));
					KeyedShardTemplate template = new KeyedShardTemplate(SendTopics.of(source::topics, source),
							new JsonPayloadConverter(new JsonMapper()), new SendSettings(1000, 1000, 100_000, 2),
							Map.of(), null, SendObserver.NONE)) {
				List<Outgoing> records = IntStream.range(0, 3 * SHARDS)
					.mapToObj((i) -> Outgoing.of("r" + i).toShard(i % SHARDS).withId("id-" + i))
					.toList();
				List<Appended> appended = template.sendAll("orders", records);

				assertThat(template.sendAll("orders", records)).isEqualTo(appended);
				StringRedisTemplate commands = new StringRedisTemplate(factory);
				assertThat(IntStream.range(0, SHARDS)
					.mapToObj((shard) -> commands.opsForStream()
						.size("test:{orders#%d}:stream:%d".formatted(shard % 16, shard))))
					.containsOnly(3L);
			}
			finally {
				connector.stop();
				factory.destroy();
			}
		}
	}

}
