package io.github.shardkeeper.assignment;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * Leaves every shard where it is unless balance demands a move: loads differ by at most
 * one among members that could take each other's shards.
 * <p>
 * Unowned shards go to the least loaded subscriber; then, while some member carries at
 * least two more than another, a shard moves from the first to the second, directly or,
 * where their subscriptions do not meet, along the shortest chain of members between them
 * (augmenting paths of bipartite b-matching). With equal subscriptions each move brings a
 * shard to its final place, so the number of moves is the least possible. Immutable.
 */
public final class StickyAssignment implements AssignmentStrategy {

	@Override
	public Map<ShardId, MemberId> assign(AssignmentRequest request) {
		Draft draft = new Draft(request);
		draft.keepCurrent();
		draft.placeUnowned();
		draft.level();
		return draft.owners;
	}

	/** One computation. Confined to its thread. */
	private static final class Draft {

		private final AssignmentRequest request;

		private final Map<ShardId, MemberId> owners = new TreeMap<>();

		/**
		 * Per member and topic the shards it holds; the last one is the first to move.
		 */
		private final Map<MemberId, Map<String, Deque<ShardId>>> held = new TreeMap<>();

		private final Map<MemberId, Integer> loads = new HashMap<>();

		private final TreeSet<MemberId> byLoad = new TreeSet<>(
				Comparator.<MemberId>comparingInt(this::load).thenComparing(Comparator.naturalOrder()));

		Draft(AssignmentRequest request) {
			this.request = request;
			request.members().keySet().forEach((member) -> {
				this.loads.put(member, 0);
				this.held.put(member, new TreeMap<>());
				this.byLoad.add(member);
			});
		}

		private int load(MemberId member) {
			return this.loads.getOrDefault(member, 0);
		}

		void keepCurrent() {
			for (ShardId shard : this.request.shards()) {
				MemberId owner = this.request.current().get(shard);
				if (owner != null && subscribes(owner, shard.topic())) {
					give(shard, owner);
				}
			}
		}

		void placeUnowned() {
			for (ShardId shard : this.request.shards()) {
				if (!this.owners.containsKey(shard)) {
					this.byLoad.stream()
						.filter((member) -> subscribes(member, shard.topic()))
						.findFirst()
						.ifPresent((member) -> give(shard, member));
				}
			}
		}

		void level() {
			boolean moved = true;
			while (moved) {
				moved = false;
				for (MemberId heavy : List.copyOf(this.byLoad.descendingSet())) {
					List<Step> path = pathToLighter(heavy);
					if (!path.isEmpty()) {
						path.forEach(this::take);
						moved = true;
						break;
					}
				}
			}
		}

		/**
		 * Breadth first from a heavy member over "could give a shard of this topic to",
		 * until somebody is found who carries at least two less.
		 */
		private List<Step> pathToLighter(MemberId heavy) {
			if (load(heavy) - load(this.byLoad.first()) < 2) {
				return List.of();
			}
			Map<MemberId, Step> reachedBy = new HashMap<>();
			Set<MemberId> seen = new HashSet<>(Set.of(heavy));
			Deque<MemberId> queue = new ArrayDeque<>(List.of(heavy));
			while (!queue.isEmpty()) {
				MemberId from = queue.remove();
				for (MemberId to : this.byLoad) {
					String topic = seen.contains(to) ? null : movableTopic(from, to);
					if (topic == null) {
						continue;
					}
					seen.add(to);
					reachedBy.put(to, new Step(from, to, topic));
					if (load(heavy) - load(to) >= 2) {
						return path(reachedBy, to);
					}
					queue.add(to);
				}
			}
			return List.of();
		}

		private @Nullable String movableTopic(MemberId from, MemberId to) {
			return this.held.getOrDefault(from, Map.of())
				.entrySet()
				.stream()
				.filter((entry) -> !entry.getValue().isEmpty() && subscribes(to, entry.getKey()))
				.max(Comparator.comparingInt((entry) -> entry.getValue().size()))
				.map(Map.Entry::getKey)
				.orElse(null);
		}

		private static List<Step> path(Map<MemberId, Step> reachedBy, MemberId end) {
			List<Step> path = new ArrayList<>();
			for (Step step = reachedBy.get(end); step != null; step = reachedBy.get(step.from)) {
				path.add(step);
			}
			return path;
		}

		private void take(Step step) {
			ShardId shard = shardsOf(step.from, step.topic).removeLast();
			changeLoad(step.from, -1);
			give(shard, step.to);
		}

		private void give(ShardId shard, MemberId member) {
			this.owners.put(shard, member);
			shardsOf(member, shard.topic()).addLast(shard);
			changeLoad(member, 1);
		}

		private void changeLoad(MemberId member, int delta) {
			this.byLoad.remove(member);
			this.loads.merge(member, delta, Integer::sum);
			this.byLoad.add(member);
		}

		private Deque<ShardId> shardsOf(MemberId member, String topic) {
			return this.held.computeIfAbsent(member, (m) -> new TreeMap<>())
				.computeIfAbsent(topic, (t) -> new ArrayDeque<>());
		}

		private boolean subscribes(MemberId member, String topic) {
			Assignee assignee = this.request.members().get(member);
			return assignee != null && assignee.topics().contains(topic);
		}

	}

	private record Step(MemberId from, MemberId to, String topic) {

	}

}
