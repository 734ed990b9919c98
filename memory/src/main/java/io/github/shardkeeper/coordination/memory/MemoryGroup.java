package io.github.shardkeeper.coordination.memory;

import java.util.List;
import java.util.function.Supplier;

import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Token;

/**
 * The group within a transition of {@link MemoryCoordinationStore#transition}, for what
 * others keep beside it. Valid only during the transition.
 */
public interface MemoryGroup {

	/** Returns the store's time in milliseconds. */
	long nowMillis();

	/** Returns a token that is higher than every earlier one, also of shards. */
	Token nextToken();

	/** Returns whether members may still claim what they held before a loss. */
	boolean isInClaimPeriod();

	/** Returns the version of the members. */
	long membership();

	/** Returns whether the group knows a session. */
	boolean isMember(MemberId member);

	/** Returns whether the group knows a session and its lease has not ended. */
	boolean hasLease(MemberId member);

	/** Returns the members, ordered by id. */
	List<GroupMember> members();

	/**
	 * Returns what is kept beside the group, and is lost and restored together with it.
	 */
	<T extends Attachment> T attachment(Class<T> type, Supplier<T> initial);

	/** Returns all that is kept beside the group and has a type. */
	<T> List<T> attachments(Class<T> type);

	/** State that is kept beside the group. Confined to its transitions. */
	interface Attachment {

		/** Returns a copy that later changes of this one do not affect. */
		Attachment copy();

	}

}
