package io.github.shardkeeper;

import java.time.Instant;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * One record of a shard. Immutable if its payload is.
 *
 * @param shard the shard it was read from
 * @param offset its position there
 * @param key the key it was sent with, or {@code null}
 * @param payload the converted payload
 * @param headers its headers by name, not to be changed; empty where there are none
 * @param timestamp when it was appended, by the clock of the source
 * @param <T> the payload's type
 */
public record ShardRecord<T>(ShardId shard, Offset offset, @Nullable String key, T payload, Map<String, String> headers,
		Instant timestamp) {

	public ShardRecord {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(offset, "offset must not be null");
		Objects.requireNonNull(payload, "payload must not be null");
		Objects.requireNonNull(headers, "headers must not be null");
		Objects.requireNonNull(timestamp, "timestamp must not be null");
	}

	/**
	 * Creates a record without headers.
	 * @param shard the shard it was read from
	 * @param offset its position there
	 * @param key the key it was sent with, or {@code null}
	 * @param payload the converted payload
	 * @param timestamp when it was appended, by the clock of the source
	 */
	public ShardRecord(ShardId shard, Offset offset, @Nullable String key, T payload, Instant timestamp) {
		this(shard, offset, key, payload, Map.of(), timestamp);
	}

}
