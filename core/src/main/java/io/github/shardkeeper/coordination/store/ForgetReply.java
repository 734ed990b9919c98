package io.github.shardkeeper.coordination.store;

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
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The result of forgetting the shards of a topic. Immutable.
 *
 * @param forgotten the number of forgotten shards; may be above 0 although there are
 * users, if these have joined meanwhile
 * @param newest a token that is not below any of the forgotten shards' and below all
 * future ones
 * @param users the members that still consume the topic, own a shard of it or are its
 * target, and the instances that do so and are away for a restart
 */
public record ForgetReply(int forgotten, Token newest, SortedSet<MemberId> users) {

	public ForgetReply {
		users = Collections.unmodifiableSortedSet(new TreeSet<>(users));
	}

	/** Returns the exception while owners may be unknown; a retry makes sense. */
	public static StoreUnavailableException claimsOpen(String topic) {
		return new StoreUnavailableException(
				("'%s' cannot be forgotten now: the group was just created or rebuilt, and members "
						+ "may still claim shards that it does not know. Try again in a few seconds, while an instance of the "
						+ "group is running")
					.formatted(topic),
				null);
	}

	/** Returns the members that use a topic. */
	public static SortedSet<MemberId> users(String topic, GroupChanges group) {
		List<GroupMember> members = (group.members() != null) ? group.members() : List.of();
		SortedSet<MemberId> users = new TreeSet<>();
		Set<MemberId> others = new HashSet<>();
		for (GroupMember member : members) {
			(member.description().topicShards().containsKey(topic) ? users : others).add(member.id());
		}
		for (RestartingInstance away : group.away()) {
			if (away.description().topicShards().containsKey(topic)) {
				users.add(away.id());
			}
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

	/** Returns the shards of a topic. */
	public static List<ShardId> shards(String topic, GroupChanges group) {
		return ownerships(topic, group).stream().map(Ownership::shard).toList();
	}

	private static List<Ownership> ownerships(String topic, GroupChanges group) {
		return group.ownerships().stream().filter((ownership) -> ownership.shard().topic().equals(topic)).toList();
	}

}
