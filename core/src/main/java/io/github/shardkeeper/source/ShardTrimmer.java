package io.github.shardkeeper.source;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Takes old records from shards, for sources that keep them until somebody does.
 * Thread-safe.
 */
public interface ShardTrimmer {

	/**
	 * Takes records from the beginning of a shard. Some more than the rule says may stay.
	 * @param shard the shard
	 * @param handled what must stay: everything after the lowest of these offsets;
	 * {@code null} where nothing must
	 * @param rule what may go
	 * @return how many have gone, or a
	 * {@link io.github.shardkeeper.StoreUnavailableException}; repeating it makes sense
	 */
	CompletableFuture<Long> trim(ShardId shard, @Nullable Collection<Offset> handled, TrimRule rule);

}
