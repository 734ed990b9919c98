package io.github.shardkeeper.state;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.ExpiredKeys;
import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.state.StateCache.Entry;

/**
 * Entries of a state that are read from the store when a call uses them, and kept in a
 * {@link StateCache}. What is written stays in memory until the store has acknowledged
 * it, so what is read from the store is never older.
 */
final class StateOnUse implements StateEntries {

	private final StateCache cache;

	private final StateSource source;

	/** Whether calls read what was committed when they began. */
	private final boolean readsSnapshots;

	/** Guarded by the cache, as is all below. */
	private final Map<String, Entry> entries = new HashMap<>();

	private long writes;

	/** Number of the last write that the store has, with all before it. */
	private long committed;

	/** Number of the write that has removed all entries, 0 for none. */
	private long cleared;

	/** Number of the latest write of an entry that is not in memory any more. */
	private long evicted;

	/** Of entries in memory. */
	private final ExpiryIndex expiries = new ExpiryIndex();

	/** How far the store was searched for expired entries; {@code null} to begin. */
	private @Nullable String searched;

	private volatile boolean lost;

	private boolean closed;

	StateOnUse(StateCache cache, StateSource source) {
		this.cache = cache;
		this.source = source;
		this.readsSnapshots = source.readsSnapshots();
	}

	@Override
	public @Nullable Object read(String key, long opened) {
		synchronized (this.cache) {
			Entry entry = this.entries.get(key);
			if (entry != null && entry.isKnown()) {
				this.cache.used(entry);
				return entry.value();
			}
			if (isCleared()) {
				return null;
			}
		}
		Map<String, String> found = require(this.source.entries(List.of(key)));
		synchronized (this.cache) {
			return loaded(key, found.get(key), opened);
		}
	}

	/**
	 * Keeps what was read, unless a write was faster. In a transaction of a call, it may
	 * be older than a write that was committed and forgotten since the call began: then
	 * it stays unread, and the call counts as outdated. Otherwise it is as it was during
	 * the read, and an entry that calls hold was not forgotten since.
	 */
	private @Nullable Object loaded(String key, @Nullable String stored, long opened) {
		Entry entry = entry(key);
		if (!entry.isKnown()) {
			if (this.closed || this.readsSnapshots && this.evicted > opened) {
				return stored;
			}
			set(entry, stored);
			return stored;
		}
		return entry.value();
	}

	private void set(Entry entry, @Nullable Object value) {
		forget(entry);
		this.cache.set(entry, value);
		this.expiries.changed(entry.key(), ExpiringValues.NEVER, JournaledState.expiresAt(value));
		this.cache.makeRoom();
	}

	private void forget(Entry entry) {
		this.expiries.changed(entry.key(), JournaledState.expiresAt(entry.value()), ExpiringValues.NEVER);
		this.cache.forget(entry);
	}

	private Entry entry(String key) {
		return this.entries.computeIfAbsent(key, (unknown) -> new Entry(this, unknown));
	}

	/** Returns whether the store has entries that were removed. */
	private boolean isCleared() {
		return this.cleared > this.committed;
	}

	private <T> T require(@Nullable T found) {
		if (found == null) {
			this.lost = true;
			throw new StoreUnavailableException(
					"The store does not have the state any more that the commits of this owner have made: the shard has a newer owner, or the store has lost writes",
					null);
		}
		return found;
	}

	@Override
	public @Nullable Object known(String key) {
		synchronized (this.cache) {
			Entry entry = this.entries.get(key);
			if (entry != null && entry.isKnown()) {
				return entry.value();
			}
			return isCleared() ? null : UNREAD;
		}
	}

	@Override
	public void prefetch(Collection<String> keys, long opened) {
		List<String> unread = new ArrayList<>();
		synchronized (this.cache) {
			if (isCleared()) {
				return;
			}
			for (String key : keys) {
				Entry entry = this.entries.get(key);
				if (entry == null || !entry.isKnown()) {
					unread.add(key);
				}
			}
		}
		if (unread.isEmpty()) {
			return;
		}
		Map<String, String> found = require(this.source.entries(unread));
		synchronized (this.cache) {
			unread.forEach((key) -> loaded(key, found.get(key), opened));
		}
	}

	@Override
	public void hold(String key) {
		synchronized (this.cache) {
			entry(key).calls++;
		}
	}

	@Override
	public void release(Collection<String> keys) {
		synchronized (this.cache) {
			for (String key : keys) {
				Entry entry = entry(key);
				entry.calls--;
				if (entry.calls == 0 && !entry.isKnown()) {
					this.entries.remove(key);
				}
			}
			this.cache.makeRoom();
		}
	}

	@Override
	public @Nullable Object put(String key, @Nullable Object value) {
		synchronized (this.cache) {
			Entry entry = entry(key);
			Object before = entry.isKnown() ? entry.value() : isCleared() ? null : UNREAD;
			entry.written = ++this.writes;
			set(entry, value);
			return before;
		}
	}

	@Override
	public void changed(Counter counter, long expiredBefore) {
		synchronized (this.cache) {
			this.expiries.changed(counter.key(), expiredBefore, counter.expiresAt);
			entry(counter.key()).written = ++this.writes;
		}
	}

	/** Forgets an entry, unless it has to stay; returns whether it did. */
	boolean evict(Entry entry) {
		if (entry.calls > 0 || entry.written > this.committed) {
			return false;
		}
		this.evicted = Math.max(this.evicted, entry.written);
		forget(entry);
		this.entries.remove(entry.key());
		return true;
	}

	@Override
	public void clear() {
		synchronized (this.cache) {
			this.entries.values().forEach(this::forget);
			this.entries.clear();
			this.cleared = ++this.writes;
		}
	}

	@Override
	public Set<String> keys(String prefix, long nowMillis) {
		Map<String, Boolean> known = new HashMap<>();
		boolean empty;
		synchronized (this.cache) {
			empty = isCleared();
			this.entries.forEach((key, entry) -> {
				if (entry.isKnown() && key.startsWith(prefix)) {
					known.put(key, entry.value() != null && nowMillis < JournaledState.expiresAt(entry.value()));
				}
			});
		}
		// Read after that: an entry that was not in memory is in the store, and stays
		// as it is there while this call runs alone.
		Set<String> keys = empty ? new HashSet<>() : new HashSet<>(require(this.source.keys(prefix, nowMillis)));
		known.forEach((key, exists) -> {
			if (exists) {
				keys.add(key);
			}
			else {
				keys.remove(key);
			}
		});
		return keys;
	}

	/** What is in the store is not known. */
	@Override
	public boolean hasKeys(String prefix, Set<String> keys, long nowMillis) {
		return false;
	}

	@Override
	public long nextExpiry() {
		synchronized (this.cache) {
			return this.expiries.next();
		}
	}

	/** Only by the shard's worker. */
	@Override
	public boolean readExpired(long nowMillis) {
		ExpiredKeys found = require(this.source.expired(this.searched, nowMillis));
		this.searched = found.next();
		found.keys().forEach(this::hold);
		try {
			prefetch(found.keys(), writes());
		}
		finally {
			release(found.keys());
		}
		return found.next() != null;
	}

	@Override
	public List<String> expired(long nowMillis, Predicate<String> wanted, int max) {
		synchronized (this.cache) {
			return this.expiries.expired(nowMillis, wanted, max);
		}
	}

	@Override
	public long writes() {
		synchronized (this.cache) {
			return this.writes;
		}
	}

	@Override
	public void committed(long write) {
		synchronized (this.cache) {
			this.committed = Math.max(this.committed, write);
			this.cache.makeRoom();
		}
	}

	@Override
	public boolean isInMemory() {
		return false;
	}

	@Override
	public boolean isLost() {
		return this.lost;
	}

	@Override
	public int size() {
		synchronized (this.cache) {
			return this.entries.size();
		}
	}

	@Override
	public Map<String, String> all() {
		throw new IllegalStateException("Not all entries are in memory");
	}

	@Override
	public void close() {
		List<Entry> left;
		synchronized (this.cache) {
			this.closed = true;
			left = List.copyOf(this.entries.values());
			this.entries.clear();
		}
		// One by one: other shards do not wait for a large state.
		for (Entry entry : left) {
			synchronized (this.cache) {
				this.cache.forget(entry);
			}
		}
	}

}
