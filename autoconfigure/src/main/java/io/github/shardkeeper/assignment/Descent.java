package io.github.shardkeeper.assignment;

import java.util.List;

/**
 * Moves shards of kinds of one weight, whichever fits, from the fullest members to the
 * emptiest ones, so that few shards move more than once. Confined to its thread.
 * <p>
 * This is greedy: it ends when no single move lowers the higher load of the two, but not
 * always with the fewest moves or the most shards in their zones, which {@link Cycles}
 * makes up for.
 */
final class Descent {

	private final Draft draft;

	private final List<Kind> kinds;

	private final MemberHeap givers;

	/** By kind. */
	private final MemberHeap[] takers;

	Descent(Draft draft, List<Kind> kinds) {
		this.draft = draft;
		this.kinds = kinds;
		this.givers = new MemberHeap(draft.members(), true);
		this.takers = new MemberHeap[kinds.size()];
	}

	/**
	 * Levels loads.
	 * @return whether something moved
	 */
	boolean level() {
		boolean ever = false;
		while (this.kinds.stream().anyMatch(this::isUneven)) {
			begin();
			while (!this.givers.isEmpty()) {
				int giver = this.givers.first();
				int kind = bestKind(giver);
				if (kind >= 0) {
					int taker = this.takers[kind].first();
					this.draft.move(this.kinds.get(kind), giver, taker);
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

	/** One pass, so that nothing is put in order where nothing is to be done. */
	private boolean isUneven(Kind kind) {
		double most = 0;
		double least = Double.POSITIVE_INFINITY;
		for (int member : kind.takers) {
			if (kind.has[member] > 0) {
				most = Math.max(most, this.draft.rate(member));
			}
			least = Math.min(least, this.draft.rateWith(member, kind.weight));
		}
		return least < most;
	}

	private void begin() {
		this.givers.clear();
		for (int kind = 0; kind < this.takers.length; kind++) {
			this.takers[kind] = new MemberHeap(this.draft.members(), false);
			for (int taker : this.kinds.get(kind).takers) {
				putTaker(kind, taker);
				putGiver(taker);
			}
		}
	}

	private int bestKind(int giver) {
		int best = -1;
		double bestRate = this.draft.rate(giver);
		int bestCost = 0;
		for (int kind = 0; kind < this.takers.length; kind++) {
			Kind given = this.kinds.get(kind);
			if (given.has[giver] > 0) {
				int taker = this.takers[kind].first();
				double rate = this.draft.rateWith(taker, given.weight);
				int cost = this.draft.giveCost(given, giver) + this.draft.takeCost(given, taker);
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
		this.givers.put(member, -this.draft.rate(member), 0);
	}

	private void putTaker(int kind, int taker) {
		Kind taken = this.kinds.get(kind);
		long cost = (long) this.draft.takeCost(taken, taker) << Integer.SIZE;
		this.takers[kind].put(taker, this.draft.rateWith(taker, taken.weight), cost + taken.has[taker]);
	}

}
