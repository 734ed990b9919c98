package io.github.shardkeeper.redis;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/**
 * The clock of Redis, asked with {@code TIME} on the connection of the data plane. Throws
 * a {@link io.github.shardkeeper.StoreUnavailableException} if there is no reply in time.
 * Thread-safe.
 */
public final class RedisClock implements InstantSource {

	private final RedisConnector connector;

	/** Creates a clock; opens no connection. */
	public RedisClock(RedisConnector connector) {
		this.connector = connector;
	}

	@Override
	public Instant instant() {
		return instant(this.connector.dataLink(RedisConnector.DATA_TIMEOUT).call((commands) -> commands.time()));
	}

	/** Returns the reply to {@code TIME} as an instant. */
	static Instant instant(List<byte[]> secondsAndMicros) {
		return Instant.ofEpochSecond(number(secondsAndMicros.get(0)), number(secondsAndMicros.get(1)) * 1000);
	}

	private static long number(byte[] digits) {
		return Long.parseLong(new String(digits, StandardCharsets.US_ASCII));
	}

}
