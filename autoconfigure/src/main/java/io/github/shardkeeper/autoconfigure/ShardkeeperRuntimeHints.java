package io.github.shardkeeper.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers the scripts and the files of the dashboard as resources of a native image,
 * and the field that {@code RedisConnector} reads.
 */
class ShardkeeperRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("io/github/shardkeeper/jdbc/*.sql")
			.registerPattern("io/github/shardkeeper/redis/*.lua")
			.registerPattern("io/github/shardkeeper/redis/coordination/*.lua")
			.registerPattern("io/github/shardkeeper/redis/checkpoint/*.lua")
			.registerPattern("io/github/shardkeeper/redis/cluster/*.lua")
			.registerPattern("io/github/shardkeeper/redis/stream/*.lua")
			.registerPattern("io/github/shardkeeper/dashboard/*.html")
			.registerPattern("io/github/shardkeeper/dashboard/*.css")
			.registerPattern("io/github/shardkeeper/dashboard/*.js")
			.registerPattern("io/github/shardkeeper/dashboard/*.svg");
		hints.reflection()
			.registerTypeIfPresent(classLoader,
					"org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
					MemberCategory.ACCESS_DECLARED_FIELDS);
	}

}
