package io.github.shardkeeper.source;

import java.util.Map;

/**
 * Where topics' shards and records come from. Thread-safe.
 */
public interface ShardSource extends AutoCloseable {

	/**
	 * The topics that it serves.
	 * @return their names with their shard counts
	 */
	Map<String, Integer> topics();

	/**
	 * Opens a reader; the caller drives it and closes it.
	 * @return a reader without shards
	 */
	ShardReader openReader();

	@Override
	void close();

}
