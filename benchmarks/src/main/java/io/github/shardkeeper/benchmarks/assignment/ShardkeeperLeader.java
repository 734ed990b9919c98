package io.github.shardkeeper.benchmarks.assignment;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import io.github.shardkeeper.assignment.selection.BuiltInStrategy;
import io.github.shardkeeper.benchmarks.scale.LeaderPlanning;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;

/**
 * A leader of Shardkeeper: from its picture of the group to the transitions that it sends
 * to the store.
 */
final class ShardkeeperLeader implements Contender {

	private final Scenario scenario;

	private final LeaderPlanning planning;

	ShardkeeperLeader(Scenario scenario, String strategy) {
		this.scenario = scenario;
		SortedMap<String, TopicShards> topics = new TreeMap<>();
		scenario.topics().forEach((topic) -> topics.put(topic, TopicShards.count(scenario.partitions())));
		MemberDescription description = new MemberDescription(topics, ApplicationVersion.UNKNOWN);
		List<GroupMember> members = new ArrayList<>();
		for (int member : scenario.members()) {
			members.add(new GroupMember(id(member), description, false));
		}
		Set<Integer> present = Set.copyOf(scenario.members());
		List<Ownership> ownerships = new ArrayList<>();
		for (int shard = 0; shard < scenario.shards(); shard++) {
			int owner = scenario.owners()[shard];
			if (owner >= 0) {
				ShardId id = ShardId.of(scenario.topic(shard), scenario.partition(shard));
				boolean owned = present.contains(owner);
				ownerships.add(new Ownership(id, owned ? Phase.OWNED : Phase.FREE, new Token(shard + 1),
						owned ? id(owner) : null, null, shard + 1, 0, 0));
			}
		}
		GroupChanges group = new GroupChanges(null, 1, scenario.shards(), 1, members, ownerships);
		this.planning = new LeaderPlanning(topics, group, BuiltInStrategy.named(strategy).strategy());
	}

	private static MemberId id(int member) {
		return MemberId.of(Scenario.name(member), "1");
	}

	@Override
	public Object plan() {
		return this.planning.plan();
	}

	@Override
	public int[] owners(Object plan) {
		int[] owners = this.scenario.owners().clone();
		for (Object transition : (List<?>) plan) {
			if (transition instanceof Transition.Assign assign) {
				set(owners, assign.shard(), assign.owner());
			}
			else if (transition instanceof Transition.Revoke revoke && revoke.target() != null) {
				set(owners, revoke.shard(), revoke.target());
			}
			else {
				throw new IllegalStateException("Not expected here: " + transition);
			}
		}
		return owners;
	}

	private void set(int[] owners, ShardId shard, MemberId member) {
		owners[this.scenario.shard(shard.topic(), Integer.parseInt(shard.id()))] = Scenario.member(member.instance());
	}

}
