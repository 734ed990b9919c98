package io.github.shardkeeper.report;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Snapshot of the records of one key that wait in a shard's retry queue. Immutable.
 *
 * @param id the position of its first record in the shard
 * @param records the number of its records
 * @param size the approximate size of its records in bytes
 * @param attempts the number of calls with its first record
 * @param dueIn the time until its first record is due, zero if it is
 * @param since the time of the last failure of its first record
 * @param error class and message of that failure; only the class if values are hidden,
 * empty for none
 * @param key the key; {@code null} for none, and if values are hidden
 */
public record WaitingKeyReport(String id, int records, long size, int attempts, Duration dueIn, Instant since,
		String error, @Nullable String key) {

	/**
	 * Page of keys that wait. Immutable.
	 *
	 * @param keys the keys, in the order in which they began to wait
	 * @param numberOfKeys the number of all keys of the shard that wait
	 * @param numberOfRecords the number of all records in the retry queue of the shard
	 * @param next {@code after} for the next page; {@code null} on the last one
	 * @param valuesShown whether keys and texts of exceptions are shown
	 */
	public record Page(List<WaitingKeyReport> keys, int numberOfKeys, long numberOfRecords, @Nullable String next,
			boolean valuesShown) {

		public Page {
			keys = List.copyOf(keys);
		}

	}

}
