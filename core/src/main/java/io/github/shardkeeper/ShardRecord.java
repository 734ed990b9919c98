package io.github.shardkeeper;

import java.time.Instant;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Record of a shard, with its payload converted. Immutable if its payload is.
 *
 * @param shard the shard that it was read from
 * @param offset the position in the shard
 * @param key the key, {@code null} for none
 * @param payload the converted payload
 * @param headers the headers by name, which must not be changed; empty for none
 * @param timestamp the time of appending by the clock of the source
 * @param attempt the number of this call with the record, from 1: one more than failed
 * calls, also those before it was put into the retry queue. Not counted are calls that
 * were interrupted or gave way to another transaction, and after a change of the owner
 * those in place
 * @param <T> the type of the payload
 */
public record ShardRecord<T>(ShardId shard, Offset offset, @Nullable String key, T payload, Map<String, String> headers,
		Instant timestamp, int attempt) {

	public ShardRecord {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(offset, "offset must not be null");
		Objects.requireNonNull(payload, "payload must not be null");
		Objects.requireNonNull(headers, "headers must not be null");
		Objects.requireNonNull(timestamp, "timestamp must not be null");
	}

	/**
	 * Creates a record for its first attempt.
	 * @param shard the shard that it was read from
	 * @param offset the position in the shard
	 * @param key the key, {@code null} for none
	 * @param payload the converted payload
	 * @param headers the headers by name, which must not be changed; empty for none
	 * @param timestamp the time of appending by the clock of the source
	 */
	public ShardRecord(ShardId shard, Offset offset, @Nullable String key, T payload, Map<String, String> headers,
			Instant timestamp) {
		this(shard, offset, key, payload, headers, timestamp, 1);
	}

	/**
	 * Creates a record without headers for its first attempt.
	 * @param shard the shard that it was read from
	 * @param offset the position in the shard
	 * @param key the key, {@code null} for none
	 * @param payload the converted payload
	 * @param timestamp the time of appending by the clock of the source
	 */
	public ShardRecord(ShardId shard, Offset offset, @Nullable String key, T payload, Instant timestamp) {
		this(shard, offset, key, payload, Map.of(), timestamp, 1);
	}

}
