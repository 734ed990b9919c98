package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.shard.ApplicationVersion;

/**
 * Assignment while members run several versions of the application: older members are
 * about to leave, so their shards must move anyway. For the shards of each kind:
 * <ul>
 * <li>Unowned shards go to the newest takers, lowest rate first. A new member with twice
 * an even share takes none: otherwise the first one would get everything.</li>
 * <li>Shards move from older members to the newest takers until no older member has a
 * higher rate than a new one would have with one more.</li>
 * <li>Members of the newest version level among themselves only what would have to move
 * if all older members had left.</li>
 * </ul>
 * Nothing else moves. Weights, capacities and pins count as usual. Zones only decide
 * between members of equal rate. Confined to its thread.
 */
final class Rollout {

	private static final int MOST_EVEN_SHARES = 2;

	private final ShardCounts counts;

	private final KindBalancer balancer;

	private final int[] versions;

	private final int newest;

	private final List<List<ShardKind>> alike = new ArrayList<>();

	Rollout(ShardCounts counts) {
		this.counts = counts;
		this.balancer = new KindBalancer(counts);
		this.versions = versionRanks(counts.request());
		int most = 0;
		for (int version : this.versions) {
			most = Math.max(most, version);
		}
		this.newest = most;
		Map<int[], List<ShardKind>> byTakers = new IdentityHashMap<>();
		for (ShardKind kind : counts.kinds()) {
			List<ShardKind> same = byTakers.computeIfAbsent(kind.takers, (takers) -> new ArrayList<>());
			same.add(kind);
			this.alike.add(same);
		}
	}

	/** Returns by member the number of older versions in the group. */
	static int[] versionRanks(AssignmentRequest request) {
		List<ApplicationVersion> oldestFirst = request.members()
			.stream()
			.map(Assignee::version)
			.distinct()
			.sorted()
			.toList();
		Map<ApplicationVersion, Integer> ranks = new HashMap<>();
		int rank = 0;
		for (int i = 0; i < oldestFirst.size(); i++) {
			if (i > 0 && oldestFirst.get(i - 1).compareTo(oldestFirst.get(i)) != 0) {
				rank++;
			}
			ranks.put(oldestFirst.get(i), rank);
		}
		return request.members().stream().mapToInt((member) -> ranks.get(member.version())).toArray();
	}

	void apply() {
		List<ShardKind> kinds = this.counts.kinds();
		for (int kind = 0; kind < kinds.size(); kind++) {
			place(kinds.get(kind), this.alike.get(kind));
		}
		boolean moved = true;
		while (moved) {
			moved = false;
			for (ShardKind kind : kinds) {
				IntPredicate isNew = newestOf(kind);
				moved |= this.balancer.level(kind, isNew.negate(), isNew, 0);
			}
			Map<int[], Double> oldLoads = oldLoads();
			for (ShardKind kind : kinds) {
				moved |= evenOut(kind, oldLoads.getOrDefault(kind.takers, 0.0));
			}
		}
	}

	private IntPredicate newestOf(ShardKind kind) {
		int newestVersion = 0;
		for (int member : kind.takers) {
			newestVersion = Math.max(newestVersion, this.versions[member]);
		}
		int version = newestVersion;
		return (member) -> this.versions[member] == version;
	}

	private void place(ShardKind kind, List<ShardKind> alike) {
		if (kind.unowned == 0) {
			return;
		}
		double load = 0;
		double capacity = 0;
		for (int member : kind.takers) {
			load += this.counts.load(member);
			capacity += this.counts.capacity(member);
		}
		for (ShardKind other : alike) {
			load += (double) other.unowned * other.weight;
		}
		double most = MOST_EVEN_SHARES * Math.ceil(load / capacity);
		this.balancer.place(kind, newestOf(kind), most);
		this.balancer.place(kind, (member) -> true, Double.POSITIVE_INFINITY);
	}

	private Map<int[], Double> oldLoads() {
		Map<int[], Double> loads = new IdentityHashMap<>();
		for (ShardKind kind : this.counts.kinds()) {
			IntPredicate isNew = newestOf(kind);
			long old = 0;
			for (int member : kind.takers) {
				old += isNew.test(member) ? 0 : kind.has[member];
			}
			loads.merge(kind.takers, (double) old * kind.weight, Double::sum);
		}
		return loads;
	}

	private boolean evenOut(ShardKind kind, double oldLoad) {
		IntPredicate isNew = newestOf(kind);
		double withoutOld = oldLoad;
		double capacity = 0;
		for (int member : kind.takers) {
			if (isNew.test(member)) {
				withoutOld += this.counts.load(member);
				capacity += this.counts.capacity(member);
			}
		}
		return this.balancer.level(kind, (member) -> this.versions[member] == this.newest, isNew,
				Math.ceil(withoutOld / capacity));
	}

}
