package io.github.shardkeeper.testsupport;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.redis.RedisConnector;

/**
 * What Spring Boot would make of {@code spring.data.redis.port}.
 */
public final class RedisClients {

	private static final LettuceConnectionFactory SHARED = factory(TestRedis.shared());

	private RedisClients() {
	}

	/** A connection factory for a Redis, started. */
	public static LettuceConnectionFactory factory(TestRedis redis) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", redis.port());
		factory.afterPropertiesSet();
		return factory;
	}

	/** A connector to the Redis that all tests share. */
	public static RedisConnector sharedConnector() {
		return new RedisConnector(SHARED);
	}

	/** Connections to the Redis that all tests share. */
	public static LettuceConnectionFactory sharedFactory() {
		return SHARED;
	}

}
