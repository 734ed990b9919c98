package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.List;

/**
 * Balances shards among members of one version. Confined to its thread.
 * <ol>
 * <li>Unowned shards go to the member with the lowest rate, heaviest shards first
 * (Graham's longest-processing-time-first rule).</li>
 * <li>Greedy single moves level the loads.</li>
 * <li>{@link MinimumCostFlow} levels the rest by chains and cycles of moves.</li>
 * </ol>
 * With equal weights the result is optimal. With different weights a chain has shards of
 * one weight only: finding the optimum is not feasible (the partition problem).
 */
final class Balance {

	private final ShardCounts counts;

	private final KindBalancer balancer;

	Balance(ShardCounts counts) {
		this.counts = counts;
		this.balancer = new KindBalancer(counts);
	}

	void apply() {
		place();
		List<List<ShardKind>> byWeight = byWeight();
		boolean mixedWeights = byWeight.size() > 1;
		if (mixedWeights) {
			this.counts.kinds().forEach(this.balancer::approach);
		}
		List<GreedyMoves> greedy = byWeight.stream().map((kinds) -> new GreedyMoves(this.counts, kinds)).toList();
		List<MinimumCostFlow> flows = byWeight.stream()
			.map((kinds) -> new MinimumCostFlow(this.counts, kinds, mixedWeights))
			.toList();
		boolean moved = true;
		while (moved) {
			moved = false;
			for (int weight = 0; weight < flows.size(); weight++) {
				moved |= greedy.get(weight).run();
				moved |= flows.get(weight).improve();
			}
			moved &= mixedWeights;
		}
	}

	/** Fills zones first, each member up to an even share. */
	private void place() {
		double load = 0;
		double capacity = 0;
		for (int member = 0; member < this.counts.members(); member++) {
			load += this.counts.load(member);
			capacity += this.counts.capacity(member);
		}
		for (ShardKind kind : this.counts.kinds()) {
			load += (double) kind.unowned * kind.weight;
		}
		for (ShardKind kind : this.counts.kinds()) {
			if (kind.zone != ShardKind.NOWHERE) {
				this.balancer.place(kind, (member) -> this.counts.isHome(kind, member), load / capacity);
			}
		}
		for (ShardKind kind : this.counts.kinds()) {
			this.balancer.place(kind, (member) -> true, Double.POSITIVE_INFINITY);
		}
	}

	private List<List<ShardKind>> byWeight() {
		List<List<ShardKind>> byWeight = new ArrayList<>();
		for (ShardKind kind : this.counts.kinds()) {
			if (byWeight.isEmpty() || byWeight.get(byWeight.size() - 1).get(0).weight != kind.weight) {
				byWeight.add(new ArrayList<>());
			}
			byWeight.get(byWeight.size() - 1).add(kind);
		}
		return byWeight;
	}

	/** Moves shards of one weight, until none lowers the higher of two loads. */
	private static final class GreedyMoves {

		private final ShardCounts counts;

		private final List<ShardKind> kinds;

		private final MemberHeap givers;

		private final MemberHeap[] takers;

		GreedyMoves(ShardCounts counts, List<ShardKind> kinds) {
			this.counts = counts;
			this.kinds = kinds;
			this.givers = new MemberHeap(counts.members(), true);
			this.takers = new MemberHeap[kinds.size()];
		}

		boolean run() {
			boolean ever = false;
			while (this.kinds.stream().anyMatch(this::isUneven)) {
				begin();
				while (!this.givers.isEmpty()) {
					int giver = this.givers.first();
					int kind = bestKind(giver);
					if (kind >= 0) {
						int taker = this.takers[kind].first();
						this.counts.move(this.kinds.get(kind), giver, taker);
						update(giver);
						update(taker);
					}
					else {
						this.givers.remove(giver);
					}
				}
				ever = true;
			}
			return ever;
		}

		/** Takes one pass, so that nothing is sorted without need. */
		private boolean isUneven(ShardKind kind) {
			double most = 0;
			double least = Double.POSITIVE_INFINITY;
			for (int member : kind.takers) {
				if (kind.has[member] > 0) {
					most = Math.max(most, this.counts.rate(member));
				}
				least = Math.min(least, this.counts.rateWith(member, kind.weight));
			}
			return least < most;
		}

		private void begin() {
			this.givers.clear();
			for (int kind = 0; kind < this.takers.length; kind++) {
				this.takers[kind] = new MemberHeap(this.counts.members(), false);
				for (int taker : this.kinds.get(kind).takers) {
					putTaker(kind, taker);
					putGiver(taker);
				}
			}
		}

		private int bestKind(int giver) {
			int best = -1;
			double bestRate = this.counts.rate(giver);
			int bestCost = 0;
			for (int kind = 0; kind < this.takers.length; kind++) {
				ShardKind given = this.kinds.get(kind);
				if (given.has[giver] > 0) {
					int taker = this.takers[kind].first();
					double rate = this.counts.rateWith(taker, given.weight);
					int cost = this.counts.giveCost(given, giver) + this.counts.takeCost(given, taker);
					if (rate < bestRate || best >= 0 && rate == bestRate && cost < bestCost) {
						best = kind;
						bestRate = rate;
						bestCost = cost;
					}
				}
			}
			return best;
		}

		private void update(int member) {
			for (int kind = 0; kind < this.takers.length; kind++) {
				if (this.takers[kind].contains(member)) {
					putTaker(kind, member);
				}
			}
			putGiver(member);
		}

		private void putGiver(int member) {
			this.givers.put(member, -this.counts.rate(member), 0);
		}

		private void putTaker(int kind, int taker) {
			ShardKind taken = this.kinds.get(kind);
			long cost = (long) this.counts.takeCost(taken, taker) << Integer.SIZE;
			this.takers[kind].put(taker, this.counts.rateWith(taker, taken.weight), cost + taken.has[taker]);
		}

	}

}
