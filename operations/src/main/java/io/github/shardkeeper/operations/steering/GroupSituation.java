package io.github.shardkeeper.operations.steering;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.leader.Planner.ExpectedMove;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * The group as an operation has read it. Immutable.
 *
 * @param coordinator says what the leader would do
 * @param changes members and ownerships, all of them
 * @param directives what operators have asked for until now
 */
record GroupSituation(ShardCoordinator coordinator, GroupChanges changes, Directives directives) {

	private static final int MOST_NAMED = 10;

	/** Returns the moves that are expected of the leader with other directives. */
	List<ExpectedMove> expectedMoves(Directives then) {
		return this.coordinator.expectedMoves(this.changes, then);
	}

	/** Refuses a request for an instance that is no member. */
	void requireMember(String instance) {
		if (!isMember(instance)) {
			throw unknownInstance(instance);
		}
	}

	boolean isMember(String instance) {
		return instances().contains(instance);
	}

	private OperationRefusedException unknownInstance(String instance) {
		List<String> known = List.copyOf(instances());
		return OperationRefusedException.unknown("The group has no instance '%s'; its instances are %s%s".formatted(
				instance, known.stream().limit(MOST_NAMED).toList(),
				(known.size() > MOST_NAMED) ? " and " + (known.size() - MOST_NAMED) + " more" : ""));
	}

	private Set<String> instances() {
		Set<String> instances = new TreeSet<>();
		members().forEach((member) -> instances.add(member.id().instance()));
		return instances;
	}

	private List<GroupMember> members() {
		List<GroupMember> members = this.changes.members();
		return (members != null) ? members : List.of();
	}

	boolean consumes(String instance, String topic) {
		return members().stream()
			.anyMatch((member) -> member.id().instance().equals(instance)
					&& member.description().topicShards().containsKey(topic));
	}

	/** Returns a shard's ownership, and refuses a request for one that has none. */
	Ownership require(ShardId shard) {
		return this.changes.ownerships()
			.stream()
			.filter((ownership) -> ownership.shard().equals(shard))
			.findFirst()
			.orElseThrow(() -> OperationRefusedException.unknown("The group has no shard '%s'".formatted(shard)));
	}

	/** Refuses a request for a topic that nobody consumes. */
	void requireTopic(String topic) {
		if (shardsOf(topic) == 0
				&& members().stream().noneMatch((member) -> member.description().topicShards().containsKey(topic))) {
			throw OperationRefusedException.unknown("The group has no topic '%s'".formatted(topic));
		}
	}

	/** Returns the number of shards of a topic that are not completed. */
	long shardsOf(String topic) {
		return this.changes.ownerships()
			.stream()
			.filter((ownership) -> ownership.shard().topic().equals(topic) && ownership.phase() != Phase.COMPLETED)
			.count();
	}

	long ownedBy(String instance) {
		return this.changes.ownerships().stream().filter((ownership) -> {
			MemberId owner = ownership.owner();
			return owner != null && owner.instance().equals(instance);
		}).count();
	}

}
