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
 * A record that was given up: what it is, and why. Immutable by convention: the payload's
 * bytes are not copied and must not be changed.
 *
 * @param id what {@link DeadLetters} knows it by, {@code topic/shard/number-number};
 * rises within the shard in the order in which letters were stored
 * @param group the group whose handler gave it up
 * @param shard the shard it was read from
 * @param offset its position there
 * @param key the key it was sent with, {@code null} for none
 * @param payload its payload as it was read
 * @param headers its headers by name; empty where there are none
 * @param timestamp when it was appended, by the clock of the source
 * @param attempts how often a handler was called with it; 0 when its payload could not be
 * converted
 * @param exception the last failure, class and message; shortened to 1,000 characters
 * @param stackTrace its stack trace; shortened to 8,000 characters
 * @param failedAt when it failed last, by the clock of the instance
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
	 * The payload, read as UTF-8; what is none shows as replacement characters.
	 * @return the text
	 */
	public String text() {
		return new String(this.payload, StandardCharsets.UTF_8);
	}

	/** Two letters are equal if they have the same id and the same content. */
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

	/** Without payload and stack trace, which may be long and nobody else's business. */
	@Override
	public String toString() {
		return "DeadLetter[%s, offset %s, key %s, %d attempts, failed at %s: %s]".formatted(this.id, this.offset,
				this.key, this.attempts, this.failedAt, this.exception);
	}

}
