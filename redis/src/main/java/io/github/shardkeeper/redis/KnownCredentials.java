package io.github.shardkeeper.redis;

import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.StaticCredentialsProvider;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.StringUtils;

/**
 * Credentials that do not change, for which the client waits on no other thread. It
 * resolves a password of its address on a thread of the common pool; then a refused
 * connection may be closed before its reason is known ("Connection closed prematurely").
 */
final class KnownCredentials implements RedisCredentialsProviderFactory {

	@Override
	public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration configuration) {
		return (configuration instanceof RedisConfiguration.WithAuthentication known)
				? provider(known.getUsername(), known.getPassword()) : provider(null, RedisPassword.none());
	}

	@Override
	public RedisCredentialsProvider createSentinelCredentialsProvider(RedisSentinelConfiguration configuration) {
		return provider(configuration.getSentinelUsername(), configuration.getSentinelPassword());
	}

	private static RedisCredentialsProvider provider(@Nullable String username, RedisPassword password) {
		return StringUtils.hasText(username)
				? new StaticCredentialsProvider(username, password.toOptional().orElseGet(() -> new char[0]))
				: new StaticCredentialsProvider(null, password.toOptional().orElse(null));
	}

}
