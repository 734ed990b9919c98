package io.github.shardkeeper.source;

import java.util.Collection;
import java.util.Map;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Where topics' shards and records come from. Shards may be added while it is open, and
 * may come to their end; topics may not. Thread-safe.
 */
public interface ShardSource extends AutoCloseable {

	/**
	 * The topics that it serves, with their shards as it knows them now, closed ones that
	 * can still be read among them. Answers from memory, at once. A topic whose shards
	 * are not known yet is there with {@link TopicShards#NONE}.
	 * @return by name the shards of each topic
	 */
	Map<String, TopicShards> topics();

	/**
	 * Why the shards of some topics are not known, and will not be until somebody mends
	 * it. Answers from memory, at once.
	 * @return by topic what is wrong and what to do
	 */
	default Map<String, String> problems() {
		return Map.of();
	}

	/**
	 * Watches the shards of all topics. What has to be asked somewhere for that is asked
	 * only while somebody watches.
	 * @param onChange called soon after {@link #topics()} began to answer differently, on
	 * any thread; perhaps without need. Must not block
	 * @return ends the watch; a call that is under way then may still come
	 */
	Watch watch(Runnable onChange);

	/**
	 * Opens a reader; the caller drives it and closes it. It reads every shard that it is
	 * told to, also one that {@link #topics()} does not know: other instances may have
	 * learned of it before.
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

	/** A watch that is kept; see {@link ShardSource#watch}. */
	interface Watch extends AutoCloseable {

		@Override
		void close();

	}

}
