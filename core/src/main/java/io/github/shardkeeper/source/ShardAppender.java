package io.github.shardkeeper.source;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Appends records to shards. Optional: for sources that can be written to. Thread-safe.
 */
public interface ShardAppender {

	/**
	 * Sends records, pipelined, without waiting for the replies. May wait until a
	 * connection is open. Records of one shard are appended in the order of the list,
	 * after those of earlier calls.
	 * @param records the records
	 * @return by record, in order, its offset or a
	 * {@link io.github.shardkeeper.SendFailedException}. Each completes within the time
	 * limit for replies, on a thread that must not be blocked
	 * @throws IllegalArgumentException if a record cannot be stored; none is sent, and a
	 * retry does not help
	 * @throws io.github.shardkeeper.SendFailedException if no record could be sent; a
	 * retry makes sense
	 */
	List<CompletableFuture<Offset>> append(List<NewRecord> records);

	/**
	 * Checks whether the source can store a record.
	 * @param newRecord the record
	 * @throws IllegalArgumentException if it cannot; a retry does not help
	 */
	default void check(NewRecord newRecord) {
	}

	/**
	 * Updates the number of shards of a topic if it may be outdated. Called before a
	 * shard is chosen for a record.
	 * @param topic the topic
	 * @param mayWait whether the method may wait for a reply
	 * @throws io.github.shardkeeper.SendFailedException if the number is unknown and
	 * cannot be read; a retry makes sense
	 */
	default void refresh(String topic, boolean mayWait) {
	}

	/**
	 * Record to append. Immutable by convention: nothing is copied.
	 *
	 * @param shard the shard to append to
	 * @param key the key, {@code null} for none
	 * @param payload the bytes of the payload
	 * @param headers the headers by name
	 * @param id the id by which an {@link IdempotentAppender} recognizes a repeated
	 * record, {@code null} for none
	 */
	record NewRecord(ShardId shard, @Nullable String key, byte[] payload, Map<String, String> headers,
			@Nullable String id) {

		public NewRecord {
			Objects.requireNonNull(shard, "shard must not be null");
			Objects.requireNonNull(payload, "payload must not be null");
			Objects.requireNonNull(headers, "headers must not be null");
		}

		/**
		 * Creates a record without an id.
		 * @param shard the shard to append to
		 * @param key the key, {@code null} for none
		 * @param payload the bytes of the payload
		 * @param headers the headers by name
		 */
		public NewRecord(ShardId shard, @Nullable String key, byte[] payload, Map<String, String> headers) {
			this(shard, key, payload, headers, null);
		}

		/**
		 * Creates a record without headers.
		 * @param shard the shard to append to
		 * @param key the key, {@code null} for none
		 * @param payload the bytes of the payload
		 */
		public NewRecord(ShardId shard, @Nullable String key, byte[] payload) {
			this(shard, key, payload, Map.of(), null);
		}

		/**
		 * Returns the approximate size of payload, key and headers: one byte per
		 * character. Whoever reads the record finds the same size.
		 * @return the size in bytes
		 */
		public long size() {
			return RecordFields.size(this.key, this.payload, this.headers);
		}

	}

}
