package io.github.shardkeeper;

import java.time.Instant;
import java.util.Map;

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
