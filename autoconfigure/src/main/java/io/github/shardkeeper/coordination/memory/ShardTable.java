package io.github.shardkeeper.coordination.memory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * What a group knows about its shards, with the order of their changes, whole and for
 * each member. Confined to the lock of its store.
 */
final class ShardTable {

	private final Map<ShardId, Ownership> records = new HashMap<>();

	/** All shards that were ever owned, by the generation of their last change. */
	private final NavigableMap<Long, Ownership> changes = new TreeMap<>();

	/** The same for the shards of which a member is owner or target. */
	private final Map<MemberId, NavigableMap<Long, Ownership>> concerns = new HashMap<>();

	/**
	 * Shards of which the owner was told again since their last change, and when: there
	 * they stand under that generation, everywhere else under that of the change.
	 */
	private final Map<ShardId, Long> toldAgain = new HashMap<>();

	private long generation;

	ShardTable copy() {
		ShardTable copy = new ShardTable();
		copy.records.putAll(this.records);
		copy.changes.putAll(this.changes);
		this.concerns.forEach((member, shards) -> copy.concerns.put(member, new TreeMap<>(shards)));
		copy.toldAgain.putAll(this.toldAgain);
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
		return List.copyOf(this.changes.tailMap(after, false).values());
	}

	/** What a member owns or is to get, in the order of the last changes. */
	List<Ownership> concerning(MemberId member, long after, int limit) {
		return shardsOf(member).tailMap(after, false).values().stream().limit(limit).toList();
	}

	boolean concernsNothing(MemberId member) {
		return shardsOf(member).isEmpty();
	}

	/** Only the member is no longer told of the shard; its record stays as it is. */
	void forget(MemberId member, Ownership shard) {
		shardsOf(member).remove(shard.generation());
	}

	/** The owner is told of a shard as if it had changed; nobody else is. */
	void tellOwnerAgain(Ownership owned) {
		unindex(owned.owner(), asTold(owned));
		Ownership again = next(owned);
		this.toldAgain.put(again.shard(), again.generation());
		index(again.owner(), again);
	}

	private Ownership asTold(Ownership owned) {
		Long again = this.toldAgain.get(owned.shard());
		return (again != null) ? at(again, owned) : owned;
	}

	private Ownership next(Ownership shard) {
		return at(++this.generation, shard);
	}

	private static Ownership at(long generation, Ownership shard) {
		return new Ownership(shard.shard(), shard.phase(), shard.token(), shard.owner(), shard.target(), generation,
				shard.sinceMillis(), shard.untilMillis());
	}

	/** The generation of what is given does not matter: it gets the next one. */
	void write(Ownership wanted) {
		Ownership now = next(wanted);
		Ownership before = this.records.put(now.shard(), now);
		if (before != null) {
			this.changes.remove(before.generation());
			unindex(before.owner(), asTold(before));
			this.toldAgain.remove(before.shard());
			unindex(before.target(), before);
		}
		this.changes.put(now.generation(), now);
		index(now.owner(), now);
		index(now.target(), now);
	}

	private void unindex(@Nullable MemberId member, Ownership shard) {
		if (member != null) {
			forget(member, shard);
		}
	}

	private void index(@Nullable MemberId member, Ownership shard) {
		if (member != null) {
			this.concerns.computeIfAbsent(member, (id) -> new TreeMap<>()).put(shard.generation(), shard);
		}
	}

	private NavigableMap<Long, Ownership> shardsOf(MemberId member) {
		return this.concerns.getOrDefault(member, new TreeMap<>());
	}

}
