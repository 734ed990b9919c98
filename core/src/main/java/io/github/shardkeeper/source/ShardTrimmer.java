package io.github.shardkeeper.source;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Removes old records from shards. Optional: for sources that keep records until they are
 * removed. Thread-safe.
 */
public interface ShardTrimmer {

	/**
	 * Removes records from the beginning of a shard. Does not wait for the reply. May
	 * keep more records than the rule requires, never fewer.
	 * @param shard the shard
	 * @param handled the offsets up to which groups have handled the shard, no record
	 * after the lowest may be removed; {@code null} if they do not matter
	 * @param rule the records to keep
	 * @return the number of records removed, or a failure with a
	 * {@link io.github.shardkeeper.StoreUnavailableException}; a retry makes sense
	 */
	CompletableFuture<Long> trim(ShardId shard, @Nullable Collection<Offset> handled, TrimRule rule);

}
