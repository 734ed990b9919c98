package io.github.shardkeeper.source;

import java.util.Collection;
import java.util.Map;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;

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

	/**
	 * Finds a position in shards. For an offset nothing is asked of anybody.
	 * @param position the position
	 * @param shards the shards
	 * @return for each shard the offset after which to read in order to begin there: that
	 * of a record that is not wanted any more, or one that no record has
	 * @throws IllegalArgumentException when the position is an offset and cannot be one
	 * of this source; the message says what they look like
	 * @throws io.github.shardkeeper.StoreUnavailableException when the source has to be
	 * asked and does not answer; a retry makes sense
	 */
	Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards);

	@Override
	void close();

}
