package io.github.shardkeeper.redis;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Hints for a native image to contain the scripts, and the field that {@link OwnClient}
 * reads. Immutable.
 */
public final class RedisRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		List.of("", "checkpoint/", "cluster/", "coordination/", "stream/")
			.forEach((directory) -> hints.resources()
				.registerPattern("io/github/shardkeeper/redis/%s*.lua".formatted(directory)));
		hints.reflection().registerType(LettuceConnectionFactory.class, MemberCategory.ACCESS_DECLARED_FIELDS);
	}

}
