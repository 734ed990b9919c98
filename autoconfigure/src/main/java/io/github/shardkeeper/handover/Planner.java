package io.github.shardkeeper.handover;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.shard.MemberId;

/**
 * Turns the picture of a group and a strategy's answer into the transitions between them.
 * Immutable.
 */
final class Planner {

	private final int mostConcurrentMoves;

	private final Supplier<Map<String, Integer>> ownTopics;

	/**
	 * Creates a planner.
	 * @param mostConcurrentMoves how many shards may be drained at once, 0 for any number
	 * @param ownTopics the leader's own topics with their shard counts, which win over
	 * what other members were configured with
	 */
	Planner(int mostConcurrentMoves, Supplier<Map<String, Integer>> ownTopics) {
		this.mostConcurrentMoves = mostConcurrentMoves;
		this.ownTopics = ownTopics;
	}

	/**
	 * Says what there is to be assigned.
	 * @param picture the group
	 * @param loads what is known of the shards' loads
	 * @param nowMillis the store's time, or a little earlier
	 * @return the request to the strategy
	 */
	AssignmentRequest request(GroupPicture picture, LoadReports loads, long nowMillis) {
		configure(picture);
		List<Assignee> members = new ArrayList<>();
		for (GroupMember member : picture.members()) {
			if (!member.leaving()) {
				MemberDescription description = member.description();
				members.add(new Assignee(member.id(), description.topicShards().keySet(), description.version()));
			}
		}
		AssignmentRequest.Builder request = AssignmentRequest.builder(members, picture.shards());
		Map<MemberId, Integer> places = places(request.members());
		int[] placeOf = picture.places(places, AssignmentRequest.NOBODY);
		int[] owners = new int[picture.shards().size()];
		for (int shard = 0; shard < owners.length; shard++) {
			int owner = picture.owner(shard);
			owners[shard] = (owner != GroupPicture.UNSETTLED) ? placeOf[owner]
					: unsettled(picture.ownership(shard), request.members(), places);
		}
		return request.owners(owners, picture.since(), picture.sinceMillis())
			.loads(loads.of(picture))
			.now(nowMillis)
			.build();
	}

	private static Map<MemberId, Integer> places(List<Assignee> members) {
		Map<MemberId, Integer> places = new HashMap<>();
		members.forEach((member) -> places.put(member.id(), places.size()));
		return places;
	}

	/**
	 * Who is to get a shard that is on its way; while it is released for somebody who is
	 * gone, its owner.
	 */
	private static int unsettled(@Nullable Ownership ownership, List<Assignee> members, Map<MemberId, Integer> places) {
		if (ownership == null) {
			return AssignmentRequest.NOBODY;
		}
		int destination = place(ownership.destination(), places);
		boolean reachable = destination != AssignmentRequest.NOBODY
				&& members.get(destination).topics().contains(ownership.shard().topic());
		return (!reachable && ownership.phase() == ShardPhase.REVOKING) ? place(ownership.owner(), places)
				: destination;
	}

	private static int place(@Nullable MemberId member, Map<MemberId, Integer> places) {
		return (member != null) ? places.getOrDefault(member, AssignmentRequest.NOBODY) : AssignmentRequest.NOBODY;
	}

	/**
	 * Finds the transitions from the group as it is towards an assignment.
	 * @param picture the group, unchanged since the assignment was requested
	 * @param assignment who shall own what
	 * @param nowMillis the store's time, or a little earlier
	 * @param claimsUntilMillis until when free shards may be claimed by who holds them,
	 * in the store's time
	 * @return them
	 */
	Plan plan(GroupPicture picture, Assignment assignment, long nowMillis, long claimsUntilMillis) {
		List<Assignee> members = assignment.request().members();
		Map<MemberId, Integer> places = places(members);
		int[] placeOf = picture.places(places, AssignmentRequest.NOBODY);
		PlanBuilder plan = new PlanBuilder(this.mostConcurrentMoves, nowMillis, claimsUntilMillis);
		for (int shard = 0; shard < picture.shards().size(); shard++) {
			int wanted = assignment.owner(shard);
			int owner = picture.owner(shard);
			boolean settled = owner != GroupPicture.UNSETTLED && placeOf[owner] == wanted
					&& wanted != AssignmentRequest.NOBODY;
			if (!settled) {
				plan.add(picture.shards().get(shard), picture.ownership(shard),
						(wanted != AssignmentRequest.NOBODY) ? members.get(wanted).id() : null, places.keySet());
			}
		}
		return plan.build();
	}

	/** Tells the picture the topics that are configured; the leader's own numbers win. */
	void configure(GroupPicture picture) {
		Map<String, Integer> topics = new TreeMap<>(this.ownTopics.get());
		picture.members().forEach((member) -> member.description().topicShards().forEach(topics::putIfAbsent));
		picture.configure(topics);
	}

}
