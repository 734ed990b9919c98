package io.github.shardkeeper.source;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Appends records to shards, for sources that can be written to. Thread-safe.
 */
public interface ShardAppender {

	/**
	 * Sends records, pipelined, and does not wait for the answers; at most for a
	 * connection, where there is none. Of one shard they are appended in the list's
	 * order, after whatever earlier calls have sent.
	 * @param records the records
	 * @return their offsets, in the same order; or
	 * {@link io.github.shardkeeper.SendFailedException}. Come on a thread that must not
	 * be held up, each within the time limit for answers
	 * @throws IllegalArgumentException when the source cannot keep one of them as it is;
	 * none is sent then, and a retry does not help
	 * @throws io.github.shardkeeper.SendFailedException when none of them could be sent
	 */
	List<CompletableFuture<Offset>> append(List<NewRecord> records);

	/**
	 * Says whether the source can keep a record as it is.
	 * @param newRecord the record
	 * @throws IllegalArgumentException when it cannot
	 */
	default void check(NewRecord newRecord) {
	}

	/**
	 * Is called before a shard is chosen: a source whose topics get more shards looks
	 * whether they have, if what it knows is old.
	 * @param topic the topic
	 * @param mayWait whether the caller can wait for an answer
	 * @throws io.github.shardkeeper.SendFailedException when nothing is known, and cannot
	 * be asked for
	 */
	default void refresh(String topic, boolean mayWait) {
	}

	/**
	 * A record to append. Immutable by convention: nothing is copied.
	 *
	 * @param shard where to
	 * @param key its key, or {@code null}
	 * @param payload its payload's bytes
	 * @param headers its headers by name
	 */
	record NewRecord(ShardId shard, @Nullable String key, byte[] payload, Map<String, String> headers) {

		public NewRecord {
			Objects.requireNonNull(shard, "shard must not be null");
			Objects.requireNonNull(payload, "payload must not be null");
			Objects.requireNonNull(headers, "headers must not be null");
		}

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
