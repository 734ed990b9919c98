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
 * The shards of a group in their order, numbered from 0, so that what is known of them
 * can be kept in arrays: topics by name and each topic's shards in one piece, by id.
 * Immutable.
 */
public final class Shards {

	/** None. */
	public static final Shards NONE = new Shards(List.of());

	private final ShardId[] inOrder;

	private final List<String> topics = new ArrayList<>();

	/** By topic, the number of its first shard; and the number of all at the end. */
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
	 * Puts shards into their order.
	 * @param shards the shards, in any order
	 * @return them
	 */
	public static Shards of(Collection<ShardId> shards) {
		Objects.requireNonNull(shards, "shards must not be null");
		return new Shards(new TreeSet<>(shards));
	}

	/**
	 * These and some more. Takes a single pass over these.
	 * @param added the further ones; those that are there already are ignored
	 * @return all of them, numbered anew
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
	 * Some of these.
	 * @param wanted which ones
	 * @return them, numbered anew
	 */
	public Shards only(Predicate<ShardId> wanted) {
		Objects.requireNonNull(wanted, "wanted must not be null");
		return new Shards(asList().stream().filter(wanted).toList());
	}

	public int size() {
		return this.inOrder.length;
	}

	/**
	 * The shard with a number.
	 * @param shard its number
	 * @return the shard
	 */
	public ShardId get(int shard) {
		return this.inOrder[shard];
	}

	/**
	 * A shard's number.
	 * @param shard the shard
	 * @return its number, -1 for one that is not among these
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
	 * All of them.
	 * @return an unmodifiable list, in their order
	 */
	public List<ShardId> asList() {
		return Collections.unmodifiableList(Arrays.asList(this.inOrder));
	}

	/**
	 * The topics.
	 * @return an unmodifiable list, in their order
	 */
	public List<String> topics() {
		return Collections.unmodifiableList(this.topics);
	}

	/**
	 * The number of a topic's first shard.
	 * @param topic the topic's place in {@link #topics()}
	 * @return the shard's number
	 */
	public int begin(int topic) {
		return this.begins[topic];
	}

	/**
	 * Behind the number of a topic's last shard.
	 * @param topic the topic's place in {@link #topics()}
	 * @return that number and one
	 */
	public int end(int topic) {
		return this.begins[topic + 1];
	}

	@Override
	public String toString() {
		return asList().toString();
	}

}
