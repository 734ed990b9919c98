package io.github.shardkeeper.state;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Entries of the state that one handler call has read. If other calls run at the same
 * time, it keeps what it has read, so that a call whose reads are not current any more
 * can be repeated. Confined to the thread of the call until it has returned.
 */
final class StateReads {

	private final JournaledState state;

	private final StateEntries entries;

	/** Whether other calls run at the same time. */
	private final boolean shared;

	/** Time of the whole call. */
	private final long nowMillis;

	private final long keyChanges;

	/** Number of the last write of the entries before the call. */
	private final long opened;

	/** What was stored of values that were read, as it was then. */
	private @Nullable Map<String, @Nullable String> values;

	/**
	 * Keys that had a value when the call asked for them, by prefix; only with other
	 * calls.
	 */
	private @Nullable Map<String, Set<String>> keys;

	/** Keys of entries that stay in memory until the call is processed. */
	private @Nullable Set<String> held;

	/** Why an entry could not be read, {@code null} if all could. */
	private @Nullable StoreUnavailableException unavailable;

	StateReads(JournaledState state, long nowMillis) {
		this.state = state;
		this.entries = state.entries();
		this.shared = state.isShared();
		this.nowMillis = nowMillis;
		this.keyChanges = state.keyChanges();
		this.opened = this.entries.writes();
	}

	/** Returns an entry that has not expired, {@code null} for none. */
	@Nullable Object entry(String key) {
		if (this.shared) {
			hold(key);
		}
		Object entry = fromStore(() -> this.entries.read(key, this.opened));
		return isPresent(entry) ? entry : null;
	}

	/** Returns it as far as it is in memory now, for the shard's worker. */
	@Nullable Object currentEntry(String key) {
		Object entry = this.entries.known(key);
		return isPresent(entry) ? entry : null;
	}

	private boolean isPresent(@Nullable Object entry) {
		return entry != null && this.nowMillis < JournaledState.expiresAt(entry);
	}

	/** Returns whether an entry is in memory now, for the shard's worker. */
	boolean isKnown(String key) {
		return !StateEntries.UNREAD.equals(this.entries.known(key));
	}

	/**
	 * Keeps what the call has read of a value. The first value counts: a call that has
	 * read two values has to be repeated.
	 */
	void keep(String key, @Nullable String stored) {
		Map<String, @Nullable String> all = (this.values != null) ? this.values : new HashMap<>();
		this.values = all;
		if (!all.containsKey(key)) {
			// Also if there was no value.
			all.put(key, stored);
		}
	}

	void prefetch(Collection<String> wanted) {
		if (this.shared) {
			wanted.forEach(this::hold);
		}
		fromStore(() -> {
			this.entries.prefetch(wanted, this.opened);
			return wanted;
		});
	}

	/** Returns the keys with a prefix; with other calls, as the call first read them. */
	Set<String> keys(String prefix) {
		if (!this.shared) {
			return presentKeys(prefix);
		}
		Map<String, Set<String>> read = (this.keys != null) ? this.keys : new HashMap<>();
		this.keys = read;
		return read.computeIfAbsent(prefix, this::presentKeys);
	}

	private Set<String> presentKeys(String prefix) {
		return fromStore(() -> this.entries.keys(prefix, this.nowMillis));
	}

	private void hold(String key) {
		Set<String> already = (this.held != null) ? this.held : new HashSet<>();
		this.held = already;
		if (already.add(key)) {
			this.entries.hold(key);
		}
	}

	/** Lets the entries go that the call has read. */
	void release() {
		Set<String> left = this.held;
		if (left != null) {
			this.held = null;
			this.entries.release(left);
		}
	}

	/** Remembers that the store was away: the call may hide that. */
	private <T extends @Nullable Object> T fromStore(Supplier<T> read) {
		try {
			return read.get();
		}
		catch (StoreUnavailableException ex) {
			this.unavailable = ex;
			throw ex;
		}
	}

	@Nullable StoreUnavailableException unavailable() {
		return this.unavailable;
	}

	/**
	 * Returns whether a call that began now, at the same time of day, would read the
	 * same.
	 */
	boolean isCurrent() {
		if (this.keys != null && this.keyChanges != this.state.keyChanges()
				&& !this.keys.entrySet()
					.stream()
					.allMatch((read) -> this.entries.hasKeys(read.getKey(), read.getValue(), this.nowMillis))) {
			return false;
		}
		return this.values == null || this.values.entrySet()
			.stream()
			.allMatch((read) -> Objects.equals(currentEntry(read.getKey()), read.getValue()));
	}

}
