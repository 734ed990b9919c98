package io.github.shardkeeper.coordination.memory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * What a group knows about its shards, with the order of their changes, whole and for
 * each member. Confined to the lock of its store.
 */
final class ShardTable {

	private final Map<ShardId, Ownership> records = new HashMap<>();

	/** All shards that were ever owned. */
	private final Index changes = new Index();

	/**
	 * Those that a member is told of: it owns them, or is to get them, or has lost them.
	 */
	private final Map<MemberId, Index> concerns = new HashMap<>();

	private long generation;

	ShardTable copy() {
		ShardTable copy = new ShardTable();
		copy.records.putAll(this.records);
		copy.changes.putAll(this.changes);
		this.concerns.forEach((member, index) -> copy.concernsOf(member).putAll(index));
		copy.generation = this.generation;
		return copy;
	}

	long generation() {
		return this.generation;
	}

	@Nullable Ownership get(ShardId shard) {
		return this.records.get(shard);
	}

	List<Ownership> changedSince(long after) {
		return this.changes.after(after, Integer.MAX_VALUE);
	}

	/** What a member is told of, in the order of the last changes. */
	List<Ownership> concerning(MemberId member, long after, int limit) {
		return concernsOf(member).after(after, limit);
	}

	boolean concernsNothing(MemberId member) {
		return concernsOf(member).isEmpty();
	}

	/** Nothing names the shard any more. */
	void forget(ShardId shard) {
		this.generation++;
		this.records.remove(shard);
		this.changes.remove(shard);
		this.concerns.values().forEach((index) -> index.remove(shard));
	}

	/** Only the member is no longer told of the shard; its record stays as it is. */
	void forget(MemberId member, Ownership shard) {
		concernsOf(member).remove(shard.shard());
	}

	/** The owner is told of a shard as if it had changed; nobody else is. */
	void tellOwnerAgain(Ownership owned) {
		index(owned.owner(), owned.shard(), ++this.generation);
	}

	/** A member that owned a shard is told that it does not any more. */
	void tellDisplaced(MemberId member, ShardId shard) {
		index(member, shard, Objects.requireNonNull(this.records.get(shard)).generation());
	}

	/** The generation of what is given does not matter: it gets the next one. */
	void write(Ownership wanted) {
		Ownership now = at(++this.generation, wanted);
		Ownership before = this.records.put(now.shard(), now);
		if (before != null) {
			unindex(before.owner(), before);
			unindex(before.target(), before);
		}
		this.changes.put(now.shard(), this.generation);
		index(now.owner(), now.shard(), this.generation);
		index(now.target(), now.shard(), this.generation);
	}

	private static Ownership at(long generation, Ownership shard) {
		return new Ownership(shard.shard(), shard.phase(), shard.token(), shard.owner(), shard.target(), generation,
				shard.sinceMillis(), shard.untilMillis());
	}

	private void unindex(@Nullable MemberId member, Ownership shard) {
		if (member != null) {
			forget(member, shard);
		}
	}

	private void index(@Nullable MemberId member, ShardId shard, long at) {
		if (member != null) {
			concernsOf(member).put(shard, at);
		}
	}

	private Index concernsOf(MemberId member) {
		return this.concerns.computeIfAbsent(member, (id) -> new Index());
	}

	/** Shards, each once, in the order of generations. */
	private final class Index {

		private final NavigableMap<Long, ShardId> order = new TreeMap<>();

		private final Map<ShardId, Long> generations = new HashMap<>();

		void put(ShardId shard, long at) {
			remove(shard);
			this.generations.put(shard, at);
			this.order.put(at, shard);
		}

		void putAll(Index other) {
			this.order.putAll(other.order);
			this.generations.putAll(other.generations);
		}

		void remove(ShardId shard) {
			Long at = this.generations.remove(shard);
			if (at != null) {
				this.order.remove(at);
			}
		}

		boolean isEmpty() {
			return this.order.isEmpty();
		}

		/** What is known of them now, under the generation that they have here. */
		List<Ownership> after(long generation, int limit) {
			return this.order.tailMap(generation, false)
				.entrySet()
				.stream()
				.limit(limit)
				.map((entry) -> at(entry.getKey(),
						Objects.requireNonNull(ShardTable.this.records.get(entry.getValue()))))
				.toList();
		}

	}

}
