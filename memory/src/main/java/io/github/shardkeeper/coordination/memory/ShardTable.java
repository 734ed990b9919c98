package io.github.shardkeeper.coordination.memory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * The shards of a group, in the order of their changes, in total and for each member.
 * Confined to the lock of its store.
 */
final class ShardTable {

	private final Map<ShardId, Ownership> records = new HashMap<>();

	/** All shards that ever had an owner. */
	private final Index changes = new Index();

	/** Shards that a member reads: it owns them, is their target, or has lost them. */
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

	List<Ownership> concerning(MemberId member, long after, int limit) {
		return concernsOf(member).after(after, limit);
	}

	boolean concernsNothing(MemberId member) {
		return concernsOf(member).isEmpty();
	}

	void forget(ShardId shard) {
		this.generation++;
		this.records.remove(shard);
		this.changes.remove(shard);
		this.concerns.values().forEach((index) -> index.remove(shard));
	}

	/** Removes a shard from those that a member reads; the shard does not change. */
	void forget(MemberId member, Ownership shard) {
		concernsOf(member).remove(shard.shard());
	}

	/** Reports a shard again, to its owner only, as if it had changed. */
	void tellOwnerAgain(Ownership owned) {
		index(owned.owner(), owned.shard(), ++this.generation);
	}

	/** Returns a shard to a former owner, which learns that it has lost it. */
	void tellDisplaced(MemberId member, ShardId shard) {
		index(member, shard, Objects.requireNonNull(this.records.get(shard)).generation());
	}

	/** Ignores the given generation: the next one counts. */
	void write(Ownership wanted) {
		Ownership now = at(++this.generation, wanted);
		Ownership before = this.records.put(now.shard(), now);
		if (before != null) {
			unindex(before.owner(), before);
			unindex(before.target(), before);
		}
		this.changes.put(now.shard(), this.generation);
		index(now.owner(), now.shard(), this.generation);
		if (!RestartingInstance.isIdOf(now.target())) {
			index(now.target(), now.shard(), this.generation);
		}
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

		List<Ownership> after(long generation, int limit) {
			// So it is for nearly every heartbeat.
			if (this.order.isEmpty() || this.order.lastKey() <= generation) {
				return List.of();
			}
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
