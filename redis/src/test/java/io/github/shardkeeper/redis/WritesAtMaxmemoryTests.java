package io.github.shardkeeper.redis;

import java.util.Map;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Writes that scripts may do on a Redis that has reached {@code maxmemory}.
 */
@OnEveryRedis
@Tag("proof")
@Promise("Automatic recovery")
class WritesAtMaxmemoryTests {

	private static final String COMMON = LuaScript.load(LuaScript.class, ScriptOutputType.VALUE).text();

	private static final Map<String, String> WRITES = Map.of("HDEL", "'HSET', KEYS[1], 'field', 'value'", "SREM",
			"'SADD', KEYS[1], 'entry'", "ZREM", "'ZADD', KEYS[1], 1, 'entry'");

	@ParameterizedTest
	@CsvSource({ "HDEL, false", "HDEL, true", "SREM, false", "SREM, true", "ZREM, false", "ZREM, true" })
	void scriptThatWritesAtMaxmemoryIsAcceptedByAFullRedis(String remove, boolean exists) {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			String key = "key-of-" + remove;
			String write = "return redis.call(" + WRITES.get(remove) + ")";
			String letThrough = COMMON + "writeAtMaxmemory('" + remove + "', KEYS[1])\n" + write;
			if (exists) {
				redis.call((commands) -> commands.eval(write, ScriptOutputType.INTEGER, key));
			}
			redis.call((commands) -> commands.configSet("maxmemory", "1"));
			assertThatExceptionOfType(RedisCommandExecutionException.class)
				.isThrownBy(() -> redis.call((commands) -> commands.eval(write, ScriptOutputType.INTEGER, key)))
				.withMessageContaining("OOM command not allowed");

			redis.call((commands) -> commands.eval(letThrough, ScriptOutputType.INTEGER, key));

			assertThat(redis.<Long>call((commands) -> commands.exists(key))).isEqualTo(1);
		}
	}

}
