package io.github.shardkeeper.source;

import java.time.Instant;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * A record as its source has it. Immutable by convention: neither the payload's bytes nor
 * the headers are copied, and they must not be changed.
 *
 * @param offset its position in the shard
 * @param key the key it was sent with, or {@code null}
 * @param payload the payload's bytes
 * @param headers its headers by name; {@code Map.of()} where there are none
 * @param timestampMillis when it was appended, by the clock of the source, in
 * milliseconds since 1970: a number, because few records are ever asked for it
 */
public record SourceRecord(Offset offset, @Nullable String key, byte[] payload, Map<String, String> headers,
		long timestampMillis) {

	public SourceRecord {
		Objects.requireNonNull(offset, "offset must not be null");
		Objects.requireNonNull(payload, "payload must not be null");
		Objects.requireNonNull(headers, "headers must not be null");
	}

	/**
	 * Creates a record without headers.
	 * @param offset its position in the shard
	 * @param key the key it was sent with, or {@code null}
	 * @param payload the payload's bytes
	 * @param timestamp when it was appended, by the clock of the source
	 */
	public SourceRecord(Offset offset, @Nullable String key, byte[] payload, Instant timestamp) {
		this(offset, key, payload, Map.of(),
				Objects.requireNonNull(timestamp, "timestamp must not be null").toEpochMilli());
	}

	/**
	 * Tells how much it takes: payload, key and headers, as if every character were one
	 * byte.
	 * @return the size in bytes, about
	 */
	public long size() {
		long size = this.payload.length + ((this.key != null) ? this.key.length() : 0);
		if (!this.headers.isEmpty()) {
			for (Map.Entry<String, String> header : this.headers.entrySet()) {
				size += header.getKey().length() + header.getValue().length();
			}
		}
		return size;
	}

	/**
	 * Tells when it was appended, by the clock of the source.
	 * @return the time, in whole milliseconds
	 */
	public Instant timestamp() {
		return Instant.ofEpochMilli(this.timestampMillis);
	}

}
