package io.github.shardkeeper.benchmarks.scale;

import java.util.List;
import java.util.Map;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.GroupPicture;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.LoadReports;
import io.github.shardkeeper.protocol.Planner;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Planning of a leader, from its own picture of the group to the transitions that it
 * would apply; a window for benchmarks, hence in this package. Confined to its thread.
 */
public final class LeaderPlanning {

	private final GroupPicture picture = new GroupPicture();

	private final Planner planner;

	private final LoadReports loads = new LoadReports(null);

	private final AssignmentStrategy strategy;

	/**
	 * Reads a group.
	 * @param topics the topics with their shards
	 * @param group the stored group, read whole
	 * @param strategy decides the owners
	 */
	public LeaderPlanning(Map<String, TopicShards> topics, GroupChanges group, AssignmentStrategy strategy) {
		this.planner = new Planner(HandoverRules.DEFAULT);
		this.strategy = strategy;
		this.picture.apply(group);
		this.picture.update(topics);
	}

	/**
	 * Plans, changing nothing.
	 * @return the transitions
	 */
	public List<Transition> plan() {
		Assignment assignment = this.strategy
			.assign(this.planner.request(this.picture, this.loads, Directives.NONE, 0));
		return this.planner.plan(this.picture, assignment, 0, 0).transitions();
	}

}
