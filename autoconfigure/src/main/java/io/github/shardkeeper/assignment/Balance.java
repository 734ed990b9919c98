package io.github.shardkeeper.assignment;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.assignment.Draft.Step;

/**
 * Shares shards out evenly among equal members. Confined to its thread.
 * <p>
 * Unowned shards go to the least loaded subscriber; then, while some member carries at
 * least two more than another, a shard moves from the first to the second, directly or,
 * where their subscriptions do not meet, along the shortest chain of members between them
 * (augmenting paths of bipartite b-matching). With equal subscriptions each move brings a
 * shard to its final place, so the number of moves is the least possible.
 */
final class Balance {

	private final Draft draft;

	Balance(Draft draft) {
		this.draft = draft;
	}

	void share() {
		placeUnowned();
		level();
	}

	private void placeUnowned() {
		this.draft.unowned()
			.forEach((shard) -> this.draft.byLoad()
				.stream()
				.filter((member) -> this.draft.subscribes(member, this.draft.topic(shard)))
				.findFirst()
				.ifPresent((member) -> this.draft.give(shard, member, Reason.PLACED)));
	}

	private void level() {
		boolean moved = true;
		while (moved) {
			moved = false;
			for (Integer heavy : List.copyOf(this.draft.byLoad().descendingSet())) {
				List<Step> path = pathToLighter(heavy);
				if (!path.isEmpty()) {
					path.forEach((step) -> this.draft.move(step, Reason.SHARE));
					moved = true;
					break;
				}
			}
		}
	}

	/**
	 * Breadth first from a heavy member over "could give a shard of this topic to", until
	 * somebody is found who carries at least two less.
	 */
	private List<Step> pathToLighter(Integer heavy) {
		int light = this.draft.load(heavy) - 2;
		if (this.draft.load(this.draft.byLoad().first()) > light) {
			return List.of();
		}
		Map<Integer, Step> reachedBy = new HashMap<>();
		Set<Integer> seen = new HashSet<>(Set.of(heavy));
		Deque<Integer> queue = new ArrayDeque<>(List.of(heavy));
		while (!queue.isEmpty()) {
			Integer from = queue.remove();
			for (Integer to : this.draft.byLoad()) {
				String topic = seen.contains(to) ? null : this.draft.movableTopic(from, to, (any) -> true);
				if (topic == null) {
					continue;
				}
				seen.add(to);
				reachedBy.put(to, new Step(from, to, topic));
				if (this.draft.load(to) <= light) {
					return path(reachedBy, to);
				}
				queue.add(to);
			}
		}
		return List.of();
	}

	private static List<Step> path(Map<Integer, Step> reachedBy, Integer end) {
		List<Step> path = new ArrayList<>();
		for (Step step = reachedBy.get(end); step != null; step = reachedBy.get(step.from())) {
			path.add(step);
		}
		return path;
	}

}
