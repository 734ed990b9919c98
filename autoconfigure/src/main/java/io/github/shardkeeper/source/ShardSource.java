package io.github.shardkeeper.source;

import java.util.Map;

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

	@Override
	void close();

	/** A watch that is kept; see {@link ShardSource#watch}. */
	interface Watch extends AutoCloseable {

		@Override
		void close();

	}

}
