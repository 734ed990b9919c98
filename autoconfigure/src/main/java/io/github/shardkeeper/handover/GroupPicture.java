package io.github.shardkeeper.handover;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * The leader's picture of its group: read whole once, then kept up with differences. Not
 * thread-safe: confined to the coordinator's loop.
 */
public final class GroupPicture {

	private final SortedMap<ShardId, Ownership> ownerships = new TreeMap<>();

	private List<GroupMember> members = List.of();

	private long generation;

	private long membership = -1;

	/**
	 * Takes in a difference.
	 * @param changes what changed since {@link #generation()} and {@link #membership()}
	 */
	public void apply(GroupChanges changes) {
		changes.ownerships().forEach((ownership) -> this.ownerships.put(ownership.shard(), ownership));
		List<GroupMember> changedMembers = changes.members();
		if (changedMembers != null) {
			this.members = List.copyOf(changedMembers);
		}
		this.generation = changes.generation();
		this.membership = changes.membership();
	}

	public long generation() {
		return this.generation;
	}

	public long membership() {
		return this.membership;
	}

	public List<GroupMember> members() {
		return this.members;
	}

	public Collection<Ownership> ownerships() {
		return Collections.unmodifiableCollection(this.ownerships.values());
	}

	public @Nullable Ownership ownership(ShardId shard) {
		return this.ownerships.get(shard);
	}

}
