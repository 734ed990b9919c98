package io.github.shardkeeper.redis.testsupport;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * All keys of the Redis that all tests share whose names begin alike: what a failover or
 * a restart does to them.
 */
public final class RedisKeys {

	private final byte[] pattern;

	/**
	 * Names the keys.
	 * @param start what they begin with
	 */
	public RedisKeys(String start) {
		// Braces mean nothing in a pattern.
		this.pattern = (start + "*").getBytes(StandardCharsets.UTF_8);
	}

	/** The keys as they are now. */
	public Object snapshot() {
		try (RedisConnection connection = RedisClients.sharedFactory().getConnection()) {
			Map<byte[], byte[]> values = new HashMap<>();
			for (byte[] key : connection.keyCommands().keys(this.pattern)) {
				values.put(key, connection.keyCommands().dump(key));
			}
			return new Snapshot(values);
		}
	}

	/** The keys as they were. */
	public void restore(Object snapshot) {
		delete();
		try (RedisConnection connection = RedisClients.sharedFactory().getConnection()) {
			((Snapshot) snapshot).values.forEach((key, value) -> connection.keyCommands().restore(key, 0, value));
		}
	}

	/** None of the keys. */
	public void delete() {
		try (RedisConnection connection = RedisClients.sharedFactory().getConnection()) {
			Set<byte[]> keys = connection.keyCommands().keys(this.pattern);
			if (!keys.isEmpty()) {
				connection.keyCommands().del(keys.toArray(byte[][]::new));
			}
		}
	}

	private record Snapshot(Map<byte[], byte[]> values) {

	}

}
