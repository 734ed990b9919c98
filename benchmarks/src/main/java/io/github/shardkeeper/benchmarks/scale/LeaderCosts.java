package io.github.shardkeeper.benchmarks.scale;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.benchmarks.Heap;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.shard.MemberId;

/**
 * Costs of the leader: the time for a plan, and the heap for its picture of the group.
 *
 * @param group a group that is complete
 */
record LeaderCosts(Group group) {

	private static final int WARM_UP = 20;

	private static final int PLANS = 20;

	List<String> lines() {
		Samples inPlace = this.group.strategy().takeMillis();
		long before = Heap.used();
		LeaderPlanning leader = new LeaderPlanning(this.group.topics(), withOneMore(), new StickyAssignment());
		Samples millis = new Samples();
		int moves = 0;
		for (int i = -WARM_UP; i < PLANS; i++) {
			long begun = System.nanoTime();
			moves = leader.plan().size();
			if (i >= 0) {
				millis.add((System.nanoTime() - begun) / 1e6);
			}
		}
		double bytes = Heap.used() - before;
		if (moves == 0) {
			throw new IllegalStateException("The new member gets nothing");
		}
		return List.of("| the leader | |", "|---|---:|",
				line("plan for one more member, alone, ms: median", millis.median()),
				line("plan for one more member, alone, ms: longest", millis.highest()),
				line("the strategy's part of all plans above, among all the members, ms: median", inPlace.median()),
				line("the strategy's part of all plans above, among all the members, ms: longest", inPlace.highest()),
				line("heap for the picture of the group, bytes per shard", bytes / this.group.shards()));
	}

	private GroupChanges withOneMore() {
		GroupChanges stored = this.group.read();
		List<GroupMember> members = new ArrayList<>(stored.members());
		members.add(new GroupMember(MemberId.of("one", "more"), members.get(0).description(), false));
		return new GroupChanges(stored.leader(), stored.epoch(), stored.generation(), stored.membership(), members,
				stored.ownerships());
	}

	private static String line(String what, double value) {
		return String.format(Locale.ROOT, "| %s | %,.1f |", what, value);
	}

}
