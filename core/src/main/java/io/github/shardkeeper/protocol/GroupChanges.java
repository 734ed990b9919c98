package io.github.shardkeeper.protocol;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;

/**
 * The changes of a group since a generation. Immutable.
 *
 * @param leader the leader, or {@code null}
 * @param epoch the number of the leadership
 * @param generation the generation of the group
 * @param membership the version of the list of members
 * @param whole whether the store has forgotten shards since then: the changes are
 * complete and replace everything known before
 * @param members all members; {@code null} if their list has not changed
 * @param ownerships the changed shards, in the order of their change
 */
public record GroupChanges(@Nullable MemberId leader, long epoch, long generation, long membership, boolean whole,
		@Nullable List<GroupMember> members, List<Ownership> ownerships) {

	/** Creates changes without forgotten shards. */
	public GroupChanges(@Nullable MemberId leader, long epoch, long generation, long membership,
			@Nullable List<GroupMember> members, List<Ownership> ownerships) {
		this(leader, epoch, generation, membership, false, members, ownerships);
	}

	/**
	 * A member in the store. Immutable.
	 *
	 * @param leaving whether it is leaving: it consumes what it owns, and gets no more
	 * shards
	 */
	public record GroupMember(MemberId id, MemberDescription description, boolean leaving) {

	}

}
