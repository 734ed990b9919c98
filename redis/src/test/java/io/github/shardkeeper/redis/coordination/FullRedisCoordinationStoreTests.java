package io.github.shardkeeper.redis.coordination;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

import io.lettuce.core.RedisCommandExecutionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStoreContract;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The whole contract on a Redis that has long reached {@code maxmemory} with
 * {@code noeviction}: consuming is what frees the memory, so coordination must continue.
 */
@OnEveryRedis
@Tag("proof")
@Promise("Automatic recovery")
class FullRedisCoordinationStoreTests extends CoordinationStoreContract {

	private static EmbeddedRedis redis;

	private static LettuceConnectionFactory connections;

	private final String group = UUID.randomUUID().toString();

	@BeforeAll
	static void startRedis() {
		redis = EmbeddedRedis.start("--maxmemory-policy", "noeviction");
		connections = RedisClients.factory(redis);
	}

	@AfterAll
	static void stopRedis() {
		connections.destroy();
		redis.close();
	}

	@Override
	protected CoordinationStore createStore() {
		fill();
		CoordinationStore store = new RedisCoordinationStore(new RedisConnector(connections), "test", this.group,
				Duration.ofSeconds(10));
		return (CoordinationStore) Proxy.newProxyInstance(CoordinationStore.class.getClassLoader(),
				new Class<?>[] { CoordinationStore.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("subscribe")) {
						return subscribedWithMemory(store, (MemberId) arguments[0], (Runnable) arguments[1]);
					}
					try {
						return method.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	/** From 8.6 on, Redis refuses new subscriptions when it is full. */
	private static CoordinationStore.Subscription subscribedWithMemory(CoordinationStore store, MemberId member,
			Runnable onEvent) {
		redis.call((commands) -> commands.configSet("maxmemory", "0"));
		try {
			return store.subscribe(member, onEvent);
		}
		finally {
			fill();
		}
	}

	private static void fill() {
		redis.call((commands) -> commands.configSet("maxmemory", "1"));
	}

	@Test
	void thisRedisIsFull() {
		assertThatExceptionOfType(RedisCommandExecutionException.class)
			.isThrownBy(() -> redis.call((commands) -> commands.set("key", "value")))
			.withMessageContaining("OOM");
	}

	@Override
	protected StoreServer server() {
		return new StoreServer() {

			@Override
			public void advance(Duration duration) {
				long end = nowMillis() + duration.toMillis() + 1;
				while (nowMillis() < end) {
					LockSupport.parkNanos(1_000_000);
				}
			}

			private long nowMillis() {
				List<String> time = redis.call((commands) -> commands.time());
				return Long.parseLong(time.get(0)) * 1000 + Long.parseLong(time.get(1)) / 1000;
			}

			@Override
			public Object snapshot() {
				Map<String, byte[]> values = new LinkedHashMap<>();
				redis.call((commands) -> commands.keys("*"))
					.forEach((key) -> values.put(key, redis.call((commands) -> commands.dump(key))));
				return new Snapshot(values);
			}

			@Override
			public void loseWritesSince(Object snapshot) {
				redis.call((commands) -> commands.configSet("maxmemory", "0"));
				empty();
				((Snapshot) snapshot).values
					.forEach((key, value) -> redis.call((commands) -> commands.restore(key, 0, value)));
				fill();
			}

			@Override
			public void empty() {
				redis.call((commands) -> commands.flushall());
			}

		};
	}

	private record Snapshot(Map<String, byte[]> values) {

	}

}
