package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Provides a Redis unless {@code spring.data.redis.*} names one: uses the Redis that
 * listens on {@code sample.redis.port} (6379 unless set), or has a {@link RedisKeeper}
 * start one there.
 * <p>
 * A connection stays open for as long as this process lives. It tells the keeper, even
 * after {@code kill -9}, whether Redis is still needed.
 */
final class LocalRedis implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

	private static final Logger logger = LoggerFactory.getLogger(LocalRedis.class);

	private static final int DEFAULT_PORT = 6379;

	/** Parts of spring.data.redis that tell where Redis is. */
	private static final List<String> PLACES = List.of("url", "host", "port", "sentinel", "cluster", "masterreplica");

	/** Held, because the garbage collector would close it. */
	private @Nullable PlainRedisConnection connection;

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		ConfigurableEnvironment environment = event.getEnvironment();
		Binder binder = Binder.get(environment);
		BindResult<Integer> wanted = binder.bind("sample.redis.port", Integer.class);
		if (!wanted.isBound() && isConfigured(binder)) {
			return;
		}
		int port = wanted.orElse(DEFAULT_PORT);
		this.connection = connectOrStart(port);
		environment.getPropertySources()
			.addFirst(new MapPropertySource("sampleRedis",
					Map.of("spring.data.redis.host", "127.0.0.1", "spring.data.redis.port", port)));
	}

	private static boolean isConfigured(Binder binder) {
		Set<String> names = binder.bind("spring.data.redis", Bindable.mapOf(String.class, Object.class))
			.orElse(Map.of())
			.keySet();
		return PLACES.stream().anyMatch(names::contains);
	}

	private static PlainRedisConnection connectOrStart(int port) {
		try {
			PlainRedisConnection redis = PlainRedisConnection.open(port);
			if (redis != null) {
				logger.info("Using the Redis that listens on port {}", port);
			}
			else {
				logger.info("Nothing listens on port {}: starting a Redis there, which ends with its last user", port);
				redis = RedisKeeper.start(port);
			}
			requireRedis(redis, port);
			return redis;
		}
		catch (IOException ex) {
			throw problem("Redis can be neither reached nor started on port %d: %s".formatted(port, ex.getMessage()),
					ex);
		}
	}

	private static void requireRedis(PlainRedisConnection redis, int port) throws IOException {
		String reply = redis.ping();
		if (reply.equals("+PONG") || reply.startsWith("-LOADING")) {
			return;
		}
		redis.close();
		if (reply.startsWith("-NOAUTH") || reply.startsWith("-DENIED")) {
			throw problem("The Redis on port %d requires authentication: %s".formatted(port, reply.substring(1)), null);
		}
		throw problem("Something listens on port %d, but it is not a Redis.".formatted(port), null);
	}

	private static ShardkeeperConfigurationException problem(String description, @Nullable Exception cause) {
		return new ShardkeeperConfigurationException(description,
				"Name a Redis 6.2 or newer with --spring.data.redis.url=redis://user:password@host:6379, or let the"
						+ " sample start one on a free port, for example --sample.redis.port=6380.",
				cause);
	}

}
