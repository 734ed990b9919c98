package io.github.shardkeeper.checkpoint;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * A record that a handler has failed on, as the retry queue and the dead letters store
 * it, with the failure. Immutable by convention: the payload's bytes are not copied and
 * must not be changed.
 *
 * @param offset its offset in the shard
 * @param key its key, {@code null} for none
 * @param payload its payload
 * @param headers its headers
 * @param timestamp the time at which it was appended, by the clock of its source
 * @param attempts number of handler calls with it; 0 after it was sent back
 * @param rounds number of times it was put into the retry queue; 0 after it was sent back
 * @param exception the last failure, class and message; at most 1,000 characters
 * @param stackTrace the failure's stack trace; at most 8,000 characters
 * @param failedAt the time of the last failure; of a record that waits for earlier ones
 * of its key, since when it waits
 * @param place its place in the order of its key, as of the time at which it was put
 * aside; 0 if failing records do not wait by key
 */
public record FailedRecord(Offset offset, @Nullable String key, byte[] payload, Map<String, String> headers,
		Instant timestamp, int attempts, int rounds, String exception, String stackTrace, Instant failedAt,
		long place) {

	private static final int LONGEST_EXCEPTION = 1_000;

	private static final int LONGEST_STACK_TRACE = 8_000;

	public FailedRecord {
		headers = Map.copyOf(headers);
		exception = shortened(exception, LONGEST_EXCEPTION);
		stackTrace = shortened(stackTrace, LONGEST_STACK_TRACE);
		if (attempts < 0) {
			throw new IllegalArgumentException("A record cannot have had " + attempts + " attempts");
		}
	}

	/** Creates a record without a place. */
	public FailedRecord(Offset offset, @Nullable String key, byte[] payload, Map<String, String> headers,
			Instant timestamp, int attempts, int rounds, String exception, String stackTrace, Instant failedAt) {
		this(offset, key, payload, headers, timestamp, attempts, rounds, exception, stackTrace, failedAt, 0);
	}

	/** Returns the approximate size in bytes, with one byte per character. */
	public long size() {
		long size = this.payload.length + ((this.key != null) ? this.key.length() : 0) + this.exception.length()
				+ this.stackTrace.length();
		for (Map.Entry<String, String> header : this.headers.entrySet()) {
			size += header.getKey().length() + header.getValue().length();
		}
		return size;
	}

	/** Returns a record with the exception as its last failure. */
	public static FailedRecord of(Offset offset, @Nullable String key, byte[] payload, Map<String, String> headers,
			Instant timestamp, int attempts, int rounds, Throwable failure, Instant failedAt) {
		StringWriter stackTrace = new StringWriter();
		failure.printStackTrace(new PrintWriter(stackTrace));
		String exception = failure.getClass().getName()
				+ ((failure.getMessage() != null) ? ": " + failure.getMessage() : "");
		return new FailedRecord(offset, key, payload, headers, timestamp, attempts, rounds, exception,
				stackTrace.toString(), failedAt);
	}

	/** Returns a copy at another place. */
	public FailedRecord at(long other) {
		return new FailedRecord(this.offset, this.key, this.payload, this.headers, this.timestamp, this.attempts,
				this.rounds, this.exception, this.stackTrace, this.failedAt, other);
	}

	/** Returns a copy with 0 attempts and rounds, and with the last failure. */
	public FailedRecord withoutAttempts() {
		return new FailedRecord(this.offset, this.key, this.payload, this.headers, this.timestamp, 0, 0, this.exception,
				this.stackTrace, this.failedAt, this.place);
	}

	private static String shortened(String text, int length) {
		return (text.length() <= length) ? text : text.substring(0, length - 1) + "…";
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof FailedRecord that && this.offset.equals(that.offset)
				&& Objects.equals(this.key, that.key) && Arrays.equals(this.payload, that.payload)
				&& this.headers.equals(that.headers) && this.timestamp.equals(that.timestamp)
				&& this.attempts == that.attempts && this.rounds == that.rounds && this.exception.equals(that.exception)
				&& this.stackTrace.equals(that.stackTrace) && this.failedAt.equals(that.failedAt)
				&& this.place == that.place;
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.offset, this.attempts, this.failedAt);
	}

}
