package io.github.shardkeeper.redis.testsupport;

import java.util.List;
import java.util.Set;

import io.lettuce.core.resource.ClientResources;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.test.EmbeddedRedisSentinel;

/**
 * Clients as Spring Boot creates them from {@code spring.data.redis.*}.
 */
public final class RedisClients {

	/** As the bean of Spring Boot; all clients of the tests share its threads. */
	private static final ClientResources RESOURCES = ClientResources.create();

	private static final LettuceConnectionFactory SHARED = factory(EmbeddedRedis.shared());

	private RedisClients() {
	}

	/** A connection factory for a Redis, started. */
	public static LettuceConnectionFactory factory(EmbeddedRedis redis) {
		return started(new RedisStandaloneConfiguration("127.0.0.1", redis.port()));
	}

	/** A connection factory for the master that Sentinels name, started. */
	public static LettuceConnectionFactory factory(EmbeddedRedisSentinel redis) {
		return started(new RedisSentinelConfiguration(EmbeddedRedisSentinel.MASTER_NAME,
				Set.of(redis.addresses().split(","))));
	}

	/** A connection factory for a cluster, started. */
	public static LettuceConnectionFactory factory(EmbeddedRedisCluster cluster) {
		return started(new RedisClusterConfiguration(List.of(cluster.addresses().split(","))));
	}

	private static LettuceConnectionFactory started(RedisConfiguration redis) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(redis,
				LettuceClientConfiguration.builder().clientResources(RESOURCES).build());
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
