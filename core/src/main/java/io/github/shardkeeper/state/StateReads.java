package io.github.shardkeeper.state;

import java.util.Collection;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Entries of the state that one handler call reads. Confined to the thread of the call
 * until it has returned.
 */
class StateReads {

	private final StateEntries entries;

	/** Number of the last write of the entries before the call. */
	private final long opened;

	/** Time of the whole call. */
	private final long nowMillis;

	/** Why an entry could not be read, {@code null} if all could. */
	private @Nullable StoreUnavailableException unavailable;

	StateReads(StateEntries entries, long nowMillis) {
		this.entries = entries;
		this.opened = entries.writes();
		this.nowMillis = nowMillis;
	}

	final StateEntries entries() {
		return this.entries;
	}

	/** Returns the time of the whole call. */
	final long nowMillis() {
		return this.nowMillis;
	}

	/** Returns an entry that has not expired, {@code null} for none. */
	@Nullable Object entry(String key) {
		try {
			return present(this.entries.read(key, this.opened));
		}
		catch (StoreUnavailableException ex) {
			throw notRead(ex);
		}
	}

	private @Nullable Object present(@Nullable Object entry) {
		return (entry != null && this.nowMillis < JournaledState.expiresAt(entry)) ? entry : null;
	}

	/**
	 * Keeps what the call has read of a value; nothing, if no other call can change it.
	 */
	void keep(String key, @Nullable String stored) {
	}

	void prefetch(Collection<String> wanted) {
		try {
			this.entries.prefetch(wanted, this.opened);
		}
		catch (StoreUnavailableException ex) {
			throw notRead(ex);
		}
	}

	/** Returns the keys with a prefix. */
	Set<String> keys(String prefix) {
		try {
			return this.entries.keys(prefix, this.nowMillis);
		}
		catch (StoreUnavailableException ex) {
			throw notRead(ex);
		}
	}

	/** Remembers that the store was away: the call may hide that. */
	private StoreUnavailableException notRead(StoreUnavailableException why) {
		this.unavailable = why;
		return why;
	}

	final @Nullable StoreUnavailableException unavailable() {
		return this.unavailable;
	}

	/** Lets the entries go that are kept in memory for the call. */
	void release() {
	}

	/** Returns an entry as far as it is in memory now, for the shard's worker. */
	final @Nullable Object currentEntry(String key) {
		return present(this.entries.known(key));
	}

	/** Returns whether an entry is in memory now, for the shard's worker. */
	final boolean isKnown(String key) {
		return !StateEntries.UNREAD.equals(this.entries.known(key));
	}

	/**
	 * Returns whether a call that began now, at the same time of day, would read the
	 * same: always, if no other call can change it.
	 */
	boolean isCurrent() {
		return true;
	}

}
