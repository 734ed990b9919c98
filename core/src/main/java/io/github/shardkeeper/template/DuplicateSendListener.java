package io.github.shardkeeper.template;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.shard.ShardId;

/**
 * Hears of records that a template has sent and that their shard had before. Thread-safe.
 */
@Internal
@FunctionalInterface
public interface DuplicateSendListener {

	/** Ignores them. */
	DuplicateSendListener NONE = (shard, records) -> {
	};

	/**
	 * Called when records were not appended again. Must not block.
	 * @param shard the shard
	 * @param records the number of records, at least 1
	 */
	void dropped(ShardId shard, int records);

}
