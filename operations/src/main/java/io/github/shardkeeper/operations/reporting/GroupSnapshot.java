package io.github.shardkeeper.operations.reporting;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A group as it was read from the store. Immutable.
 *
 * @param readWholeAt the time at which all of it was read; later changes are included
 * @param silent the members whose lease is over, with its end in milliseconds of the
 * store's time
 * @param away the instances that have left for a restart and have not returned
 */
public record GroupSnapshot(MonotonicTime readWholeAt, @Nullable MemberId leader, long epoch, long generation,
		long membership, List<GroupMember> members, NavigableMap<ShardId, Ownership> shards, Map<MemberId, Long> silent,
		List<RestartingInstance> away) {

	/**
	 * Time for which a picture is continued. If the store has lost writes and made others
	 * since, its changes do not show the loss: after this time a reading of the whole
	 * group does.
	 */
	static final Duration CONTINUED = Duration.ofSeconds(10);

	/** Number of shards that one step reads in any case. */
	private static final int SMALL = 500;

	/** Reads the group; only what has changed if a picture of a large group is known. */
	static GroupSnapshot read(CoordinationStore store, @Nullable GroupSnapshot known, MonotonicTime now) {
		if (known == null || known.shards.size() <= SMALL || known.readWholeAt.until(now).compareTo(CONTINUED) >= 0) {
			return whole(store, now);
		}
		GroupChanges changes = store.readChanges(known.generation, known.membership);
		boolean lost = changes.generation() < known.generation || changes.epoch() < known.epoch
				|| changes.membership() < known.membership;
		return lost ? whole(store, now) : known.with(changes);
	}

	private static GroupSnapshot whole(CoordinationStore store, MonotonicTime now) {
		return new GroupSnapshot(now, null, 0, 0, -1, List.of(), Collections.emptyNavigableMap(), Map.of(), List.of())
			.with(store.readChanges(0, -1));
	}

	private GroupSnapshot with(GroupChanges changes) {
		List<GroupMember> changedMembers = changes.members();
		NavigableMap<ShardId, Ownership> known = this.shards;
		if (changes.whole() || !changes.ownerships().isEmpty()) {
			NavigableMap<ShardId, Ownership> changed = changes.whole() ? new TreeMap<>() : new TreeMap<>(known);
			changes.ownerships().forEach((ownership) -> changed.put(ownership.shard(), ownership));
			known = Collections.unmodifiableNavigableMap(changed);
		}
		return new GroupSnapshot(this.readWholeAt, changes.leader(), changes.epoch(), changes.generation(),
				changes.membership(), (changedMembers != null) ? List.copyOf(changedMembers) : this.members, known,
				changes.silent(), (changedMembers != null) ? changes.away() : this.away);
	}

}
