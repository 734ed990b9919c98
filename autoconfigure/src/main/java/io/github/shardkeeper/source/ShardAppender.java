package io.github.shardkeeper.source;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Appends records to shards, for sources that can be written to. Thread-safe.
 */
public interface ShardAppender {

	/**
	 * Appends records, pipelined; those of one shard in the list's order.
	 * @param records the records
	 * @return their offsets, in the same order
	 * @throws IllegalArgumentException when the source cannot keep one of them as it is;
	 * none is appended then, and a retry does not help
	 * @throws RuntimeException of the source when it cannot be reached; some of the
	 * records may have been appended
	 */
	List<Offset> append(List<NewRecord> records);

	/**
	 * A record to append. Immutable by convention: nothing is copied.
	 *
	 * @param shard where to
	 * @param key its key, or {@code null}
	 * @param payload its payload's bytes
	 * @param headers its headers by name
	 */
	record NewRecord(ShardId shard, @Nullable String key, byte[] payload, Map<String, String> headers) {

		/**
		 * Creates a record without headers.
		 * @param shard where to
		 * @param key its key, or {@code null}
		 * @param payload its payload's bytes
		 */
		public NewRecord(ShardId shard, @Nullable String key, byte[] payload) {
			this(shard, key, payload, Map.of());
		}

	}

}
