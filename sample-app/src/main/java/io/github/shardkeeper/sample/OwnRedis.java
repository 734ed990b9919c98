package io.github.shardkeeper.sample;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Sees to it that there is a Redis, so that the sample runs on a machine with nothing but
 * a JDK and Maven: where {@code spring.data.redis.*} does not tell where Redis is, it
 * uses the one on the default port, and has a {@link RedisKeeper} start one where nothing
 * listens.
 * <p>
 * It stays connected for as long as this process lives. That is how the keeper knows, by
 * the kernel's word and so even after {@code kill -9}, who still needs the Redis.
 */
final class OwnRedis implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

	private static final Logger logger = LoggerFactory.getLogger(OwnRedis.class);

	/** The parts of spring.data.redis that tell where Redis is. */
	private static final List<String> PLACES = List.of("url", "host", "port", "sentinel", "cluster", "masterreplica");

	private @Nullable PlainRedis presence;

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		ConfigurableEnvironment environment = event.getEnvironment();
		Binder binder = Binder.get(environment);
		if (!binder.bind("sample.redis.port", Integer.class).isBound() && isConfigured(binder)) {
			return;
		}
		int port = binder.bindOrCreate("sample", SampleProperties.class).redis().port();
		this.presence = connectOrStart(port);
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

	private static PlainRedis connectOrStart(int port) {
		try {
			PlainRedis redis = PlainRedis.connect(port);
			if (redis != null) {
				logger.info("Using the Redis that listens on port {}", port);
				return requireRedis(redis, port);
			}
			logger.info("Nothing listens on port {}: starting a Redis there, which goes away with its last user", port);
			String output = RedisKeeper.start(port);
			redis = PlainRedis.connect(port);
			if (redis != null) {
				return requireRedis(redis, port);
			}
			throw problem("Starting a Redis on port %d failed: %s".formatted(port, output), null);
		}
		catch (IOException ex) {
			throw problem("No Redis can be reached or started on port %d: %s".formatted(port, ex), ex);
		}
	}

	private static PlainRedis requireRedis(PlainRedis redis, int port) throws IOException {
		String answer = answer(redis);
		if (answer.equals("+PONG") || answer.startsWith("-LOADING")) {
			return redis;
		}
		redis.close();
		if (answer.startsWith("-NOAUTH") || answer.startsWith("-DENIED")) {
			throw problem("The Redis on port %d wants to know who connects: %s".formatted(port, answer.substring(1)),
					null);
		}
		throw problem("Something listens on port %d, but it is not a Redis.".formatted(port), null);
	}

	private static String answer(PlainRedis redis) {
		try {
			return redis.ask("PING");
		}
		catch (IOException ex) {
			return "";
		}
	}

	private static ShardkeeperConfigurationException problem(String description, @Nullable Exception cause) {
		return new ShardkeeperConfigurationException(description,
				"Name a Redis 6.2 or newer with --spring.data.redis.url=redis://user:password@host:6379, or let the"
						+ " sample start one on a free port, for example --sample.redis.port=6380.",
				cause);
	}

}
