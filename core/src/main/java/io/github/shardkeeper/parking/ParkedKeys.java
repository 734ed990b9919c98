package io.github.shardkeeper.parking;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Keys of a shard that wait in its retry queue, each with its records in order. The first
 * record of a key is handed out when it is due, the next one when that is handled. A
 * record without a key waits alone.
 * <p>
 * It knows offsets, not payloads: those are in the store. A record is <i>stored</i> once
 * the commit that put it there is answered, and is not handed out before. Confined to one
 * thread.
 */
public final class ParkedKeys {

	private static final Comparator<Entry> BY_PLACE = Comparator.<Entry>comparingLong((entry) -> entry.place)
		.thenComparing((entry) -> entry.offset.value());

	private static final Comparator<Sequence> BY_DUE = Comparator
		.<Sequence, MonotonicTime>comparing((sequence) -> sequence.first().due)
		.thenComparing(Sequence::first, BY_PLACE);

	/** The store counts milliseconds. */
	private static final Duration DUE_BEHIND = Duration.ofMillis(1);

	private final int maxKeys;

	private final int maxRecords;

	/** By key, or by offset for records without a key. */
	private final Map<Object, Sequence> sequences = new HashMap<>();

	private final Map<Offset, Entry> entries = new HashMap<>();

	/** Sequences whose first record is stored and not handed out. */
	private final NavigableSet<Sequence> ready = new TreeSet<>(BY_DUE);

	/** Records that are handled, and whose removal is not committed. */
	private final Set<Offset> removals = new HashSet<>();

	private long lastPlace;

	private long released;

	/** Creates it without records. */
	public ParkedKeys(int maxKeys, int maxRecords) {
		this.maxKeys = maxKeys;
		this.maxRecords = maxRecords;
	}

	/**
	 * Returns the place after all others. Near the time, so that dead letters that are
	 * sent back when their key does not wait any more keep their order, too.
	 */
	private long nextPlace(long nowMillis) {
		this.lastPlace = Math.max(this.lastPlace + 1, nowMillis);
		return this.lastPlace;
	}

	/** Returns whether a record has to wait for earlier ones. */
	public boolean isParked(@Nullable String key, Offset offset) {
		return this.sequences.containsKey(sequenceKey(key, offset));
	}

	/** Returns whether a record may be added. */
	public boolean hasRoom(@Nullable String key, Offset offset) {
		return this.entries.containsKey(offset) || this.entries.size() < this.maxRecords
				&& (isParked(key, offset) || this.sequences.size() < this.maxKeys);
	}

	private static Object sequenceKey(@Nullable String key, Offset offset) {
		return (key != null) ? key : offset;
	}

	/** Returns the number of keys; each record without a key counts as one. */
	public int keys() {
		return this.sequences.size();
	}

	public int records() {
		return this.entries.size();
	}

	/** Returns how many keys have ceased to wait so far. */
	public long released() {
		return this.released;
	}

	/** Returns the larger part of the two bounds that is used; above 1 beyond them. */
	public double used() {
		return Math.max((double) keys() / this.maxKeys, (double) records() / this.maxRecords);
	}

	/** Returns whether nothing waits, and the store knows that. */
	public boolean isEmpty() {
		return this.entries.isEmpty() && this.removals.isEmpty();
	}

	/** Returns whether a record may not be replaced: its call or its commit runs. */
	public boolean isUnderWay(Offset offset) {
		Entry entry = this.entries.get(offset);
		return this.removals.contains(offset) || entry != null && (!entry.stored || entry.isRunning());
	}

	/** Returns the place of a record that waits, or the next one. */
	public long placeFor(Offset offset, long nowMillis) {
		Entry entry = this.entries.get(offset);
		return (entry != null) ? entry.place : nextPlace(nowMillis);
	}

	/**
	 * Adds a record that waits for earlier ones of its key; the next commit stores it.
	 * @return the due time to store. It is not due before it is the first of its key; the
	 * time makes instances that do not know of that keep the order as far as they can
	 */
	public MonotonicTime parkBehind(@Nullable String key, Offset offset, long place, MonotonicTime now) {
		Sequence sequence = sequence(key, offset, now);
		park(key, offset, place, now);
		sequence.due(sequence.lastDue.plus(DUE_BEHIND));
		return sequence.lastDue;
	}

	/**
	 * Adds a record that waits for another attempt, or replaces it; then it keeps its
	 * place. The next commit stores it. One that was handed out waits again.
	 */
	public void park(@Nullable String key, Offset offset, long place, MonotonicTime due) {
		Entry entry = this.entries.get(offset);
		if (entry == null) {
			add(new Entry(sequence(key, offset, due), offset, place, due));
			return;
		}
		entry.sequence.due(due);
		Sequence sequence = entry.sequence;
		lift(sequence);
		if (sequence.running == entry) {
			sequence.running = null;
			sequence.waiting.add(entry);
		}
		entry.due = due;
		entry.stored = false;
		arrange(sequence);
	}

	private Sequence sequence(@Nullable String key, Offset offset, MonotonicTime due) {
		Sequence sequence = this.sequences.computeIfAbsent(sequenceKey(key, offset),
				(absent) -> new Sequence(absent, due));
		sequence.due(due);
		return sequence;
	}

	private void add(Entry entry) {
		lift(entry.sequence);
		this.entries.put(entry.offset, entry);
		entry.sequence.waiting.add(entry);
		this.lastPlace = Math.max(this.lastPlace, entry.place);
		arrange(entry.sequence);
	}

	/** Takes a sequence out of the order that depends on its first record. */
	private void lift(Sequence sequence) {
		if (!sequence.waiting.isEmpty()) {
			this.ready.remove(sequence);
		}
	}

	private void arrange(Sequence sequence) {
		if (sequence.running != null) {
			return;
		}
		if (sequence.waiting.isEmpty()) {
			this.sequences.remove(sequence.key);
			this.released++;
		}
		else if (sequence.first().stored) {
			this.ready.add(sequence);
		}
	}

	/** Returns when a record can be handed out next, {@code null} if none can. */
	public @Nullable MonotonicTime nextDue() {
		return this.ready.isEmpty() ? null : this.ready.first().first().due;
	}

	/** Hands out the next due record, {@code null} if there is none. */
	public @Nullable Offset take(MonotonicTime now) {
		if (this.ready.isEmpty() || now.isBefore(this.ready.first().first().due)) {
			return null;
		}
		Sequence sequence = this.ready.pollFirst();
		Entry entry = sequence.waiting.pollFirst();
		sequence.running = entry;
		return entry.offset;
	}

	/** Takes a record back that was handed out, for another attempt at once. */
	public void giveBack(Offset offset, MonotonicTime now) {
		Entry entry = this.entries.get(offset);
		if (entry != null && entry.isRunning()) {
			entry.sequence.running = null;
			lift(entry.sequence);
			entry.sequence.waiting.add(entry);
			entry.due = now;
			arrange(entry.sequence);
		}
	}

	/** Returns stored records that follow one that is handed out, in order. */
	public List<Offset> following(Offset handedOut, int limit) {
		List<Offset> following = new ArrayList<>();
		Entry entry = this.entries.get(handedOut);
		if (entry != null) {
			for (Entry next : entry.sequence.waiting) {
				if (!next.stored || following.size() == limit) {
					break;
				}
				following.add(next.offset);
			}
		}
		return following;
	}

	/**
	 * Removes a record that was handed out: it is handled or a dead letter, and the next
	 * commit removes it from the store. The next record of its key is due.
	 */
	public void settled(Offset offset) {
		this.removals.add(offset);
		remove(offset);
	}

	/** Removes a record that the store does not have. */
	public void missing(Offset offset) {
		remove(offset);
	}

	private void remove(Offset offset) {
		Entry entry = this.entries.remove(offset);
		if (entry == null) {
			return;
		}
		Sequence sequence = entry.sequence;
		lift(sequence);
		if (sequence.running == entry) {
			sequence.running = null;
		}
		sequence.waiting.remove(entry);
		arrange(sequence);
	}

	/** Processes the reply to a commit. */
	public void committed(Collection<Offset> removed, Collection<Offset> put) {
		this.removals.removeAll(removed);
		for (Offset offset : put) {
			Entry entry = this.entries.get(offset);
			if (entry != null) {
				lift(entry.sequence);
				entry.stored = true;
				arrange(entry.sequence);
			}
		}
	}

	/** Returns whether the reply to a commit may change what is known of the store. */
	public boolean awaitsCommit() {
		return !this.removals.isEmpty() || this.entries.values().stream().anyMatch((entry) -> !entry.stored)
				|| this.sequences.values().stream().anyMatch((sequence) -> sequence.running != null);
	}

	/**
	 * Begins to compare with what is in the store. What is under way counts as it is
	 * known here.
	 */
	public Comparison compare(MonotonicTime now) {
		return new Comparison(now);
	}

	/** Comparison with the store. Confined to the same thread. */
	public final class Comparison {

		private final MonotonicTime now;

		private final Set<Offset> found = new HashSet<>();

		private Comparison(MonotonicTime now) {
			this.now = now;
		}

		/**
		 * Processes a record in the store; repeating it changes nothing.
		 * @param hasFailed whether it waits for another attempt; otherwise it is due as
		 * soon as it is the first of its key
		 */
		public void found(@Nullable String key, Offset offset, long place, MonotonicTime due, boolean hasFailed) {
			this.found.add(offset);
			if (ParkedKeys.this.removals.contains(offset)) {
				return;
			}
			Entry known = ParkedKeys.this.entries.get(offset);
			if (known != null && (!known.stored || known.isRunning())) {
				return;
			}
			if (known != null) {
				remove(offset);
			}
			Entry entry = new Entry(sequence(key, offset, due), offset, place,
					(hasFailed || due.isBefore(this.now)) ? due : this.now);
			entry.stored = true;
			add(entry);
		}

		/**
		 * Ends the comparison: removes what the store does not have.
		 * @return the number of removed records
		 */
		public int end() {
			List<Offset> gone = ParkedKeys.this.entries.values()
				.stream()
				.filter((entry) -> entry.stored && !entry.isRunning() && !this.found.contains(entry.offset))
				.map((entry) -> entry.offset)
				.toList();
			gone.forEach(ParkedKeys.this::remove);
			return gone.size();
		}

	}

	/** Records of one key. */
	private static final class Sequence {

		private final Object key;

		private final NavigableSet<Entry> waiting = new TreeSet<>(BY_PLACE);

		/** Record that is handed out. */
		private @Nullable Entry running;

		/** Latest due time of its records in the store. */
		private MonotonicTime lastDue;

		Sequence(Object key, MonotonicTime due) {
			this.key = key;
			this.lastDue = due;
		}

		private void due(MonotonicTime due) {
			this.lastDue = this.lastDue.isBefore(due) ? due : this.lastDue;
		}

		Entry first() {
			return this.waiting.first();
		}

	}

	private static final class Entry {

		private final Sequence sequence;

		private final Offset offset;

		private final long place;

		private MonotonicTime due;

		private boolean stored;

		Entry(Sequence sequence, Offset offset, long place, MonotonicTime due) {
			this.sequence = sequence;
			this.offset = offset;
			this.place = place;
			this.due = due;
		}

		boolean isRunning() {
			return this.sequence.running == this;
		}

	}

}
