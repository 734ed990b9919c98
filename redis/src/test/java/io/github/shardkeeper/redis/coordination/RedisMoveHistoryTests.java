package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.history.MoveHistory.Bounds;
import io.github.shardkeeper.history.MoveHistoryContract;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEveryRedis
class RedisMoveHistoryTests extends MoveHistoryContract {

	private static final Bounds BOUNDS = new Bounds(1_000, Duration.ofDays(1));

	private final String group = UUID.randomUUID().toString();

	private final String key = RedisServer.PREFIX + ":{" + this.group + "}:moves";

	private final RedisServer server = new RedisServer(this.group);

	private final RedisConnector connector = new RedisConnector(RedisClients.sharedFactory());

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@Override
	protected MoveHistory create(Bounds bounds) {
		return new RedisMoveHistory(this.connector, RedisServer.PREFIX, this.group, Duration.ofSeconds(30), bounds);
	}

	@Override
	protected void pass(Duration time) {
		this.server.advance(time);
	}

	@AfterEach
	void close() {
		this.server.empty();
		this.connector.stop();
	}

	@Test
	void entriesOfOthersAreLeftOut() {
		MoveHistory history = create(BOUNDS);
		history.append(List.of(move(1)));
		this.redis.opsForStream().add(this.key, Map.of("shard", "not a shard"));
		this.redis.opsForStream()
			.add(this.key, Map.of("shard", "visits/1", "from", "", "to", "<b>", "token", "x", "cause", "MAGIC"));
		history.append(List.of(move(2)));

		assertThat(moves(history.read(null, 10))).containsExactly(move(2), move(1));
	}

	@Test
	void keyOfAnotherTypeIsNamed() {
		this.redis.opsForValue().set(this.key, "text");
		MoveHistory history = create(BOUNDS);

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> history.read(null, 10))
			.withMessageContaining("WRONGTYPE");
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> history.append(moves(0, 1)))
			.withMessageContaining("WRONGTYPE");
	}

}
