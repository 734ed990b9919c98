package io.github.shardkeeper.checkpoint;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;

/**
 * State of one owned shard: all entries, and the changes to commit. A handler call gets a
 * {@link StateView}, which keeps its writes to itself; when the call has returned, they
 * are added here, all or none. Later calls see them at once. They become committable
 * together with their record. Confined to the shard's worker; if calls run at the same
 * time, views read the entries on other threads.
 */
@Internal
public final class JournaledState implements CommitPart {

	/** Length of a number as JSON at most, with which it counts. */
	private static final int MAX_NUMBER_LENGTH = 20;

	private final StateValues values;

	private final KeptRecords kept = new KeptRecords();

	/** Whether calls run at the same time: one may change what another reads. */
	private final boolean shared;

	/** JSON, or a {@link Counter} unless calls run at the same time, by key. */
	private final Map<String, Object> entries;

	/** Number of entries that were added or removed so far. */
	private volatile long keyChanges;

	/** Changes for the next commit, without those of counters, which are later ones. */
	private Map<String, @Nullable String> uncommitted = new HashMap<>();

	/** Counters that were uncommitted; some may have been replaced since. */
	private final List<Counter> changedCounters = new ArrayList<>();

	/** Size of these changes, as if every character were one byte. */
	private long uncommittedBytes;

	/** Changes that are added but not committable, the oldest first. */
	private final Deque<Changes> uncommittable = new ArrayDeque<>(1);

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
		for (StateView.Write each = view.writes(this.entries); each != null; each = each.before()) {
			String json = each.json();
			String before = write(each.key(), json);
			if (!Objects.equals(before, json)) {
				changes.writes.put(each.key(), json);
				changes.before.put(each.key(), before);
			}
		}
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
		for (StateView.Write each = view.writes(this.entries); each != null; each = each.before()) {
			if (each.isNumber()) {
				count(each.key(), each.number());
				continue;
			}
			String json = each.json();
			if (!Objects.equals(write(each.key(), json), json)) {
				addUncommitted(each.key(), json);
			}
		}
		return Changes.NONE;
	}

	/** Sets an entry to a number with the next commit. */
	private void count(String key, long number) {
		Object before = this.entries.get(key);
		Counter counter;
		if (before instanceof Counter known) {
			if (known.value == number) {
				return;
			}
			counter = known;
		}
		else {
			if (before != null && before.equals(Long.toString(number))) {
				return;
			}
			counter = new Counter(key);
			this.entries.put(key, counter);
		}
		counter.value = number;
		if (!counter.uncommitted) {
			counter.uncommitted = true;
			this.changedCounters.add(counter);
			this.uncommittedBytes += key.length() + MAX_NUMBER_LENGTH;
		}
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
		for (StateView.Write each = view.writes(this.entries); each != null; each = each.before()) {
			String json = each.json();
			if (!Objects.equals(json(this.entries.get(each.key())), json)) {
				changes.put(each.key(), json);
			}
		}
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
		Object before = (json != null) ? this.entries.put(key, json) : this.entries.remove(key);
		if (this.shared && (before == null) != (json == null)) {
			this.keyChanges++;
		}
		if (before instanceof Counter counter) {
			freeze(counter);
		}
		return json(before);
	}

	/** Keeps what the next commit writes of a counter that is replaced. */
	private void freeze(Counter counter) {
		if (counter.uncommitted) {
			counter.uncommitted = false;
			this.uncommittedBytes -= counter.key().length() + MAX_NUMBER_LENGTH;
			addUncommitted(counter.key(), counter.json());
		}
	}

	/** Returns an entry as JSON, {@code null} for none. */
	static @Nullable String json(@Nullable Object entry) {
		return (entry instanceof Counter counter) ? counter.json() : (String) entry;
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
	boolean hasUncommitted() {
		return !this.uncommitted.isEmpty() || !this.changedCounters.isEmpty();
	}

	@Override
	public boolean isEmpty() {
		return !hasUncommitted();
	}

	@Override
	public boolean isExclusive() {
		return hasUncommitted();
	}

	/** If it is not written, everything is: see {@link #addAllTo}. */
	@Override
	public Added addTo(Commit.Builder commit) {
		commit.changes(takeUncommitted());
		return Added.NOTHING;
	}

	@Override
	public Added addAllTo(Commit.Builder commit, Checkpoint stored) {
		Map<String, @Nullable String> whole = new HashMap<>(committableEntries());
		stored.state().keySet().forEach((key) -> whole.putIfAbsent(key, null));
		takeUncommitted();
		commit.changes(whole);
		return Added.NOTHING;
	}

	Map<String, @Nullable String> uncommitted() {
		Map<String, @Nullable String> all = new HashMap<>(this.uncommitted);
		this.changedCounters.stream()
			.filter((counter) -> counter.uncommitted)
			.forEach((counter) -> all.put(counter.key(), counter.json()));
		return Collections.unmodifiableMap(all);
	}

	private void addUncommitted(String key, @Nullable String json) {
		String before = this.uncommitted.put(key, json);
		this.uncommittedBytes += ((json != null) ? json.length() : 0)
				- ((before != null) ? before.length() : -key.length());
	}

	@Override
	public long bytes() {
		return this.uncommittedBytes;
	}

	Map<String, @Nullable String> takeUncommitted() {
		Map<String, @Nullable String> taken = this.uncommitted;
		for (Counter counter : this.changedCounters) {
			if (counter.uncommitted) {
				counter.uncommitted = false;
				taken.put(counter.key(), counter.json());
			}
		}
		this.uncommitted = new HashMap<>();
		this.changedCounters.clear();
		this.uncommittedBytes = 0;
		return taken;
	}

	/** Returns all committable entries, committed or not. */
	public Map<String, String> committableEntries() {
		Map<String, String> committable = new HashMap<>();
		this.entries.forEach((key, entry) -> committable.put(key, Objects.requireNonNull(json(entry))));
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
