package io.github.shardkeeper.state;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.state.value.ValueConversion;

/**
 * State of one owned shard: its {@link StateEntries}, and the changes to commit. A
 * handler call gets a {@link StateView}, which keeps its writes to itself; when the call
 * has returned, they are added here, all or none. Later calls see them at once. They
 * become committable together with their record. Confined to the shard's worker; if calls
 * run at the same time, views read the entries on other threads.
 */
public final class JournaledState implements CommitPart.Sized {

	/** Length of a number as JSON at most, with which it counts. */
	private static final int MAX_NUMBER_LENGTH = 20;

	private final ValueConversion conversion;

	/** Whether calls run at the same time: one may change what another reads. */
	private final boolean shared;

	/** Time to live of what is put without one, {@code null} for no limit. */
	private final @Nullable Duration ttl;

	private final StateEntries entries;

	/** Views of calls that run at the same time. */
	private final Set<StateView> open = ConcurrentHashMap.newKeySet();

	/**
	 * Number of entries that were added or removed, or expire at another time, so far.
	 */
	private volatile long keyChanges;

	/** Changes for the next commit, without those of counters, which are later ones. */
	private Map<String, @Nullable String> uncommitted = new HashMap<>();

	/** Counters that were uncommitted; some may have been replaced since. */
	private final List<Counter> changedCounters = new ArrayList<>();

	/** Size of these changes, as if every character were one byte. */
	private long uncommittedBytes;

	/** Changes that are added but not committable, the oldest first. */
	private final Deque<Changes> uncommittable = new ArrayDeque<>(1);

	/**
	 * Creates a state that is in memory.
	 * @param entries what is stored, by key
	 * @param ttl the time to live of what is put without one, {@code null} for no limit
	 * @param shared whether calls run at the same time
	 */
	public JournaledState(Map<String, String> entries, StateValues values, @Nullable Duration ttl, boolean shared) {
		this(new StateInMemory(entries, shared), values, ttl, shared);
	}

	private JournaledState(StateEntries entries, StateValues values, @Nullable Duration ttl, boolean shared) {
		this.shared = shared;
		this.entries = entries;
		this.conversion = new ValueConversion(values);
		this.ttl = ttl;
	}

	/**
	 * Creates a state whose entries are read when calls use them.
	 * @param cache the cache of the instance
	 * @param source the store of the state
	 * @param ttl the time to live of what is put without one, {@code null} for no limit
	 * @param shared whether calls run at the same time
	 */
	public static JournaledState onUse(StateCache cache, StateSource source, StateValues values, @Nullable Duration ttl,
			boolean shared) {
		return new JournaledState(new StateOnUse(cache, source), values, ttl, shared);
	}

	/**
	 * Opens the state for a call.
	 * @param nowMillis the time of the whole call, by the clock of this instance, in
	 * milliseconds since 1970
	 */
	public StateView open(long nowMillis) {
		StateView view = new StateView(this, nowMillis);
		if (this.shared) {
			this.open.add(view);
		}
		return view;
	}

	void closed(StateView view) {
		if (this.shared) {
			this.open.remove(view);
		}
	}

	StateEntries entries() {
		return this.entries;
	}

	ValueConversion conversion() {
		return this.conversion;
	}

	boolean isShared() {
		return this.shared;
	}

	long keyChanges() {
		return this.shared ? this.keyChanges : 0;
	}

	@Nullable Duration ttl() {
		return this.ttl;
	}

	/**
	 * Adds the writes of a call, unless another call has changed entries that it has
	 * read.
	 * @return the changes; {@code null} if the call has to be repeated
	 */
	@Nullable public Changes add(StateView view) {
		try {
			return isOutdated(view) ? null : addWrites(view);
		}
		finally {
			view.release();
		}
	}

	private Changes addWrites(StateView view) {
		if (view.isUntouched()) {
			return Changes.NONE;
		}
		Changes changes = new Changes(new HashMap<>(), new HashMap<>(), this.entries.writes());
		for (StateWrites.Write each = view.writes(); each != null; each = each.before()) {
			String stored = each.stored();
			String before = write(each.key(), stored);
			if (!Objects.equals(before, stored)) {
				changes.writes.put(each.key(), stored);
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
		try {
			if (isOutdated(view)) {
				return null;
			}
			for (StateWrites.Write each = view.writes(); each != null; each = each.before()) {
				if (each.isNumber()) {
					count(each.key(), each.number(), each.expiresAt());
					continue;
				}
				String stored = each.stored();
				if (!Objects.equals(write(each.key(), stored), stored)) {
					addUncommitted(each.key(), stored);
				}
			}
			return Changes.NONE;
		}
		finally {
			view.release();
		}
	}

	/** Sets an entry to a number with the next commit. */
	private void count(String key, long number, long expiresAt) {
		Object before = this.entries.known(key);
		if (before instanceof Counter known) {
			if (known.value == number && known.expiresAt == expiresAt) {
				return;
			}
			long expiredBefore = known.expiresAt;
			known.set(number, expiresAt);
			this.entries.changed(known, expiredBefore);
			countUncommitted(known);
		}
		else if (before == null || !before.equals(ExpiringValues.stored(Long.toString(number), expiresAt))) {
			Counter counter = new Counter(key);
			counter.set(number, expiresAt);
			this.entries.put(key, counter);
			countUncommitted(counter);
		}
	}

	private void countUncommitted(Counter counter) {
		if (!counter.uncommitted) {
			counter.uncommitted = true;
			this.changedCounters.add(counter);
			this.uncommittedBytes += counter.key().length() + MAX_NUMBER_LENGTH;
		}
	}

	/**
	 * Returns the changes that the writes of a call make, once.
	 * @return the changes; {@code null} if another call has changed what it has read
	 */
	public @Nullable Map<String, @Nullable String> changes(StateView view) {
		try {
			if (isOutdated(view)) {
				return null;
			}
			if (view.isUntouched()) {
				return Map.of();
			}
			Map<String, @Nullable String> changes = new HashMap<>();
			for (StateWrites.Write each = view.writes(); each != null; each = each.before()) {
				String stored = each.stored();
				if (!Objects.equals(stored(this.entries.known(each.key())), stored)) {
					changes.put(each.key(), stored);
				}
			}
			return changes;
		}
		finally {
			view.release();
		}
	}

	/** Makes changes that are committed already. */
	public void committed(Map<String, @Nullable String> changes) {
		changes.forEach(this::write);
		if (!hasUncommitted()) {
			this.entries.committed(this.entries.writes());
		}
	}

	private boolean isOutdated(StateView view) {
		return this.shared && !view.isUntouched() && !view.isCurrent();
	}

	private @Nullable String write(String key, @Nullable String stored) {
		Object before = this.entries.put(key, stored);
		if (this.shared && (StateEntries.UNREAD.equals(before) || (before == null) != (stored == null)
				|| expiresAt(before) != expiresAt(stored))) {
			this.keyChanges++;
		}
		if (before instanceof Counter counter) {
			freeze(counter);
		}
		return stored(before);
	}

	/** Returns whether there are expired entries that can be removed. */
	public boolean hasExpired(long nowMillis) {
		return !expired(nowMillis, 1).isEmpty();
	}

	/** Returns whether all entries are in memory. */
	public boolean isInMemory() {
		return this.entries.isInMemory();
	}

	/**
	 * Searches the next part of the store for expired entries; returns whether more parts
	 * follow.
	 * @throws io.github.shardkeeper.StoreUnavailableException if it cannot be read now
	 */
	public boolean searchExpired(long nowMillis) {
		return this.entries.readExpired(nowMillis);
	}

	/** Returns when the next entries can be removed, {@code Long.MAX_VALUE} for never. */
	public long nextExpiry() {
		return this.entries.nextExpiry();
	}

	/**
	 * Removes entries that have expired with the next commit. No call sees that: they are
	 * missing for it already.
	 * @param nowMillis the time, by the clock of this instance
	 * @param max the maximum number of entries to remove
	 * @return the number of entries that are removed
	 */
	public int removeExpired(long nowMillis, int max) {
		List<String> expired = expired(nowMillis, max);
		for (String key : expired) {
			write(key, null);
			addUncommitted(key, null);
		}
		return expired.size();
	}

	/**
	 * Returns keys of entries that have expired also for calls that began earlier, and
	 * that no change waits for which the next commit leaves out.
	 */
	private List<String> expired(long nowMillis, int max) {
		if (nowMillis < this.entries.nextExpiry()) {
			return List.of();
		}
		long earliest = nowMillis;
		for (StateView view : this.open) {
			earliest = Math.min(earliest, view.nowMillis());
		}
		Set<String> waiting = new HashSet<>();
		this.uncommittable.forEach((changes) -> waiting.addAll(changes.writes.keySet()));
		return this.entries.expired(earliest, (key) -> !waiting.contains(key), max);
	}

	/** Keeps what the next commit writes of a counter that is replaced. */
	private void freeze(Counter counter) {
		if (counter.uncommitted) {
			counter.uncommitted = false;
			this.uncommittedBytes -= counter.key().length() + MAX_NUMBER_LENGTH;
			addUncommitted(counter.key(), counter.stored());
		}
	}

	/** Returns what is stored of an entry, {@code null} for none. */
	static @Nullable String stored(@Nullable Object entry) {
		return (entry instanceof Counter counter) ? counter.stored() : (String) entry;
	}

	/** Returns when an entry expires; {@link ExpiringValues#NEVER} also for none. */
	static long expiresAt(@Nullable Object entry) {
		if (entry instanceof Counter counter) {
			return counter.expiresAt;
		}
		return (entry != null) ? ExpiringValues.expiresAt((String) entry) : ExpiringValues.NEVER;
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

	/**
	 * Removes all entries; the next commit has to remove them from the store. Only before
	 * the first call.
	 */
	public void clear() {
		this.entries.clear();
	}

	/** Returns whether the store has lost what the owner's commits have made. */
	public boolean isLost() {
		return this.entries.isLost();
	}

	/** Returns the number of entries in memory. */
	public int size() {
		return this.entries.size();
	}

	/** Forgets all entries: no call follows. */
	public void close() {
		this.entries.close();
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
		Changes excluded = this.uncommittable.peek();
		long last = (excluded != null) ? excluded.since : this.entries.writes();
		commit.changes(takeUncommitted());
		return new Added() {

			@Override
			public void committed() {
				JournaledState.this.entries.committed(last);
			}

		};
	}

	@Override
	public Added addAllTo(Commit.Builder commit, Acquired stored) {
		Map<String, @Nullable String> whole = new HashMap<>(committableEntries());
		stored.checkpoint().state().keySet().forEach((key) -> whole.putIfAbsent(key, null));
		takeUncommitted();
		commit.changes(whole);
		return Added.NOTHING;
	}

	Map<String, @Nullable String> uncommitted() {
		Map<String, @Nullable String> all = new HashMap<>(this.uncommitted);
		this.changedCounters.stream()
			.filter((counter) -> counter.uncommitted)
			.forEach((counter) -> all.put(counter.key(), counter.stored()));
		return Collections.unmodifiableMap(all);
	}

	private void addUncommitted(String key, @Nullable String stored) {
		String before = this.uncommitted.put(key, stored);
		this.uncommittedBytes += ((stored != null) ? stored.length() : 0)
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
				taken.put(counter.key(), counter.stored());
			}
		}
		this.uncommitted = new HashMap<>();
		this.changedCounters.clear();
		this.uncommittedBytes = 0;
		return taken;
	}

	/** Returns all committable entries, committed or not, of a state in memory. */
	public Map<String, String> committableEntries() {
		Map<String, String> committable = this.entries.all();
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

	/**
	 * Changes of one call by key; removed and missing entries are {@code null}.
	 *
	 * @param since the number of the last write of the entries before these
	 */
	public record Changes(Map<String, @Nullable String> writes, Map<String, @Nullable String> before, long since) {

		public static final Changes NONE = new Changes(Map.of(), Map.of(), 0);

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
