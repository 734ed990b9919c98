package io.github.shardkeeper.state;

import java.util.Collection;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore.ExpiredKeys;

/**
 * Store of an owned shard's state, whose entries are read when they are used.
 * Thread-safe. Each method may throw a
 * {@link io.github.shardkeeper.StoreUnavailableException}.
 */
public interface StateSource {

	/**
	 * Returns whether calls may read what was committed when they began, as in a
	 * transaction.
	 */
	boolean readsSnapshots();

	/**
	 * Reads what is stored under some keys.
	 * @return the entries that exist, by key; {@code null} if the store has lost the
	 * state that the owner's commits have made, or the shard has a newer owner
	 */
	@Nullable Map<String, String> entries(Collection<String> keys);

	/**
	 * Reads the keys with a prefix of entries that have not expired. Of those that change
	 * meanwhile it may find any.
	 * @param nowMillis the time, in milliseconds since 1970
	 * @return the keys; {@code null} like {@link #entries}
	 */
	@Nullable Set<String> keys(String prefix, long nowMillis);

	/**
	 * Searches a part of the state for values that have expired.
	 * @param after where the last part has ended, {@code null} to begin
	 * @return the keys; {@code null} like {@link #entries}
	 */
	@Nullable ExpiredKeys expired(@Nullable String after, long nowMillis);

}
