package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;
import io.github.shardkeeper.coordination.store.GroupDiagnosticsContract;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEveryRedis
class RedisDiagnosticsTests extends GroupDiagnosticsContract {

	private final String group = UUID.randomUUID().toString();

	private final RedisCoordinationStore store = new RedisCoordinationStore(RedisClients.sharedConnector(),
			RedisServer.PREFIX, this.group, Duration.ofSeconds(10));

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@Override
	protected GroupDiagnostics createNotes() {
		return this.store.diagnostics();
	}

	private String key(String name) {
		return RedisServer.PREFIX + ":{" + this.group + "}:" + name;
	}

	@Test
	void textsAreInTheSlotOfTheGroup() {
		this.diagnostics.write(Kind.PROBLEMS, Map.of("a~1", "away")).join();
		this.diagnostics.write(Kind.REASONS, Map.of("orders/1", "SHARE")).join();

		assertThat(this.redis.<String, String>opsForHash().entries(key("problems"))).isEqualTo(Map.of("a~1", "away"));
		assertThat(this.redis.<String, String>opsForHash().entries(key("reasons")))
			.isEqualTo(Map.of("orders/1", "SHARE"));
		this.diagnostics.write(Kind.PROBLEMS, Map.of("a~1", "")).join();
		assertThat(this.redis.hasKey(key("problems"))).isFalse();
	}

	@Test
	void manyTextsOfATopicAreRemoved() {
		for (int i = 0; i < 3_000; i++) {
			this.redis.opsForHash().put(key("reasons"), "old/" + i, "SHARE");
		}
		this.redis.opsForHash().put(key("reasons"), "older/1", "SHARE");

		this.diagnostics.removeAll(Kind.REASONS, "old/");

		assertThat(this.redis.opsForHash().keys(key("reasons"))).containsExactly("older/1");
	}

	@Test
	void keyOfAnotherTypeIsNamedAndNotRemoved() {
		this.redis.opsForValue().set(key("problems"), "something else");
		String problem = "the key " + key("problems") + " holds a value of another type, not the hash";

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.diagnostics.read(Kind.PROBLEMS, List.of("a~1")))
			.withMessageContaining(problem)
			.matches(StoreUnavailableException::isRefusal);
		assertThat(this.diagnostics.write(Kind.PROBLEMS, Map.of("a~1", "away"))).failsWithin(Duration.ofSeconds(10));
		assertThat(this.store.refusedOperations()).hasEntrySatisfying(
				"share the problems of shards with other instances", (reason) -> assertThat(reason).contains(problem));
		assertThat(this.redis.opsForValue().get(key("problems"))).isEqualTo("something else");

		this.redis.delete(key("problems"));
		this.diagnostics.write(Kind.PROBLEMS, Map.of("a~1", "away")).join();
		assertThat(this.store.refusedOperations()).isEmpty();
	}

}
