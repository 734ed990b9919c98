package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Improves what is held of kinds of one weight, until no chain and no circle of moves
 * could: first the higher loads of those involved come down, then more shards are in the
 * zone of their data, then fewer shards move. Confined to its thread.
 * <p>
 * This is the cancelling of negative cycles in a flow of minimum cost (Klein, 1967),
 * found by the algorithm of Bellman and Ford. The flow goes from kinds to members; a
 * member's cost is convex, so with equal weights no negative cycle means that there is no
 * better assignment at all. The nodes of the search are the kinds, of which there are
 * few, and one more: a chain begins with somebody whose load goes down, and ends with
 * somebody whose load goes up. Members are the arcs between them.
 */
final class Cycles {

	/** Of takers, summed over kinds: beyond it only loads count. */
	static final int MOST_PRECISE = 50_000;

	/** Of equal loads, those of lower capacity are to come down. */
	private static final long CAPACITY = 1L << 30;

	private final Draft draft;

	private final Kind[] kinds;

	private final int weight;

	private final boolean precise;

	private final boolean mixedWeights;

	/** By kind, the best chain that ends with a shard of it being given away. */
	private final double[] loads;

	private final long[] costs;

	private final int[] givers;

	private final int[] before;

	/** By member, the best of those chains that it could end or go on. */
	private final double[] loadsAt;

	private final long[] costsAt;

	private final int[] kindsAt;

	private int lastKind;

	private int lastTaker;

	/**
	 * Looks at some kinds.
	 * @param draft where to move
	 * @param kinds the kinds, all of one weight
	 * @param mixedWeights whether there are others, of other weights
	 */
	Cycles(Draft draft, List<Kind> kinds, boolean mixedWeights) {
		this.draft = draft;
		this.kinds = kinds.toArray(Kind[]::new);
		this.weight = this.kinds[0].weight;
		this.precise = kinds.stream().mapToLong((kind) -> kind.takers.length).sum() <= MOST_PRECISE;
		this.mixedWeights = mixedWeights;
		this.loads = new double[this.kinds.length];
		this.costs = new long[this.kinds.length];
		this.givers = new int[this.kinds.length];
		this.before = new int[this.kinds.length];
		this.loadsAt = new double[draft.members()];
		this.costsAt = new long[draft.members()];
		this.kindsAt = new int[draft.members()];
	}

	/**
	 * Improves until nothing is left to improve.
	 * @return whether something moved
	 */

	boolean cancel() {
		boolean moved = this.precise && new Swaps(this.draft, List.of(this.kinds)).swap();
		for (Chain chain = find(); chain != null; chain = find()) {
			chain.moveWhileItPays();
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
			int inCircle = inCircle();
			if (inCircle >= 0) {
				return Chain.closed(this, inCircle);
			}
		}
	}

	private void begin() {
		Arrays.fill(this.loads, Double.POSITIVE_INFINITY);
		for (int kind = 0; kind < this.kinds.length; kind++) {
			int[] has = this.kinds[kind].has;
			for (int giver : this.kinds[kind].takers) {
				if (has[giver] > 0) {
					offer(kind, -this.draft.rate(giver), startCost(giver) + giveCost(kind, giver), giver, -1);
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
				double endLoad = load + this.draft.rateWith(taker, this.weight);
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

	/** A chain that has come back to itself costs less than nothing. */
	private int inCircle() {
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
		return (this.mixedWeights && this.precise) ? CAPACITY * this.draft.capacity(member) : 0;
	}

	long giveCost(int kind, int giver) {
		return this.precise ? this.draft.giveCost(this.kinds[kind], giver) : 0;
	}

	long takeCost(int kind, int taker) {
		return this.precise ? this.draft.takeCost(this.kinds[kind], taker) : 0;
	}

	int giver(int kind) {
		return this.givers[kind];
	}

	int before(int kind) {
		return this.before[kind];
	}

	Kind kind(int kind) {
		return this.kinds[kind];
	}

	Draft draft() {
		return this.draft;
	}

	/** What it costs that the first one has one less and the last one has one more. */
	int compareEnds(int first, int last) {
		int order = Double.compare(this.draft.rateWith(last, this.weight), this.draft.rate(first));
		return (order != 0) ? order : Long.compare(startCost(first), startCost(last));
	}

}
