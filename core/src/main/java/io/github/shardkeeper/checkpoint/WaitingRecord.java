package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * A record that waits in a shard's retry queue, without its payload. Immutable.
 *
 * @param offset its offset in the shard
 * @param key its key, {@code null} for none
 * @param place its place among the records of its key, 0 if it has none: see
 * {@link FailedRecord#place()}
 * @param dueIn time until it is due, zero if it is
 * @param attempts number of handler calls with it; 0 if it waits for earlier records of
 * its key, or was sent back
 * @param exception its last failure, class and message; empty if it has not failed
 * @param since the time of its last failure, or since when it waits
 * @param size approximate size in bytes
 */
public record WaitingRecord(Offset offset, @Nullable String key, long place, Duration dueIn, int attempts,
		String exception, Instant since, long size) {

	/** Returns what is known of a record in the retry queue. */
	public static WaitingRecord of(FailedRecord record, Duration dueIn) {
		return new WaitingRecord(record.offset(), record.key(), record.place(), dueIn, record.attempts(),
				record.exception(), record.failedAt(), record.size());
	}

	/** Changes of people to records that wait. */
	public enum Change {

		/** Due now. */
		RETRY_NOW,

		/** Due now, as records that were never tried. */
		SEND_BACK,

		/** Removed. */
		DROP

	}

}
