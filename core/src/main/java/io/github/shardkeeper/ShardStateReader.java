package io.github.shardkeeper;

import java.util.Map;

import io.github.shardkeeper.shard.ShardId;

/**
 * Reads the committed state of any shard, owned by whomever: for pages, reports and
 * queries. Thread-safe.
 * <p>
 * It shows what was committed last, so it lags behind the owner's own view, and it gives
 * no right to write anything.
 */
public interface ShardStateReader {

	/**
	 * Reads the whole committed state of a shard.
	 * @param shard the shard
	 * @param type the type to read every value as
	 * @param <T> the values' type
	 * @return the values by key; empty for a shard without state
	 * @throws IllegalArgumentException when a value cannot be read as that type, or when
	 * the topic has no such shard and nothing is kept of it
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when the
	 * topic is not configured, and nothing is kept of the shard
	 * @throws RuntimeException of the store when it cannot be reached; a later retry
	 * makes sense
	 */
	<T> Map<String, T> read(ShardId shard, Class<T> type);

}
