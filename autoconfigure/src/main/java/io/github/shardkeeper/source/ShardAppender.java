package io.github.shardkeeper.source;

import java.util.List;

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
	 * @throws RuntimeException of the source when it cannot be reached; some of the
	 * records may have been appended
	 */
	List<Offset> append(List<NewRecord> records);

	/**
	 * A record to append.
	 *
	 * @param shard where to
	 * @param key its key
	 * @param payload its payload's bytes
	 */
	record NewRecord(ShardId shard, String key, byte[] payload) {

	}

}
