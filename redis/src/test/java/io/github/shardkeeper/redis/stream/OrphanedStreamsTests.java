package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;

class OrphanedStreamsTests {

	private final String prefix = UUID.randomUUID().toString();

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	private final Queue<Runnable> background = new ArrayDeque<>();

	private Map<String, TopicShards> known = Map.of("orders", TopicShards.count(8));

	@Test
	void raiseDuringACheckIsNotReported() {
		try (Connection connection = new Connection(RedisClients.sharedConnector())) {
			OrphanedStreams orphans = new OrphanedStreams(connection.connector().dataLink(Duration.ofSeconds(10)),
					this.background::add, (shard) -> this.prefix + shard.id(), 0);
			orphans.checkIfDue(() -> {
				// The raise comes after the check has begun, and before it reports.
				Map<String, TopicShards> before = this.known;
				this.known = Map.of("orders", TopicShards.count(16));
				return before;
			}, 0);
			append(11);
			this.background.remove().run();

			assertThat(orphans.problems()).isEmpty();
		}
	}

	@Test
	void recordsAboveTheCountAreReported() {
		try (Connection connection = new Connection(RedisClients.sharedConnector())) {
			OrphanedStreams orphans = new OrphanedStreams(connection.connector().dataLink(Duration.ofSeconds(10)),
					this.background::add, (shard) -> this.prefix + shard.id(), 0);
			append(11);
			orphans.checkIfDue(() -> this.known, 0);
			this.background.remove().run();

			assertThat(orphans.problems().get("orders")).contains("has 8 shards", "shard 11");
		}
	}

	private void append(int shard) {
		this.redis.opsForStream().add(this.prefix + shard, Map.of("v", "1"));
	}

	private record Connection(RedisConnector connector) implements AutoCloseable {

		@Override
		public void close() {
			this.connector.stop();
		}

	}

}
