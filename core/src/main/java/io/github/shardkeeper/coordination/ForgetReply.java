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
 * What became of a topic that was to be forgotten. Immutable.
 *
 * @param forgotten how many shards the group does not know any more; some may be
 * forgotten also where there are users, because the first of these came meanwhile
 * @param newest not below any token under which one of the shards was owned, and below
 * all that are given from now on
 * @param users the members that keep the topic from being forgotten, because they consume
 * it, or own a shard of it, or are to get one; none when it is forgotten
 */
public record ForgetReply(int forgotten, Token newest, SortedSet<MemberId> users) {

	public ForgetReply {
		users = Collections.unmodifiableSortedSet(new TreeSet<>(users));
	}

	/**
	 * The exception for a group that may not know yet who owns what.
	 * @param topic the topic that was to be forgotten
	 * @return it; a retry makes sense
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
	 * Finds the members that keep a topic from being forgotten.
	 * @param topic the topic
	 * @param group all that is known of the group
	 * @return them
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
	 * @param group all that is known of the group
	 * @return those that the group knows
	 */
	public static List<ShardId> shards(String topic, GroupChanges group) {
		return ownerships(topic, group).stream().map(Ownership::shard).toList();
	}

	private static List<Ownership> ownerships(String topic, GroupChanges group) {
		return group.ownerships().stream().filter((ownership) -> ownership.shard().topic().equals(topic)).toList();
	}

}
