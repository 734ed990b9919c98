package io.github.shardkeeper.state.value;

import org.jspecify.annotations.Nullable;

/**
 * Java records of a shard's state as objects, beside their JSON, which is what counts: an
 * object is found only with the very text that it was read from or written as, so a call
 * that failed leaves nothing behind. Keeps at most {@link #PLACES}, and forgets a value
 * when another key needs its place. Values must be immutable. Thread-safe.
 */
final class KeptRecords {

	/** A power of two. */
	private static final int PLACES = 256;

	private volatile @Nullable Kept @Nullable [] places;

	<T> @Nullable T find(String key, String json, Class<T> type) {
		@Nullable Kept[] all = this.places;
		Kept kept = (all != null) ? all[place(key)] : null;
		return (kept != null && isSame(kept.json, json) && kept.value.getClass() == type) ? type.cast(kept.value)
				: null;
	}

	@SuppressWarnings("ReferenceEquality")
	private static boolean isSame(String one, String other) {
		return one == other;
	}

	/** Concurrent calls may overwrite each other's value, which then is read again. */
	void keep(String key, String json, Object value) {
		@Nullable Kept[] all = this.places;
		if (all == null) {
			// Shards whose state has no records do without.
			all = new Kept[PLACES];
			this.places = all;
		}
		all[place(key)] = new Kept(json, value);
	}

	private static int place(String key) {
		int hash = key.hashCode();
		return (hash ^ hash >>> 16) & (PLACES - 1);
	}

	private record Kept(String json, Object value) {

	}

}
