package io.github.shardkeeper.protocol;

import java.util.List;
import java.util.Map;

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
 * @param silent all members whose lease is over and whose session is not, whether that
 * has changed or not: the end of their lease, in milliseconds of the store's time
 * @param away the instances that have left for a restart and whose time is not over;
 * empty if the list of members has not changed
 */
public record GroupChanges(@Nullable MemberId leader, long epoch, long generation, long membership, boolean whole,
		@Nullable List<GroupMember> members, List<Ownership> ownerships, Map<MemberId, Long> silent,
		List<AwayInstance> away) {

	public GroupChanges {
		silent = Map.copyOf(silent);
		away = List.copyOf(away);
	}

	/** Creates changes of a group in which no instance is away. */
	public GroupChanges(@Nullable MemberId leader, long epoch, long generation, long membership, boolean whole,
			@Nullable List<GroupMember> members, List<Ownership> ownerships, Map<MemberId, Long> silent) {
		this(leader, epoch, generation, membership, whole, members, ownerships, silent, List.of());
	}

	/** Creates changes without forgotten shards, of a group in which nobody is silent. */
	public GroupChanges(@Nullable MemberId leader, long epoch, long generation, long membership,
			@Nullable List<GroupMember> members, List<Ownership> ownerships) {
		this(leader, epoch, generation, membership, false, members, ownerships, Map.of());
	}

	/**
	 * A member in the store. Immutable.
	 *
	 * @param leaving whether it is leaving: it consumes what it owns, and gets no more
	 * shards
	 * @param restarting whether it is leaving for a restart: the shards that it releases
	 * are kept for it
	 */
	public record GroupMember(MemberId id, MemberDescription description, boolean leaving, boolean restarting) {

		/** Creates a member that does not restart. */
		public GroupMember(MemberId id, MemberDescription description, boolean leaving) {
			this(id, description, leaving, false);
		}

	}

}
