package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Improves the counts of kinds of one weight by chains and cycles of moves, until none is
 * left: first the higher loads come down, then more shards are in the zone of their data,
 * then fewer shards move. Confined to its thread.
 * <p>
 * This is a minimum-cost flow by cycle canceling (Klein, 1967), with negative cycles
 * found by the Bellman-Ford algorithm. The flow goes from kinds to members; the cost of a
 * member is convex, so with equal weights the absence of a negative cycle means that no
 * better assignment exists. The nodes of the search are the few kinds, and one more;
 * members are the arcs.
 */
final class MinimumCostFlow {

	/** Maximum number of takers, summed over kinds; beyond it only loads count. */
	static final int MOST_PRECISE = 50_000;

	/** Cost that makes, of equal loads, the one of lower capacity come down. */
	private static final long CAPACITY = 1L << 30;

	private final ShardCounts counts;

	private final ShardKind[] kinds;

	private final int weight;

	private final boolean precise;

	private final boolean mixedWeights;

	/** By kind, the best chain that ends with a shard of it being given. */
	private final double[] loads;

	private final long[] costs;

	private final int[] givers;

	private final int[] before;

	/** By member, the best of those chains that it could end or continue. */
	private final double[] loadsAt;

	private final long[] costsAt;

	private final int[] kindsAt;

	private int lastKind;

	private int lastTaker;

	/** Creates the flow for kinds of one weight; {@code mixedWeights}: others exist. */
	MinimumCostFlow(ShardCounts counts, List<ShardKind> kinds, boolean mixedWeights) {
		this.counts = counts;
		this.kinds = kinds.toArray(ShardKind[]::new);
		this.weight = this.kinds[0].weight;
		this.precise = kinds.stream().mapToLong((kind) -> kind.takers.length).sum() <= MOST_PRECISE;
		this.mixedWeights = mixedWeights;
		this.loads = new double[this.kinds.length];
		this.costs = new long[this.kinds.length];
		this.givers = new int[this.kinds.length];
		this.before = new int[this.kinds.length];
		this.loadsAt = new double[counts.members()];
		this.costsAt = new long[counts.members()];
		this.kindsAt = new int[counts.members()];
	}

	boolean improve() {
		boolean moved = this.precise && new PairSwaps(this.counts, List.of(this.kinds)).run();
		for (Chain chain = find(); chain != null; chain = find()) {
			chain.apply();
			moved = true;
		}
		return moved;
	}

	private @Nullable Chain find() {
		begin();
		while (true) {
			if (reachMembers()) {
				return Chain.open(this, this.lastKind, this.lastTaker);
			}
			if (!reachKinds()) {
				return null;
			}
			int inCycle = inCycle();
			if (inCycle >= 0) {
				return Chain.cycle(this, inCycle);
			}
		}
	}

	private void begin() {
		Arrays.fill(this.loads, Double.POSITIVE_INFINITY);
		for (int kind = 0; kind < this.kinds.length; kind++) {
			int[] has = this.kinds[kind].has;
			for (int giver : this.kinds[kind].takers) {
				if (has[giver] > 0) {
					offer(kind, -this.counts.rate(giver), startCost(giver) + giveCost(kind, giver), giver, -1);
				}
			}
		}
	}

	private boolean reachMembers() {
		Arrays.fill(this.loadsAt, Double.POSITIVE_INFINITY);
		double bestLoad = 0;
		long bestCost = 0;
		for (int kind = 0; kind < this.kinds.length; kind++) {
			double load = this.loads[kind];
			if (load == Double.POSITIVE_INFINITY) {
				continue;
			}
			for (int taker : this.kinds[kind].takers) {
				long cost = this.costs[kind] + takeCost(kind, taker);
				if (load < this.loadsAt[taker] || load == this.loadsAt[taker] && cost < this.costsAt[taker]) {
					this.loadsAt[taker] = load;
					this.costsAt[taker] = cost;
					this.kindsAt[taker] = kind;
				}
				double endLoad = load + this.counts.rateWith(taker, this.weight);
				long endCost = cost - startCost(taker);
				if (endLoad < bestLoad || endLoad == bestLoad && endCost < bestCost) {
					bestLoad = endLoad;
					bestCost = endCost;
					this.lastKind = kind;
					this.lastTaker = taker;
				}
			}
		}
		return bestLoad < 0 || bestCost < 0;
	}

	private boolean reachKinds() {
		boolean changed = false;
		for (int kind = 0; kind < this.kinds.length; kind++) {
			int[] has = this.kinds[kind].has;
			for (int giver : this.kinds[kind].takers) {
				if (has[giver] > 0 && this.loadsAt[giver] <= this.loads[kind]) {
					changed |= offer(kind, this.loadsAt[giver], this.costsAt[giver] + giveCost(kind, giver), giver,
							this.kindsAt[giver]);
				}
			}
		}
		return changed;
	}

	private boolean offer(int kind, double load, long cost, int giver, int from) {
		if (load < this.loads[kind] || load == this.loads[kind] && cost < this.costs[kind]) {
			this.loads[kind] = load;
			this.costs[kind] = cost;
			this.givers[kind] = giver;
			this.before[kind] = from;
			return true;
		}
		return false;
	}

	/** Returns a kind in a cycle, or -1. A chain back to itself has negative cost. */
	private int inCycle() {
		int[] seenFrom = new int[this.kinds.length];
		for (int start = 0; start < this.kinds.length; start++) {
			int kind = start;
			while (kind >= 0 && this.loads[kind] < Double.POSITIVE_INFINITY && seenFrom[kind] == 0) {
				seenFrom[kind] = start + 1;
				kind = this.before[kind];
			}
			if (kind >= 0 && seenFrom[kind] == start + 1) {
				return kind;
			}
		}
		return -1;
	}

	private long startCost(int member) {
		return (this.mixedWeights && this.precise) ? CAPACITY * this.counts.capacity(member) : 0;
	}

	private long giveCost(int kind, int giver) {
		return this.precise ? this.counts.giveCost(this.kinds[kind], giver) : 0;
	}

	private long takeCost(int kind, int taker) {
		return this.precise ? this.counts.takeCost(this.kinds[kind], taker) : 0;
	}

	/** Compares the cost of one more for the last member with that of the first. */
	private int compareEnds(int first, int last) {
		int order = Double.compare(this.counts.rateWith(last, this.weight), this.counts.rate(first));
		return (order != 0) ? order : Long.compare(startCost(first), startCost(last));
	}

	/**
	 * Moves that belong together: each member but the first takes a shard, each but the
	 * last gives one. In a cycle the last member is the first.
	 */
	private static final class Chain {

		private final MinimumCostFlow flow;

		private final List<Step> steps;

		private Chain(MinimumCostFlow flow, List<Step> steps) {
			this.flow = flow;
			this.steps = steps;
		}

		static Chain open(MinimumCostFlow flow, int lastKind, int lastTaker) {
			List<Step> steps = new ArrayList<>();
			int taker = lastTaker;
			for (int kind = lastKind; kind >= 0; kind = flow.before[kind]) {
				steps.add(new Step(kind, flow.givers[kind], taker));
				taker = flow.givers[kind];
			}
			Collections.reverse(steps);
			return new Chain(flow, steps).simple();
		}

		static Chain cycle(MinimumCostFlow flow, int inCycle) {
			List<Step> steps = new ArrayList<>();
			int kind = inCycle;
			do {
				int before = flow.before[kind];
				steps.add(new Step(before, flow.givers[before], flow.givers[kind]));
				kind = before;
			}
			while (kind != inCycle);
			Collections.reverse(steps);
			return new Chain(flow, steps).simple();
		}

		/** Returns the cycle in this chain, or the rest: one of them improves. */
		private Chain simple() {
			List<Step> simple = new ArrayList<>();
			Map<Integer, Integer> places = new HashMap<>(Map.of(this.steps.get(0).giver, 0));
			for (Step step : this.steps) {
				simple.add(step);
				Integer place = places.get(step.taker);
				if (place != null && !(place == 0 && simple.size() == this.steps.size())) {
					List<Step> cycle = simple.subList(place, simple.size());
					if (cost(cycle) < 0) {
						return new Chain(this.flow, List.copyOf(cycle));
					}
					cycle.clear();
					places.values().removeIf((other) -> other > place);
				}
				places.put(step.taker, simple.size());
			}
			return new Chain(this.flow, simple);
		}

		private long cost(List<Step> some) {
			long cost = 0;
			for (Step step : some) {
				cost += this.flow.giveCost(step.kind, step.giver) + this.flow.takeCost(step.kind, step.taker);
			}
			return cost;
		}

		/** Makes the moves at least once, and again while that is an improvement. */
		void apply() {
			do {
				for (Step step : this.steps) {
					this.flow.counts.move(this.flow.kinds[step.kind], step.giver, step.taker);
				}
			}
			while (improves());
		}

		private boolean improves() {
			for (Step step : this.steps) {
				if (this.flow.kinds[step.kind].has[step.giver] == 0) {
					return false;
				}
			}
			int first = this.steps.get(0).giver;
			int last = this.steps.get(this.steps.size() - 1).taker;
			int ends = (first != last) ? this.flow.compareEnds(first, last) : 0;
			return ends < 0 || ends == 0 && cost(this.steps) < 0;
		}

		private record Step(int kind, int giver, int taker) {

		}

	}

	/**
	 * Swaps of shards of two kinds between two members that bring more shards to the zone
	 * of their data, or save moves. The flow would find them one by one.
	 */
	private static final class PairSwaps {

		private final ShardCounts counts;

		private final List<ShardKind> kinds;

		private final MemberHeap firstGivers;

		private final MemberHeap secondGivers;

		private final int[] both;

		private int bothCount;

		PairSwaps(ShardCounts counts, List<ShardKind> kinds) {
			this.counts = counts;
			this.kinds = kinds;
			this.firstGivers = new MemberHeap(counts.members(), false);
			this.secondGivers = new MemberHeap(counts.members(), false);
			this.both = new int[counts.members()];
		}

		boolean run() {
			boolean moved = false;
			for (int one = 1; one < this.kinds.size(); one++) {
				for (int other = 0; other < one; other++) {
					moved |= swap(this.kinds.get(one), this.kinds.get(other));
				}
			}
			return moved;
		}

		private boolean swap(ShardKind one, ShardKind other) {
			findBoth(one.takers, other.takers);
			if (leastCost(one, other) + leastCost(other, one) >= 0) {
				return false;
			}
			this.firstGivers.clear();
			this.secondGivers.clear();
			for (int i = 0; i < this.bothCount; i++) {
				put(one, other, this.both[i]);
			}
			boolean moved = false;
			while (!this.firstGivers.isEmpty() && !this.secondGivers.isEmpty()) {
				int giver = this.firstGivers.first();
				int taker = this.secondGivers.first();
				if (cost(one, other, giver) + cost(other, one, taker) >= 0) {
					break;
				}
				this.counts.move(one, giver, taker);
				this.counts.move(other, taker, giver);
				moved = true;
				put(one, other, giver);
				put(one, other, taker);
			}
			return moved;
		}

		/** Both arrays are sorted. */
		private void findBoth(int[] one, int[] other) {
			this.bothCount = 0;
			int at = 0;
			for (int member : one) {
				while (at < other.length && other[at] < member) {
					at++;
				}
				if (at < other.length && other[at] == member) {
					this.both[this.bothCount++] = member;
				}
			}
		}

		private int leastCost(ShardKind given, ShardKind taken) {
			int least = Integer.MAX_VALUE / 2;
			for (int i = 0; i < this.bothCount; i++) {
				if (given.has[this.both[i]] > 0) {
					least = Math.min(least, cost(given, taken, this.both[i]));
				}
			}
			return least;
		}

		private int cost(ShardKind given, ShardKind taken, int member) {
			return this.counts.giveCost(given, member) + this.counts.takeCost(taken, member);
		}

		private void put(ShardKind one, ShardKind other, int member) {
			put(this.firstGivers, one, other, member);
			put(this.secondGivers, other, one, member);
		}

		private void put(MemberHeap heap, ShardKind given, ShardKind taken, int member) {
			if (given.has[member] > 0) {
				heap.put(member, cost(given, taken, member), 0);
			}
			else if (heap.contains(member)) {
				heap.remove(member);
			}
		}

	}

}
