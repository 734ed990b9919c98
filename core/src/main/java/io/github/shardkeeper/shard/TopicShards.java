package io.github.shardkeeper.shard;

import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The shards of a topic: those numbered from 0, as a count, and any others by id, each
 * with the parents from which it was split or merged. A shard is consumed only after all
 * its parents were read to their end. Closed shards are included as long as they can be
 * read; their reader reports when the last record was delivered. Immutable.
 */
public final class TopicShards {

	/** Maximum number of shards of a topic. */
	public static final int MOST_SHARDS = 100_000;

	/** No shards. */
	public static final TopicShards NONE = new TopicShards(0, Collections.emptySortedMap(), false);

	private static final Comparator<String> BY_ID = Comparator.comparing((id) -> new ShardId("t", id));

	private final int count;

	/** Shards that the count does not cover, with their parents. */
	private final SortedMap<String, SortedSet<String>> others;

	private final boolean exact;

	private TopicShards(int count, SortedMap<String, SortedSet<String>> others, boolean exact) {
		this.count = count;
		this.others = others;
		this.exact = exact;
	}

	/**
	 * {@return the shards {@code 0} to {@code count - 1}, without parents}
	 * @param count the number of shards, 0 or more
	 */
	public static TopicShards count(int count) {
		if (count < 0) {
			throw new IllegalArgumentException("A count of " + count + " shards: it is at least 0");
		}
		return (count == 0) ? NONE : new TopicShards(count, Collections.emptySortedMap(), false);
	}

	/**
	 * Checks the number of shards of a topic.
	 * @param topic the topic
	 * @param shards the number of shards
	 * @throws IllegalArgumentException when the number exceeds {@link #MOST_SHARDS}
	 */
	public static void requirePossible(String topic, int shards) {
		Objects.requireNonNull(topic, "topic must not be null");
		if (shards > MOST_SHARDS) {
			throw new IllegalArgumentException(
					"A topic has at most %,d shards, so '%s' cannot have %,d".formatted(MOST_SHARDS, topic, shards));
		}
	}

	/**
	 * {@return shards with any ids and parents}
	 * @param parents by shard id the ids of its parents, none for an original shard
	 */
	public static TopicShards of(Map<String, ? extends Collection<String>> parents) {
		Objects.requireNonNull(parents, "parents must not be null");
		return NONE.with(parents);
	}

	/**
	 * {@return shards with any ids, without parents}
	 * @param ids the ids of the shards
	 */
	public static TopicShards ids(Collection<String> ids) {
		Objects.requireNonNull(ids, "ids must not be null");
		Map<String, Set<String>> alone = new TreeMap<>();
		ids.forEach((id) -> alone.put(id, Set.of()));
		return of(alone);
	}

	/**
	 * {@return these shards as an exact list} A shard that no instance lists any more is
	 * taken from its owner, and keeps its data. Without an exact list, shards that were
	 * consumed once are consumed until their reader reports the end.
	 */
	public TopicShards exactly() {
		return this.exact ? this : new TopicShards(this.count, this.others, true);
	}

	/** Returns whether this is an {@linkplain #exactly() exact list}. */
	public boolean isExact() {
		return this.exact;
	}

	/**
	 * {@return these shards and one more}
	 * @param id the id of the additional shard
	 * @param parents the ids of the shards from which it was split or merged
	 */
	public TopicShards with(String id, String... parents) {
		Objects.requireNonNull(id, "id must not be null");
		Objects.requireNonNull(parents, "parents must not be null");
		return with(Map.of(id, Set.of(parents)));
	}

	/**
	 * {@return these shards and more; one that exists already gets the parents of both}
	 * @param parents by shard id the ids of its parents
	 */
	public TopicShards with(Map<String, ? extends Collection<String>> parents) {
		Objects.requireNonNull(parents, "parents must not be null");
		return plus(this.count, parents);
	}

	/**
	 * {@return the union with the shards that another member knows, with the parents of
	 * both; either may be outdated; exact if both are}
	 * @param other the other shards
	 */
	public TopicShards and(TopicShards other) {
		Objects.requireNonNull(other, "other must not be null");
		boolean bothExact = this.exact && other.exact;
		if (equals(other) || this.exact == bothExact && other.others.isEmpty() && other.count <= this.count) {
			return this;
		}
		TopicShards union = plus(Math.max(this.count, other.count), other.others);
		return new TopicShards(union.count, union.others, bothExact);
	}

	/** Returns the same shards without parents. */
	public TopicShards withoutParents() {
		if (this.others.values().stream().allMatch(Set::isEmpty)) {
			return this;
		}
		TopicShards without = count(this.count).and(ids(this.others.keySet()));
		return this.exact ? without.exactly() : without;
	}

	private TopicShards plus(int atLeast, Map<String, ? extends Collection<String>> parents) {
		SortedMap<String, SortedSet<String>> all = new TreeMap<>(BY_ID);
		this.others.forEach((id, known) -> all.put(id, new TreeSet<>(known)));
		parents.forEach((id, more) -> {
			SortedSet<String> known = all.computeIfAbsent(id, (i) -> new TreeSet<>(BY_ID));
			more.forEach((parent) -> known.add(new ShardId("t", parent).id()));
			if (known.contains(id)) {
				throw new IllegalArgumentException("The shard '" + id + "' is its own parent");
			}
		});
		int numbered = atLeast;
		while (hasNoParents(all, numbered)) {
			numbered++;
		}
		int counted = numbered;
		all.entrySet().removeIf((entry) -> entry.getValue().isEmpty() && isCounted(entry.getKey(), counted));
		return new TopicShards(counted, all, this.exact);
	}

	private static boolean hasNoParents(Map<String, SortedSet<String>> all, int number) {
		SortedSet<String> parents = all.get(Integer.toString(number));
		return parents != null && parents.isEmpty();
	}

	private static boolean isCounted(String id, int count) {
		int number = ShardId.number(id);
		return number >= 0 && number < count;
	}

	/** Returns the number of shards numbered from 0; some may still have parents. */
	public int count() {
		return this.count;
	}

	/**
	 * {@return the shards that have parents or are not covered by the count: by id the
	 * ids of their parents; unmodifiable}
	 */
	public SortedMap<String, SortedSet<String>> others() {
		return Collections.unmodifiableSortedMap(this.others);
	}

	/** Returns the number of all shards. */
	public int size() {
		return this.count + (int) this.others.keySet().stream().filter((id) -> !isCounted(id, this.count)).count();
	}

	/**
	 * {@return whether a shard is among these}
	 * @param id the id of the shard
	 */
	public boolean contains(String id) {
		Objects.requireNonNull(id, "id must not be null");
		return this.others.containsKey(id) || isCounted(id, this.count);
	}

	/**
	 * {@return the ids of a shard's parents; empty for an original or unknown shard}
	 * @param id the id of the shard
	 */
	public Set<String> parents(String id) {
		Objects.requireNonNull(id, "id must not be null");
		SortedSet<String> parents = this.others.get(id);
		return (parents != null) ? Collections.unmodifiableSet(parents) : Set.of();
	}

	/**
	 * Calls an action for each shard.
	 * @param topic the name of the topic
	 * @param action the action
	 */
	public void forEach(String topic, Consumer<ShardId> action) {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(action, "action must not be null");
		for (int number = 0; number < this.count; number++) {
			action.accept(ShardId.of(topic, number));
		}
		for (String id : this.others.keySet()) {
			if (!isCounted(id, this.count)) {
				action.accept(new ShardId(topic, id));
			}
		}
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof TopicShards shards && this.count == shards.count && this.exact == shards.exact
				&& this.others.equals(shards.others);
	}

	@Override
	public int hashCode() {
		return 31 * this.count + this.others.hashCode();
	}

	@Override
	public String toString() {
		return this.others.isEmpty() ? Integer.toString(this.count) : this.count + " and " + this.others;
	}

}
