package io.github.shardkeeper.benchmarks;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;

/**
 * Statistics of a Redis, read over one connection. Thread-safe.
 */
public final class RedisFigures implements AutoCloseable {

	private final RedisClient client;

	private final StatefulRedisConnection<String, String> connection;

	/**
	 * Connects.
	 * @param redis the Redis
	 */
	public RedisFigures(RedisProcess redis) {
		this.client = redis.client();
		this.connection = this.client.connect();
	}

	public RedisCommands<String, String> commands() {
		return this.connection.sync();
	}

	/**
	 * Reads one figure.
	 * @param section the section of {@code INFO} that contains it
	 * @param name its name
	 * @return the figure
	 */
	public double of(String section, String name) {
		Matcher figure = Pattern.compile("(?m)^" + name + ":([0-9.]+)").matcher(commands().info(section));
		if (!figure.find()) {
			throw new IllegalStateException("Redis does not report " + name);
		}
		return Double.parseDouble(figure.group(1));
	}

	/** Returns the processor time that Redis has used so far, in milliseconds. */
	public double processorMillis() {
		return 1000 * (of("cpu", "used_cpu_user") + of("cpu", "used_cpu_sys"));
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

}
