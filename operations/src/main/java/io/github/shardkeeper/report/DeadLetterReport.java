package io.github.shardkeeper.report;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Snapshot of a dead letter. Immutable.
 *
 * @param id the id of the dead letter
 * @param offset the position of the record in its shard
 * @param attempts the number of calls of the handler; 0 if the conversion failed
 * @param failedAt the time of the last failure
 * @param timestamp the time at which the record was appended
 * @param error class and message of the last failure; only the class if values are hidden
 * @param payloadSize the size of the payload in bytes
 * @param key the key; {@code null} for none, and if values are hidden
 * @param payload the beginning of the payload as text; {@code null} if values are hidden
 * @param stackTrace the stack trace of the last failure; {@code null} if values are
 * hidden
 */
public record DeadLetterReport(String id, String offset, int attempts, Instant failedAt, Instant timestamp,
		String error, int payloadSize, @Nullable String key, @Nullable String payload, @Nullable String stackTrace) {

	/**
	 * Page of dead letters. Immutable.
	 *
	 * @param deadLetters the dead letters, oldest first
	 * @param next {@code after} for the next page; {@code null} on the last one
	 * @param valuesShown whether keys, payloads and texts of exceptions are shown
	 */
	public record Page(List<DeadLetterReport> deadLetters, @Nullable String next, boolean valuesShown) {

		public Page {
			deadLetters = List.copyOf(deadLetters);
		}

	}

}
