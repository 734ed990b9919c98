package io.github.shardkeeper;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import io.github.shardkeeper.shard.ShardId;

/**
 * Reads the committed state of any shard, whichever instance owns it: for web pages,
 * reports and queries. Thread-safe.
 * <p>
 * Shows the last commit, which is behind the owner's memory, without values that have
 * expired by the clock of this instance. What is <em>not</em> guaranteed: that it is
 * still current afterwards, so do not derive a write from it.
 */
public interface ShardStateReader {

	/**
	 * Reads the whole committed state of a shard. Blocks until the store has answered.
	 * @param shard the shard
	 * @param type the type to convert every value to
	 * @param <T> the type of the values
	 * @return the values by key; empty for a shard without state
	 * @throws IllegalArgumentException if a value cannot be converted, or if the topic
	 * has no such shard and no data of it is stored
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if the topic
	 * is not configured and no data of the shard is stored
	 * @throws StoreUnavailableException if the store does not reply; a retry makes sense
	 */
	<T> Map<String, T> read(ShardId shard, Class<T> type);

	/**
	 * Reads the committed values of some keys of a shard, without reading the others.
	 * Blocks until the store has answered.
	 * @param shard the shard
	 * @param keys the keys
	 * @param type the type to convert these values to
	 * @param <T> the type of the values
	 * @return the values by key, without keys that have no value
	 * @throws IllegalArgumentException as {@link #read(ShardId, Class)} does
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException as
	 * {@link #read(ShardId, Class)} does
	 * @throws StoreUnavailableException if the store does not reply; a retry makes sense
	 */
	<T> Map<String, T> read(ShardId shard, Collection<String> keys, Class<T> type);

	/**
	 * Reads the committed value of one key of a shard, like
	 * {@link #read(ShardId, Collection, Class)}, with its exceptions.
	 * @param shard the shard
	 * @param key the key
	 * @param type the type to convert the value to
	 * @param <T> the type of the value
	 * @return the value, empty if there is none
	 */
	default <T> Optional<T> find(ShardId shard, String key, Class<T> type) {
		Objects.requireNonNull(key, "key must not be null");
		return Optional.ofNullable(read(shard, List.of(key), type).get(key));
	}

}
