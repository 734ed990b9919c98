package io.github.shardkeeper.handover;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Turns the picture of a group and a strategy's answer into the transitions between them.
 * Immutable.
 */
final class Planner {

	private final HandoverRules rules;

	private final Supplier<Map<String, TopicShards>> ownTopics;

	/**
	 * Creates a planner.
	 * @param rules how many shards may be drained at once, and for how long
	 * @param ownTopics the leader's own topics with the shards that its source knows now
	 */
	Planner(HandoverRules rules, Supplier<Map<String, TopicShards>> ownTopics) {
		this.rules = rules;
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
		update(picture);
		Roster roster = picture.roster();
		int[] places = picture.places();
		int[] owners = new int[picture.shards().size()];
		int movesUnderWay = 0;
		for (int shard = 0; shard < owners.length; shard++) {
			int owner = picture.owner(shard);
			if (owner != GroupPicture.UNSETTLED) {
				owners[shard] = places[owner];
			}
			else {
				owners[shard] = unsettled(picture.ownership(shard), roster);
				movesUnderWay += isMove(picture.ownership(shard), owners[shard], roster, nowMillis) ? 1 : 0;
			}
		}
		return AssignmentRequest.builder(roster.assignees(), picture.shards())
			.owners(owners, picture.since(), picture.sinceMillis())
			.loads(loads.of(picture))
			.movesUnderWay(movesUnderWay)
			.now(nowMillis)
			.build();
	}

	/**
	 * Who is to get a shard that is on its way; while it is released for somebody who is
	 * gone, its owner.
	 */
	private static int unsettled(@Nullable Ownership ownership, Roster roster) {
		if (ownership == null) {
			return AssignmentRequest.NOBODY;
		}
		int destination = roster.place(ownership.destination());
		boolean reachable = destination != AssignmentRequest.NOBODY
				&& roster.assignees().get(destination).topics().contains(ownership.shard().topic());
		return (!reachable && ownership.phase() == ShardPhase.REVOKING) ? roster.place(ownership.owner()) : destination;
	}

	/**
	 * Whether a member that stays is releasing it for somebody else, for no longer than
	 * it may: a few that hang must not hold up all others.
	 */
	private boolean isMove(@Nullable Ownership ownership, int destination, Roster roster, long nowMillis) {
		if (ownership == null || ownership.phase() != ShardPhase.REVOKING
				|| nowMillis >= ownership.sinceMillis() + this.rules.timeout().toMillis()) {
			return false;
		}
		int owner = roster.place(ownership.owner());
		return owner != AssignmentRequest.NOBODY && owner != destination;
	}

	/**
	 * Finds the transitions from the group as it is towards an assignment.
	 * @param picture the group, with the same members and shards as when the assignment
	 * was requested
	 * @param assignment who shall own what
	 * @param nowMillis the store's time, or a little earlier
	 * @param claimsUntilMillis until when free shards may be claimed by who holds them,
	 * in the store's time
	 * @return them
	 */
	Plan plan(GroupPicture picture, Assignment assignment, long nowMillis, long claimsUntilMillis) {
		List<Assignee> members = assignment.request().members();
		Set<MemberId> staying = picture.roster().members();
		int[] places = picture.places();
		PlanBuilder plan = new PlanBuilder(this.rules, nowMillis, claimsUntilMillis);
		for (int shard = 0; shard < picture.shards().size(); shard++) {
			int wanted = assignment.owner(shard);
			int owner = picture.owner(shard);
			boolean settled = owner != GroupPicture.UNSETTLED && places[owner] == wanted
					&& wanted != AssignmentRequest.NOBODY;
			if (!settled) {
				plan.add(picture.shards().get(shard), picture.ownership(shard),
						(wanted != AssignmentRequest.NOBODY) ? members.get(wanted).id() : null, staying);
			}
		}
		return plan.build(assignment.isUnfinished());
	}

	/** Tells the picture which shards there are. */
	void update(GroupPicture picture) {
		picture.update(this.ownTopics.get());
	}

}
