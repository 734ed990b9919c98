package io.github.shardkeeper;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Record that could not be handled, with its last failure. Immutable by convention: the
 * payload is not copied and must not be changed.
 *
 * @param id the id, {@code topic/shard/number-number}; ids of a shard rise in the order
 * in which its dead letters were stored
 * @param group the group whose handler failed
 * @param shard the shard of the record
 * @param offset the position in the shard
 * @param key the key, {@code null} for none
 * @param payload the payload as it was read
 * @param headers the headers by name
 * @param timestamp the time of appending by the clock of the source
 * @param attempts the number of calls of the handler; 0 if the conversion failed
 * @param exception the class and message of the last failure, at most 1,000 characters
 * @param stackTrace the stack trace of the last failure, at most 8,000 characters
 * @param failedAt the time of the last failure by the clock of the instance
 */
public record DeadLetter(String id, String group, ShardId shard, Offset offset, @Nullable String key, byte[] payload,
		Map<String, String> headers, Instant timestamp, int attempts, String exception, String stackTrace,
		Instant failedAt) {

	public DeadLetter {
		Objects.requireNonNull(id, "id must not be null");
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(offset, "offset must not be null");
		Objects.requireNonNull(payload, "payload must not be null");
		Objects.requireNonNull(headers, "headers must not be null");
		Objects.requireNonNull(timestamp, "timestamp must not be null");
		Objects.requireNonNull(exception, "exception must not be null");
		Objects.requireNonNull(stackTrace, "stackTrace must not be null");
		Objects.requireNonNull(failedAt, "failedAt must not be null");
	}

	/**
	 * Returns the payload as UTF-8 text.
	 * @return the text, with replacement characters for invalid bytes
	 */
	public String text() {
		return new String(this.payload, StandardCharsets.UTF_8);
	}

	/** Returns whether id and content are equal. */
	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof DeadLetter that && this.id.equals(that.id) && this.group.equals(that.group)
				&& this.offset.equals(that.offset) && Objects.equals(this.key, that.key)
				&& Arrays.equals(this.payload, that.payload) && this.headers.equals(that.headers)
				&& this.timestamp.equals(that.timestamp) && this.attempts == that.attempts
				&& this.exception.equals(that.exception) && this.stackTrace.equals(that.stackTrace)
				&& this.failedAt.equals(that.failedAt);
	}

	@Override
	public int hashCode() {
		return this.id.hashCode();
	}

	/** Omits payload and stack trace, which may be long or confidential. */
	@Override
	public String toString() {
		return "DeadLetter[%s, offset %s, key %s, %d attempts, failed at %s: %s]".formatted(this.id, this.offset,
				this.key, this.attempts, this.failedAt, this.exception);
	}

}
