package io.github.shardkeeper.handover;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.shard.MemberId;

/**
 * The members of a group that may own shards, each with its place among them. Immutable.
 */
final class Roster {

	static final Roster EMPTY = new Roster(List.of());

	private final List<Assignee> assignees = new ArrayList<>();

	private final Map<MemberId, Integer> places = new HashMap<>();

	/**
	 * Takes up those who do not leave.
	 * @param members all members
	 */
	Roster(List<GroupMember> members) {
		for (GroupMember member : members) {
			if (!member.leaving()) {
				MemberDescription description = member.description();
				this.assignees.add(new Assignee(member.id(), description.topicShards().keySet(), description.version(),
						description.capacity(), description.zone()));
			}
		}
		this.assignees.sort(Comparator.comparing(Assignee::id));
		this.assignees.forEach((assignee) -> this.places.put(assignee.id(), this.places.size()));
	}

	/** Ordered by id. */
	List<Assignee> assignees() {
		return Collections.unmodifiableList(this.assignees);
	}

	/** Whether the same members stand in the same places here. */
	boolean isSameAs(Roster other) {
		return this.assignees.equals(other.assignees);
	}

	Set<MemberId> members() {
		return Collections.unmodifiableSet(this.places.keySet());
	}

	/**
	 * Finds a member.
	 * @return its place, {@link AssignmentRequest#NOBODY} for one that is not among them
	 */
	int place(@Nullable MemberId member) {
		return (member != null) ? this.places.getOrDefault(member, AssignmentRequest.NOBODY) : AssignmentRequest.NOBODY;
	}

}
