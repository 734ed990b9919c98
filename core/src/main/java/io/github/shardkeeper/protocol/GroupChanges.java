package io.github.shardkeeper.protocol;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;

/**
 * What has changed in a group since a generation. Immutable.
 *
 * @param leader the leader, or {@code null}
 * @param epoch the leadership's number
 * @param generation the group's generation
 * @param membership the version of the list of members
 * @param whole whether the store has forgotten shards since: what is told is all there
 * is, and takes the place of what was known
 * @param members all members, or {@code null} when their list has not changed
 * @param ownerships the shards that changed, in the order of their change
 */
public record GroupChanges(@Nullable MemberId leader, long epoch, long generation, long membership, boolean whole,
		@Nullable List<GroupMember> members, List<Ownership> ownerships) {

	/**
	 * What has changed where no shard was forgotten.
	 * @param leader the leader, or {@code null}
	 * @param epoch the leadership's number
	 * @param generation the group's generation
	 * @param membership the version of the list of members
	 * @param members all members, or {@code null} when their list has not changed
	 * @param ownerships the shards that changed, in the order of their change
	 */
	public GroupChanges(@Nullable MemberId leader, long epoch, long generation, long membership,
			@Nullable List<GroupMember> members, List<Ownership> ownerships) {
		this(leader, epoch, generation, membership, false, members, ownerships);
	}

	/**
	 * A member as the store knows it. Immutable.
	 *
	 * @param id its id
	 * @param description what it said about itself
	 * @param leaving whether it has announced that it leaves: it keeps consuming what it
	 * owns, and gets nothing new
	 */
	public record GroupMember(MemberId id, MemberDescription description, boolean leaving) {

	}

}
