package io.github.shardkeeper.checkpoint;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * State of one owned shard: all entries, and the changes to commit. A handler call gets a
 * {@link StateView}, which keeps its writes to itself; when the call has returned, they
 * are added here, all or none. Later calls see them at once. They become committable
 * together with their record. Confined to the shard's worker; if calls run at the same
 * time, views read the entries on other threads.
 */
public final class JournaledState {

	private final StateValues values;

	private final KeptRecords kept = new KeptRecords();

	/** Whether calls run at the same time: one may change what another reads. */
	private final boolean shared;

	private final Map<String, String> entries;

	/** Number of entries that were added or removed so far. */
	private volatile long keyChanges;

	private Map<String, @Nullable String> uncommitted = new HashMap<>();

	/** Size of these changes, as if every character were one byte. */
	private long uncommittedBytes;

	/** Changes that are added but not committable, the oldest first. */
	private final Deque<Changes> uncommittable = new ArrayDeque<>();

	public JournaledState(Map<String, String> entries, StateValues values, boolean shared) {
		this.shared = shared;
		this.entries = shared ? new ConcurrentHashMap<>(entries) : new HashMap<>(entries);
		this.values = values;
	}

	public StateView open() {
		return new StateView(this.entries, this.values, this.kept, this.shared, this.shared ? this.keyChanges : 0);
	}

	/**
	 * Adds the writes of a call, unless another call has changed entries that it has
	 * read.
	 * @return the changes; {@code null} if the call has to be repeated
	 */
	@Nullable public Changes add(StateView view) {
		if (view.isUntouched()) {
			return Changes.NONE;
		}
		if (isOutdated(view)) {
			return null;
		}
		Changes changes = new Changes(new HashMap<>(), new HashMap<>());
		view.writes(this.entries).forEach((key, json) -> {
			String before = write(key, json);
			if (!Objects.equals(before, json)) {
				changes.writes.put(key, json);
				changes.before.put(key, before);
			}
		});
		if (changes.writes.isEmpty()) {
			return Changes.NONE;
		}
		this.uncommittable.add(changes);
		return changes;
	}

	/**
	 * Adds the writes of a call, committable at once. Nearly all calls use this, so it
	 * keeps nothing for an undo.
	 * @return {@link Changes#NONE}; {@code null} if the call has to be repeated
	 */
	@Nullable public Changes addCommittable(StateView view) {
		if (view.isUntouched()) {
			return Changes.NONE;
		}
		if (isOutdated(view)) {
			return null;
		}
		view.writes(this.entries).forEach((key, json) -> {
			if (!Objects.equals(write(key, json), json)) {
				addUncommitted(key, json);
			}
		});
		return Changes.NONE;
	}

	/**
	 * Returns the changes that the writes of a call make, once.
	 * @return the changes; {@code null} if another call has changed what it has read
	 */
	public @Nullable Map<String, @Nullable String> changes(StateView view) {
		if (view.isUntouched()) {
			return Map.of();
		}
		if (isOutdated(view)) {
			return null;
		}
		Map<String, @Nullable String> changes = new HashMap<>();
		view.writes(this.entries).forEach((key, json) -> {
			if (!Objects.equals(this.entries.get(key), json)) {
				changes.put(key, json);
			}
		});
		return changes;
	}

	/** Makes changes that are committed already. */
	public void committed(Map<String, @Nullable String> changes) {
		changes.forEach(this::write);
	}

	private boolean isOutdated(StateView view) {
		return this.shared && !view.isCurrent(this.entries, this.keyChanges);
	}

	private @Nullable String write(String key, @Nullable String json) {
		String before = (json != null) ? this.entries.put(key, json) : this.entries.remove(key);
		if (this.shared && (before == null) != (json == null)) {
			this.keyChanges++;
		}
		return before;
	}

	public void makeCommittable(Changes changes) {
		if (changes == Changes.NONE) {
			return;
		}
		changes.writes.forEach(this::addUncommitted);
		if (this.uncommittable.peek() == changes) {
			this.uncommittable.remove();
		}
		else {
			this.uncommittable.removeLastOccurrence(changes);
		}
	}

	/** Returns whether there are changes that the next commit leaves out. */
	public boolean hasUncommittable() {
		return !this.uncommittable.isEmpty();
	}

	/** Removes all entries with the next commit. Only before the first call. */
	public void clear() {
		this.entries.keySet().forEach((key) -> addUncommitted(key, null));
		this.entries.clear();
	}

	/** Returns whether there are changes for the next commit. */
	public boolean hasUncommitted() {
		return !this.uncommitted.isEmpty();
	}

	Map<String, @Nullable String> uncommitted() {
		return Collections.unmodifiableMap(this.uncommitted);
	}

	private void addUncommitted(String key, @Nullable String json) {
		String before = this.uncommitted.put(key, json);
		this.uncommittedBytes += ((json != null) ? json.length() : 0)
				- ((before != null) ? before.length() : -key.length());
	}

	/** Returns the approximate size of the changes to commit, in bytes. */
	public long uncommittedBytes() {
		return this.uncommittedBytes;
	}

	public Map<String, @Nullable String> takeUncommitted() {
		Map<String, @Nullable String> taken = this.uncommitted;
		this.uncommitted = new HashMap<>();
		this.uncommittedBytes = 0;
		return taken;
	}

	/** Returns all committable entries, committed or not. */
	public Map<String, String> committableEntries() {
		Map<String, String> committable = new HashMap<>(this.entries);
		for (Iterator<Changes> newestFirst = this.uncommittable.descendingIterator(); newestFirst.hasNext();) {
			newestFirst.next().before.forEach((key, before) -> {
				if (before != null) {
					committable.put(key, before);
				}
				else {
					committable.remove(key);
				}
			});
		}
		return committable;
	}

	/** Changes of one call by key; removed and missing entries are {@code null}. */
	public record Changes(Map<String, @Nullable String> writes, Map<String, @Nullable String> before) {

		public static final Changes NONE = new Changes(Map.of(), Map.of());

		/** Compares by identity: equal changes of two calls are different ones. */
		@Override
		public boolean equals(@Nullable Object other) {
			return this == other;
		}

		@Override
		public int hashCode() {
			return System.identityHashCode(this);
		}

	}

}
