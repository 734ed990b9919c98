package io.github.shardkeeper.handover;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.handover.Transition.Assign;
import io.github.shardkeeper.handover.Transition.Retarget;
import io.github.shardkeeper.handover.Transition.Revoke;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * Turns the picture of a group and a strategy's answer into the transitions between them.
 * Immutable.
 */
final class Planner {

	private final Supplier<Map<String, Integer>> ownTopics;

	private final AssignmentStrategy strategy;

	/**
	 * Creates a planner.
	 * @param ownTopics the leader's own topics with their shard counts, which win over
	 * what other members were configured with
	 * @param strategy decides the owners
	 */
	Planner(Supplier<Map<String, Integer>> ownTopics, AssignmentStrategy strategy) {
		this.ownTopics = ownTopics;
		this.strategy = strategy;
	}

	List<Transition> plan(GroupPicture picture) {
		SortedMap<MemberId, Assignee> members = new TreeMap<>();
		for (GroupMember member : picture.members()) {
			if (!member.leaving()) {
				MemberDescription description = member.description();
				members.put(member.id(), new Assignee(description.topicShards().keySet(), description.version()));
			}
		}
		SortedSet<ShardId> shards = shards(picture);
		Map<ShardId, MemberId> current = new HashMap<>();
		for (Ownership ownership : picture.ownerships()) {
			MemberId destination = ownership.destination();
			if (destination != null) {
				current.put(ownership.shard(), destination);
			}
		}
		Map<ShardId, MemberId> owners = this.strategy.assign(new AssignmentRequest(members, shards, current));
		List<Transition> transitions = new ArrayList<>();
		for (ShardId shard : shards) {
			MemberId wanted = owners.get(shard);
			if (wanted != null && !canOwn(members.get(wanted), shard)) {
				throw new IllegalStateException(
						"The assignment strategy gives %s to %s, who does not consume that topic".formatted(shard,
								wanted));
			}
			Transition transition = transition(shard, picture.ownership(shard), wanted);
			if (transition != null) {
				transitions.add(transition);
			}
		}
		return transitions;
	}

	private static boolean canOwn(@Nullable Assignee member, ShardId shard) {
		return member != null && member.topics().contains(shard.topic());
	}

	/**
	 * All shards there are: those that the store knows (a shard with data is never
	 * forgotten because somebody lowered a number) and those of the configured topics,
	 * where the leader's own numbers win.
	 */
	private SortedSet<ShardId> shards(GroupPicture picture) {
		Map<String, Integer> topics = new TreeMap<>(this.ownTopics.get());
		picture.members().forEach((member) -> member.description().topicShards().forEach(topics::putIfAbsent));
		SortedSet<ShardId> shards = new TreeSet<>();
		picture.ownerships().forEach((ownership) -> shards.add(ownership.shard()));
		topics.forEach((topic, count) -> {
			for (int number = 0; number < count; number++) {
				shards.add(ShardId.of(topic, number));
			}
		});
		return shards;
	}

	private static @Nullable Transition transition(ShardId shard, @Nullable Ownership now, @Nullable MemberId wanted) {
		if (now == null || now.phase() == ShardPhase.FREE) {
			return (wanted != null) ? new Assign(shard, (now != null) ? now.generation() : 0, wanted) : null;
		}
		if (now.phase() == ShardPhase.COMPLETED || Objects.equals(now.destination(), wanted)) {
			return null;
		}
		return (now.phase() == ShardPhase.OWNED) ? new Revoke(shard, now.generation(), wanted)
				: new Retarget(shard, now.generation(), wanted);
	}

}
