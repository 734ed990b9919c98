package io.github.shardkeeper.state;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Entries of an owned shard's state, committed or not: what is stored, or a
 * {@link Counter} if calls do not run at the same time, by key. All are in memory, or
 * they are read when they are used. Calls read on their threads; only the shard's worker
 * writes. What has expired is here until it is removed.
 */
sealed interface StateEntries permits StateInMemory, StateOnUse {

	/** An entry that was not read: unlike every entry. No JSON. */
	String UNREAD = "?";

	/**
	 * Returns an entry for a call, {@code null} for none.
	 * @param opened the {@link #writes} when the call began
	 * @throws io.github.shardkeeper.StoreUnavailableException if it cannot be read now
	 */
	@Nullable Object read(String key, long opened);

	/** Returns an entry as far as it is in memory, otherwise {@link #UNREAD}. */
	@Nullable Object known(String key);

	/**
	 * Reads entries that are not in memory, all at once; for a call like {@link #read}.
	 */
	void prefetch(Collection<String> keys, long opened);

	/**
	 * Keeps an entry in memory for a call, until it is {@linkplain #release released}.
	 */
	void hold(String key);

	void release(Collection<String> keys);

	/** Sets an entry, {@code null} for none; returns what was {@link #known} of it. */
	@Nullable Object put(String key, @Nullable Object entry);

	/** Processes that a counter was changed, and when it expired before. */
	void changed(Counter counter, long expiredBefore);

	/** Removes all entries; they are removed from the store by the next commit. */
	void clear();

	/**
	 * Returns the keys with a prefix of entries that have not expired at a time, for a
	 * call.
	 */
	Set<String> keys(String prefix, long nowMillis);

	/** Returns whether these are certainly still the {@link #keys}. */
	boolean hasKeys(String prefix, Set<String> keys, long nowMillis);

	/** Returns when the next entry in memory has expired. */
	long nextExpiry();

	/**
	 * Reads expired entries from the next part of the store, so that they are in memory;
	 * returns whether more parts follow.
	 * @throws io.github.shardkeeper.StoreUnavailableException if it cannot be read now
	 */
	boolean readExpired(long nowMillis);

	/** Returns keys of entries in memory that have expired. */
	List<String> expired(long nowMillis, Predicate<String> wanted, int max);

	/** Returns the number of the last write. */
	long writes();

	/** Processes that the store has all writes up to one. */
	void committed(long write);

	/** Returns whether all entries are in memory. */
	boolean isInMemory();

	/** Returns whether the store has lost the state. */
	boolean isLost();

	/** Returns the number of entries in memory. */
	int size();

	/** Returns a copy of all entries, which must be in memory. */
	Map<String, String> all();

	/** Forgets everything, because the shard has another owner. */
	void close();

}
