package io.github.shardkeeper.source;

import java.time.Instant;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * Record as read from a source. Immutable by convention: payload and headers are not
 * copied and must not be changed.
 *
 * @param offset the position in the shard, as handlers and people see it
 * @param key the key, {@code null} for none
 * @param payload the bytes of the payload
 * @param headers the headers by name
 * @param timestampMillis the time of appending by the clock of the source, in
 * milliseconds since 1970; a number, because few handlers ask for it
 * @param identity what identifies the record in its shard, the same in every read: the
 * offset, unless the source writes more into its offsets than that, such as where to
 * resume. Checkpoints name records that were handled before earlier ones by it, and the
 * next owner skips these records
 * @param position what a checkpoint keeps once this record is done, and
 * {@link ShardReader#start} gets: the offset, unless the source adds what the offset is
 * one of, such as the id of a log that may be replaced by another one of its name. Must
 * be valid wherever an offset is
 */
public record SourceRecord(Offset offset, @Nullable String key, byte[] payload, Map<String, String> headers,
		long timestampMillis, Offset identity, Offset position) {

	public SourceRecord {
		Objects.requireNonNull(offset, "offset must not be null");
		Objects.requireNonNull(payload, "payload must not be null");
		Objects.requireNonNull(headers, "headers must not be null");
		Objects.requireNonNull(identity, "identity must not be null");
		Objects.requireNonNull(position, "position must not be null");
	}

	/**
	 * Creates a record whose offset is kept in checkpoints as it is.
	 * @param offset the position in the shard
	 * @param key the key, {@code null} for none
	 * @param payload the bytes of the payload
	 * @param headers the headers by name
	 * @param timestampMillis the time of appending by the clock of the source, in
	 * milliseconds since 1970
	 * @param identity what identifies the record in its shard
	 */
	public SourceRecord(Offset offset, @Nullable String key, byte[] payload, Map<String, String> headers,
			long timestampMillis, Offset identity) {
		this(offset, key, payload, headers, timestampMillis, identity, offset);
	}

	/**
	 * Creates a record whose offset is the same in every read.
	 * @param offset the position in the shard
	 * @param key the key, {@code null} for none
	 * @param payload the bytes of the payload
	 * @param headers the headers by name
	 * @param timestampMillis the time of appending by the clock of the source, in
	 * milliseconds since 1970
	 */
	public SourceRecord(Offset offset, @Nullable String key, byte[] payload, Map<String, String> headers,
			long timestampMillis) {
		this(offset, key, payload, headers, timestampMillis, offset);
	}

	/**
	 * Creates a record without headers, whose offset is the same in every read.
	 * @param offset the position in the shard
	 * @param key the key, {@code null} for none
	 * @param payload the bytes of the payload
	 * @param timestamp the time of appending by the clock of the source
	 */
	public SourceRecord(Offset offset, @Nullable String key, byte[] payload, Instant timestamp) {
		this(offset, key, payload, Map.of(),
				Objects.requireNonNull(timestamp, "timestamp must not be null").toEpochMilli());
	}

	/**
	 * Returns the approximate size of payload, key and headers: one byte per character.
	 * @return the size in bytes
	 */
	public long size() {
		return RecordFields.size(this.key, this.payload, this.headers);
	}

	/**
	 * Returns the time of appending by the clock of the source.
	 * @return the time, in whole milliseconds
	 */
	public Instant timestamp() {
		return Instant.ofEpochMilli(this.timestampMillis);
	}

}
