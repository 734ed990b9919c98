package io.github.shardkeeper.handover;

import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Tenure;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * Turns the picture of a group and a strategy's answer into the transitions between them.
 * Immutable.
 */
final class Planner {

	private final HandoverRules rules;

	private final Supplier<Map<String, Integer>> ownTopics;

	private final AssignmentStrategy strategy;

	/**
	 * Creates a planner.
	 * @param rules how many shards may be drained at once, and for how long
	 * @param ownTopics the leader's own topics with their shard counts, which win over
	 * what other members were configured with
	 * @param strategy decides the owners
	 */
	Planner(HandoverRules rules, Supplier<Map<String, Integer>> ownTopics, AssignmentStrategy strategy) {
		this.rules = rules;
		this.ownTopics = ownTopics;
		this.strategy = strategy;
	}

	/**
	 * Plans.
	 * @param picture the group
	 * @param nowMillis the store's time, or a little earlier
	 * @param claimsUntilMillis until when free shards may be claimed by who holds them,
	 * in the store's time
	 */
	Plan plan(GroupPicture picture, long nowMillis, long claimsUntilMillis) {
		SortedMap<MemberId, Assignee> members = new TreeMap<>();
		for (GroupMember member : picture.members()) {
			if (!member.leaving()) {
				MemberDescription description = member.description();
				members.put(member.id(), new Assignee(description.topicShards().keySet(), description.version()));
			}
		}
		SortedSet<ShardId> shards = shards(picture);
		Map<ShardId, Tenure> current = new HashMap<>();
		for (Ownership ownership : picture.ownerships()) {
			MemberId member = current(ownership, members);
			if (member != null) {
				current.put(ownership.shard(), new Tenure(member, ownership.generation()));
			}
		}
		Map<ShardId, MemberId> owners = this.strategy.assign(new AssignmentRequest(members, shards, current));
		PlanBuilder plan = new PlanBuilder(this.rules, nowMillis, claimsUntilMillis);
		for (ShardId shard : shards) {
			MemberId wanted = owners.get(shard);
			if (wanted != null && !canOwn(members.get(wanted), shard)) {
				throw new IllegalStateException(
						"The assignment strategy gives %s to %s, who does not consume that topic".formatted(shard,
								wanted));
			}
			plan.add(shard, picture.ownership(shard), wanted, members.keySet());
		}
		return plan.build();
	}

	/**
	 * Who has a shard or is to get it; while it is released for somebody who is gone, its
	 * owner.
	 */
	private static @Nullable MemberId current(Ownership ownership, Map<MemberId, Assignee> members) {
		MemberId destination = ownership.destination();
		boolean reachable = destination != null && canOwn(members.get(destination), ownership.shard());
		return (!reachable && ownership.phase() == ShardPhase.REVOKING) ? ownership.owner() : destination;
	}

	private static boolean canOwn(@Nullable Assignee member, ShardId shard) {
		return member != null && member.topics().contains(shard.topic());
	}

	/**
	 * All shards there are: those that the store knows (a shard with data is never
	 * forgotten because somebody lowered a number) and those of the configured topics,
	 * where the leader's own numbers win. Not those that have come to their end.
	 */
	SortedSet<ShardId> shards(GroupPicture picture) {
		Map<String, Integer> topics = new TreeMap<>(this.ownTopics.get());
		picture.members().forEach((member) -> member.description().topicShards().forEach(topics::putIfAbsent));
		SortedSet<ShardId> shards = new TreeSet<>();
		topics.forEach((topic, count) -> {
			for (int number = 0; number < count; number++) {
				shards.add(ShardId.of(topic, number));
			}
		});
		for (Ownership ownership : picture.ownerships()) {
			if (ownership.phase() == ShardPhase.COMPLETED) {
				shards.remove(ownership.shard());
			}
			else {
				shards.add(ownership.shard());
			}
		}
		return shards;
	}

}
