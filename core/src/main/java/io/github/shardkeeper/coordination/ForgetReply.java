package io.github.shardkeeper.coordination;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The result of forgetting the shards of a topic. Immutable.
 *
 * @param forgotten the number of shards that were forgotten; may be above 0 although
 * there are users, if these have joined meanwhile
 * @param newest a token that is not below any of the forgotten shards' and below all
 * future ones
 * @param users the members that still use the topic, because they consume it, own a shard
 * of it or are the target of one; none if the topic is forgotten
 */
public record ForgetReply(int forgotten, Token newest, SortedSet<MemberId> users) {

	public ForgetReply {
		users = Collections.unmodifiableSortedSet(new TreeSet<>(users));
	}

	/**
	 * Creates the exception for a group that may not know all owners yet.
	 * @param topic the topic to forget
	 * @return the exception; a retry makes sense
	 */
	public static StoreUnavailableException claimsOpen(String topic) {
		return new StoreUnavailableException(
				("'%s' cannot be forgotten now: the group was just created or rebuilt, and members "
						+ "may still claim shards that it does not know. Try again in a few seconds, while an instance of the "
						+ "group is running")
					.formatted(topic),
				null);
	}

	/**
	 * Finds the members that use a topic.
	 * @param topic the topic
	 * @param group the whole group
	 * @return the members
	 */
	public static SortedSet<MemberId> users(String topic, GroupChanges group) {
		List<GroupMember> members = (group.members() != null) ? group.members() : List.of();
		SortedSet<MemberId> users = new TreeSet<>();
		Set<MemberId> others = new HashSet<>();
		for (GroupMember member : members) {
			(member.description().topicShards().containsKey(topic) ? users : others).add(member.id());
		}
		for (Ownership ownership : ownerships(topic, group)) {
			addIfMember(ownership.owner(), others, users);
			addIfMember(ownership.target(), others, users);
		}
		return users;
	}

	private static void addIfMember(@Nullable MemberId member, Set<MemberId> members, Set<MemberId> users) {
		if (member != null && members.contains(member)) {
			users.add(member);
		}
	}

	/**
	 * Finds the shards of a topic.
	 * @param topic the topic
	 * @param group the whole group
	 * @return the shards
	 */
	public static List<ShardId> shards(String topic, GroupChanges group) {
		return ownerships(topic, group).stream().map(Ownership::shard).toList();
	}

	private static List<Ownership> ownerships(String topic, GroupChanges group) {
		return group.ownerships().stream().filter((ownership) -> ownership.shard().topic().equals(topic)).toList();
	}

}
