package io.github.shardkeeper.protocol;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.Ownership.Phase;
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
		List<RestartingInstance> away) {

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

	/**
	 * An instance that has left its group for a restart. Its shards are released, with
	 * their state saved, and kept for it: its next session gets them, unless it returns
	 * too late. Immutable.
	 *
	 * @param instance the id of the instance
	 * @param description the description of its last member
	 * @param sinceMillis the time at which it left, in milliseconds of the store's time
	 * @param untilMillis the time until which its shards are kept, in milliseconds of the
	 * store's time
	 */
	public record RestartingInstance(String instance, MemberDescription description, long sinceMillis,
			long untilMillis) {

		/** Sessions have names of small letters and digits: none has this one. */
		private static final String SESSION = "AWAY";

		/** Refuses a name that no instance can have. */
		public RestartingInstance {
			idOf(instance);
		}

		/**
		 * Returns the id that stands for an instance without a session: the target of the
		 * shards that are kept for it.
		 */
		public static MemberId idOf(String instance) {
			return MemberId.of(instance, SESSION);
		}

		/** Returns whether an id stands for an instance without a session. */
		public static boolean isIdOf(@Nullable MemberId id) {
			return id != null && id.value().endsWith("~" + SESSION);
		}

		/**
		 * {@return the instance for which a shard is kept; {@code null} for none}
		 */
		public static @Nullable String keptFor(@Nullable Ownership shard) {
			MemberId target = (shard != null && shard.phase() == Phase.QUIET) ? shard.target() : null;
			return (target != null && isIdOf(target)) ? target.instance() : null;
		}

		/**
		 * {@return the id that stands for this instance}
		 */
		public MemberId id() {
			return idOf(this.instance);
		}

	}

}
