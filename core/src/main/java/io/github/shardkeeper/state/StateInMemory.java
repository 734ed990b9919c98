package io.github.shardkeeper.state;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.ExpiringValues;

/** All entries of a state in memory. */
final class StateInMemory implements StateEntries {

	private final Map<String, Object> entries;

	private final ExpiryIndex expiries = new ExpiryIndex();

	/**
	 * Creates it.
	 * @param shared whether calls run at the same time
	 */
	StateInMemory(Map<String, String> stored, boolean shared) {
		this.entries = shared ? new ConcurrentHashMap<>(stored) : new HashMap<>(stored);
		stored
			.forEach((key, entry) -> this.expiries.changed(key, ExpiringValues.NEVER, ExpiringValues.expiresAt(entry)));
	}

	@Override
	public @Nullable Object read(String key, long opened) {
		return this.entries.get(key);
	}

	@Override
	public @Nullable Object known(String key) {
		return this.entries.get(key);
	}

	@Override
	public void prefetch(Collection<String> keys, long opened) {
	}

	@Override
	public void hold(String key) {
	}

	@Override
	public void release(Collection<String> keys) {
	}

	@Override
	public @Nullable Object put(String key, @Nullable Object entry) {
		Object before = (entry != null) ? this.entries.put(key, entry) : this.entries.remove(key);
		this.expiries.changed(key, JournaledState.expiresAt(before), JournaledState.expiresAt(entry));
		return before;
	}

	@Override
	public void changed(Counter counter, long expiredBefore) {
		this.expiries.changed(counter.key(), expiredBefore, counter.expiresAt);
	}

	@Override
	public void clear() {
		this.entries.clear();
		this.expiries.clear();
	}

	@Override
	public Set<String> keys(String prefix, long nowMillis) {
		Set<String> keys = new HashSet<>();
		this.entries.forEach((key, entry) -> {
			if (key.startsWith(prefix) && nowMillis < JournaledState.expiresAt(entry)) {
				keys.add(key);
			}
		});
		return keys;
	}

	@Override
	public boolean hasKeys(String prefix, Set<String> keys, long nowMillis) {
		return keys(prefix, nowMillis).equals(keys);
	}

	@Override
	public long nextExpiry() {
		return this.expiries.next();
	}

	@Override
	public boolean readExpired(long nowMillis) {
		return false;
	}

	@Override
	public List<String> expired(long nowMillis, Predicate<String> wanted, int max) {
		return this.expiries.expired(nowMillis, wanted, max);
	}

	@Override
	public long writes() {
		return 0;
	}

	@Override
	public void committed(long write) {
	}

	@Override
	public boolean isInMemory() {
		return true;
	}

	@Override
	public boolean isLost() {
		return false;
	}

	@Override
	public int size() {
		return this.entries.size();
	}

	@Override
	public Map<String, String> all() {
		Map<String, String> all = new HashMap<>();
		this.entries.forEach((key, entry) -> all.put(key, Objects.requireNonNull(JournaledState.stored(entry))));
		return all;
	}

	@Override
	public void close() {
	}

}
