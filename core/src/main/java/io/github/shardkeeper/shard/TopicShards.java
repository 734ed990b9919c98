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
 * The shards of one topic: those numbered from 0, as a count, and any others by their
 * ids, each perhaps with the shards that it was split or merged from. A shard is consumed
 * only after all its parents were read to their end.
 * <p>
 * Whether a shard is closed is not said here: its reader tells when its last record was
 * delivered. Shards that are closed belong here as long as they can be read. Immutable.
 */
public final class TopicShards {

	/** How many shards a topic may be given. */
	public static final int MOST_SHARDS = 100_000;

	/** None. */
	public static final TopicShards NONE = new TopicShards(0, Collections.emptySortedMap());

	/** Numbers by their value, all else behind them. */
	private static final Comparator<String> BY_ID = Comparator.comparing((id) -> new ShardId("t", id));

	private final int count;

	/** With their parents. None that the count says as well. */
	private final SortedMap<String, SortedSet<String>> others;

	private TopicShards(int count, SortedMap<String, SortedSet<String>> others) {
		this.count = count;
		this.others = others;
	}

	/**
	 * Shards {@code 0} to {@code count - 1}, without parents.
	 * @param count how many, 0 or more
	 * @return them
	 */
	public static TopicShards count(int count) {
		if (count < 0) {
			throw new IllegalArgumentException("A count of " + count + " shards: it is at least 0");
		}
		return (count == 0) ? NONE : new TopicShards(count, Collections.emptySortedMap());
	}

	/**
	 * Checks how many shards a topic is to be given.
	 * @param topic the topic
	 * @param shards how many
	 * @throws IllegalArgumentException when these are too many
	 */
	public static void requirePossible(String topic, int shards) {
		Objects.requireNonNull(topic, "topic must not be null");
		if (shards > MOST_SHARDS) {
			throw new IllegalArgumentException(
					"A topic has at most %,d shards, so '%s' cannot have %,d".formatted(MOST_SHARDS, topic, shards));
		}
	}

	/**
	 * Shards with any ids and parents.
	 * @param parents by shard id the ids of its parents, none for one that was there from
	 * the beginning
	 * @return them
	 */
	public static TopicShards of(Map<String, ? extends Collection<String>> parents) {
		Objects.requireNonNull(parents, "parents must not be null");
		return NONE.with(parents);
	}

	/**
	 * These and one more.
	 * @param id its id
	 * @param parents the ids of the shards that it was split or merged from
	 * @return all of them
	 */
	public TopicShards with(String id, String... parents) {
		Objects.requireNonNull(id, "id must not be null");
		Objects.requireNonNull(parents, "parents must not be null");
		return with(Map.of(id, Set.of(parents)));
	}

	/**
	 * These and some more.
	 * @param parents by shard id the ids of its parents
	 * @return all of them; what is here already has the parents from both
	 */
	public TopicShards with(Map<String, ? extends Collection<String>> parents) {
		Objects.requireNonNull(parents, "parents must not be null");
		return plus(this.count, parents);
	}

	/**
	 * What two together know of a topic, one of which may be behind.
	 * @param other what another one knows
	 * @return all shards of both, with the parents from both
	 */
	public TopicShards and(TopicShards other) {
		Objects.requireNonNull(other, "other must not be null");
		if (equals(other) || other.others.isEmpty() && other.count <= this.count) {
			return this;
		}
		return plus(Math.max(this.count, other.count), other.others);
	}

	/**
	 * The same shards as if each had been there from the beginning.
	 * @return them
	 */
	public TopicShards withoutParents() {
		if (this.others.values().stream().allMatch(Set::isEmpty)) {
			return this;
		}
		Map<String, Set<String>> alone = new TreeMap<>();
		this.others.keySet().forEach((id) -> alone.put(id, Set.of()));
		return count(this.count).with(alone);
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
		return new TopicShards(counted, all);
	}

	private static boolean hasNoParents(Map<String, SortedSet<String>> all, int number) {
		SortedSet<String> parents = all.get(Integer.toString(number));
		return parents != null && parents.isEmpty();
	}

	private static boolean isCounted(String id, int count) {
		int number = ShardId.number(id);
		return number >= 0 && number < count;
	}

	/**
	 * How many shards are numbered from 0 on.
	 * @return their number; some of them may have parents all the same
	 */
	public int count() {
		return this.count;
	}

	/**
	 * The shards that have parents, or are not among those that are counted.
	 * @return by id the ids of their parents; unmodifiable
	 */
	public SortedMap<String, SortedSet<String>> others() {
		return Collections.unmodifiableSortedMap(this.others);
	}

	/**
	 * How many shards there are.
	 * @return the number of all
	 */
	public int size() {
		return this.count + (int) this.others.keySet().stream().filter((id) -> !isCounted(id, this.count)).count();
	}

	/**
	 * Whether a shard is among these.
	 * @param id its id
	 * @return whether it is
	 */
	public boolean contains(String id) {
		Objects.requireNonNull(id, "id must not be null");
		return this.others.containsKey(id) || isCounted(id, this.count);
	}

	/**
	 * The parents of a shard.
	 * @param id its id
	 * @return their ids; none for one that has none, or is not among these
	 */
	public Set<String> parents(String id) {
		Objects.requireNonNull(id, "id must not be null");
		SortedSet<String> parents = this.others.get(id);
		return (parents != null) ? Collections.unmodifiableSet(parents) : Set.of();
	}

	/**
	 * Goes through all shards, each once.
	 * @param topic the topic's name
	 * @param action takes each shard
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
		return other instanceof TopicShards shards && this.count == shards.count && this.others.equals(shards.others);
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
