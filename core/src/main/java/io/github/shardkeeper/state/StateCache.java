package io.github.shardkeeper.state;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Entries in memory of all states of an instance that are read when they are used, up to
 * a size: those that were not used for the longest time are forgotten first. Entries that
 * the store does not have yet, and those that running calls have read, stay. Thread-safe:
 * its monitor guards the entries of all these states.
 */
public final class StateCache {

	/** About what an entry takes besides the characters of its key and its value. */
	private static final int OVERHEAD = 250;

	/** So that no call waits until many entries that stay are passed over. */
	private static final int MAX_STEPS = 16;

	private final long maxBytes;

	/** Links the first entry and the last one. */
	private final Entry ends = new Entry(null, "");

	private long bytes;

	/**
	 * Creates a cache.
	 * @param maxBytes the size, about as much as the entries take in memory
	 */
	public StateCache(long maxBytes) {
		this.maxBytes = maxBytes;
		this.ends.newer = this.ends;
		this.ends.older = this.ends;
	}

	/** Returns about how many bytes the entries take. */
	public synchronized long bytes() {
		return this.bytes;
	}

	/** Marks an entry as the one that was used last. Guarded by this. */
	void used(Entry entry) {
		if (this.ends.older != entry) {
			unlink(entry);
			link(entry);
		}
	}

	/** Sets what is known of an entry. Guarded by this. */
	void set(Entry entry, @Nullable Object value) {
		forget(entry);
		entry.known = true;
		entry.value = value;
		entry.bytes = OVERHEAD + entry.key.length() + ((value instanceof String text) ? text.length() : 0);
		this.bytes += entry.bytes;
		link(entry);
	}

	/** Forgets what is known of an entry. Guarded by this. */
	void forget(Entry entry) {
		if (entry.known) {
			unlink(entry);
			this.bytes -= entry.bytes;
			entry.known = false;
			entry.value = null;
		}
	}

	/** Forgets entries until the others have room. Guarded by this. */
	void makeRoom() {
		for (int steps = 0; this.bytes > this.maxBytes && steps < MAX_STEPS; steps++) {
			Entry oldest = Objects.requireNonNull(this.ends.newer);
			if (oldest == this.ends) {
				return;
			}
			if (!Objects.requireNonNull(oldest.state).evict(oldest)) {
				used(oldest);
			}
		}
	}

	private void link(Entry entry) {
		Entry newest = Objects.requireNonNull(this.ends.older);
		entry.older = newest;
		entry.newer = this.ends;
		newest.newer = entry;
		this.ends.older = entry;
	}

	private static void unlink(Entry entry) {
		Entry older = Objects.requireNonNull(entry.older);
		Entry newer = Objects.requireNonNull(entry.newer);
		older.newer = newer;
		newer.older = older;
		entry.older = null;
		entry.newer = null;
	}

	/** Entry of a state, of which it may be known that it does not exist. */
	static final class Entry {

		private final @Nullable StateOnUse state;

		private final String key;

		/** Number of the last write of the state that has changed it, 0 for none. */
		long written;

		/** Number of running calls that depend on it. */
		int calls;

		private boolean known;

		private @Nullable Object value;

		private int bytes;

		private @Nullable Entry older;

		private @Nullable Entry newer;

		Entry(@Nullable StateOnUse state, String key) {
			this.state = state;
			this.key = key;
		}

		String key() {
			return this.key;
		}

		boolean isKnown() {
			return this.known;
		}

		/** Returns what is stored, or a counter; {@code null} for none. */
		@Nullable Object value() {
			return this.value;
		}

	}

}
