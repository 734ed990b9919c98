package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * Shards of a group, ordered by topic and id and numbered from 0, so that arrays can hold
 * what is known of them. Immutable.
 */
public final class Shards {

	/** No shards. */
	public static final Shards NONE = new Shards(List.of());

	private final ShardId[] inOrder;

	private final List<String> topics = new ArrayList<>();

	/** By topic, number of its first shard; at the end, number of all shards. */
	private final int[] begins;

	private volatile @Nullable Map<ShardId, Integer> numbers;

	private Shards(Collection<ShardId> shards) {
		this.inOrder = shards.toArray(ShardId[]::new);
		List<Integer> begins = new ArrayList<>();
		String topic = null;
		for (int shard = 0; shard < this.inOrder.length; shard++) {
			if (!this.inOrder[shard].topic().equals(topic)) {
				topic = this.inOrder[shard].topic();
				this.topics.add(topic);
				begins.add(shard);
			}
		}
		begins.add(this.inOrder.length);
		this.begins = begins.stream().mapToInt(Integer::intValue).toArray();
	}

	/**
	 * Returns shards in order.
	 * @param shards the shards, in any order
	 * @return the shards
	 */
	public static Shards of(Collection<ShardId> shards) {
		Objects.requireNonNull(shards, "shards must not be null");
		return new Shards(new TreeSet<>(shards));
	}

	/**
	 * Returns these shards and further ones. Takes a single pass over these.
	 * @param added the further shards; those that are here already are ignored
	 * @return all of them, with new numbers
	 */
	public Shards with(Collection<ShardId> added) {
		Objects.requireNonNull(added, "added must not be null");
		TreeSet<ShardId> further = new TreeSet<>(added);
		further.removeIf((shard) -> indexOf(shard) >= 0);
		if (further.isEmpty()) {
			return this;
		}
		List<ShardId> merged = new ArrayList<>(size() + further.size());
		ShardId next = further.pollFirst();
		for (ShardId shard : this.inOrder) {
			while (next != null && next.compareTo(shard) < 0) {
				merged.add(next);
				next = further.pollFirst();
			}
			merged.add(shard);
		}
		if (next != null) {
			merged.add(next);
			merged.addAll(further);
		}
		return new Shards(merged);
	}

	/**
	 * Returns some of these shards.
	 * @param wanted the condition
	 * @return the shards that meet it, with new numbers
	 */
	public Shards only(Predicate<ShardId> wanted) {
		Objects.requireNonNull(wanted, "wanted must not be null");
		return new Shards(asList().stream().filter(wanted).toList());
	}

	public int size() {
		return this.inOrder.length;
	}

	/**
	 * Returns the shard with a number.
	 * @param shard the number
	 * @return the shard
	 */
	public ShardId get(int shard) {
		return this.inOrder[shard];
	}

	/**
	 * Returns the number of a shard.
	 * @param shard the shard
	 * @return its number, -1 if it is not here
	 */
	public int indexOf(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		Map<ShardId, Integer> known = this.numbers;
		if (known == null) {
			known = new HashMap<>(size() * 2);
			for (int number = 0; number < size(); number++) {
				known.put(get(number), number);
			}
			this.numbers = known;
		}
		return known.getOrDefault(shard, -1);
	}

	/**
	 * Returns all shards.
	 * @return an unmodifiable list, in order
	 */
	public List<ShardId> asList() {
		return Collections.unmodifiableList(Arrays.asList(this.inOrder));
	}

	/**
	 * Returns the topics.
	 * @return an unmodifiable list, in order
	 */
	public List<String> topics() {
		return Collections.unmodifiableList(this.topics);
	}

	/**
	 * Returns the number of the first shard of a topic.
	 * @param topic the place of the topic in {@link #topics()}
	 * @return the number of the shard
	 */
	public int begin(int topic) {
		return this.begins[topic];
	}

	/**
	 * Returns the number after the last shard of a topic.
	 * @param topic the place of the topic in {@link #topics()}
	 * @return the number of its last shard plus one
	 */
	public int end(int topic) {
		return this.begins[topic + 1];
	}

	@Override
	public String toString() {
		return asList().toString();
	}

}
