package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisServerCommands;

import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.redis.testsupport.RedisKeys;

/**
 * One group on the Redis that all tests share. Its clock cannot be set: advancing waits
 * until it shows that the time has passed.
 */
public class RedisServer implements StoreServer {

	public static final String PREFIX = "test";

	private final RedisKeys keys;

	public RedisServer(String group) {
		this.keys = new RedisKeys(PREFIX + ":{" + group + "}:");
	}

	@Override
	public void advance(Duration duration) {
		try (RedisConnection connection = RedisClients.sharedFactory().getConnection()) {
			RedisServerCommands server = connection.serverCommands();
			long end = server.time() + duration.toMillis() + 1;
			while (server.time() < end) {
				LockSupport.parkNanos(1_000_000);
			}
		}
	}

	@Override
	public Object snapshot() {
		return this.keys.snapshot();
	}

	@Override
	public void loseWritesSince(Object snapshot) {
		this.keys.restore(snapshot);
	}

	@Override
	public void empty() {
		this.keys.delete();
	}

}
