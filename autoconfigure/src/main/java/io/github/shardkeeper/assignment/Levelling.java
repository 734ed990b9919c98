package io.github.shardkeeper.assignment;

import java.util.function.IntPredicate;

/**
 * Places and moves shards of one kind at a time, from the fullest to the emptiest.
 * Confined to its thread.
 * <p>
 * Of members that carry the same, those take first in whose zone the data is, then those
 * that had given one away, then those with the fewest shards of the kind, then the first
 * ones in their order; the opposite gives first.
 */
final class Levelling {

	private final Draft draft;

	private final MemberHeap takers;

	private final MemberHeap givers;

	Levelling(Draft draft) {
		this.draft = draft;
		this.takers = new MemberHeap(draft.members(), false);
		this.givers = new MemberHeap(draft.members(), true);
	}

	/**
	 * Gives unowned shards of a kind away, one by one to whoever carries least then.
	 * @param kind the kind
	 * @param mayTake who can have them
	 * @param mostRate as long as nobody carries more than that
	 */
	void place(Kind kind, IntPredicate mayTake, double mostRate) {
		if (kind.unowned == 0) {
			return;
		}
		this.takers.clear();
		for (int member : kind.takers) {
			if (mayTake.test(member)) {
				putTaker(kind, member);
			}
		}
		while (kind.unowned > 0 && !this.takers.isEmpty()) {
			int taker = this.takers.first();
			if (this.draft.rateWith(taker, kind.weight) > mostRate) {
				break;
			}
			this.draft.give(kind, taker);
			putTaker(kind, taker);
		}
	}

	/**
	 * Moves shards of a kind as long as the taker carries less afterwards than the giver
	 * did before.
	 * @param kind the kind
	 * @param mayGive from whom
	 * @param mayTake to whom
	 * @param leastRate givers keep that much
	 * @return whether something moved
	 */
	boolean level(Kind kind, IntPredicate mayGive, IntPredicate mayTake, double leastRate) {
		return level(kind, mayGive, mayTake, leastRate, false);
	}

	/**
	 * Moves shards of a kind as long as the taker does not carry more afterwards than the
	 * giver then does. So heavy shards cover much of the way, and the light ones what is
	 * left.
	 * @param kind the kind
	 */
	void approach(Kind kind) {
		level(kind, (member) -> true, (member) -> true, 0, true);
	}

	private boolean level(Kind kind, IntPredicate mayGive, IntPredicate mayTake, double leastRate, boolean careful) {
		if (!isUneven(kind, mayGive, mayTake, leastRate)) {
			return false;
		}
		this.takers.clear();
		this.givers.clear();
		for (int member : kind.takers) {
			if (mayTake.test(member)) {
				putTaker(kind, member);
			}
			if (kind.has[member] > 0 && mayGive.test(member)) {
				putGiver(kind, member);
			}
		}
		boolean moved = false;
		while (!this.takers.isEmpty() && !this.givers.isEmpty()) {
			int giver = this.givers.first();
			int taker = this.takers.first();
			double before = this.draft.rate(giver);
			double limit = careful ? this.draft.rateWith(giver, -kind.weight) : Math.nextDown(before);
			if (before <= leastRate || this.draft.rateWith(taker, kind.weight) > limit) {
				break;
			}
			this.draft.move(kind, giver, taker);
			moved = true;
			update(kind, giver);
			update(kind, taker);
			if (mayGive.test(taker)) {
				putGiver(kind, taker);
			}
		}
		return moved;
	}

	/** One pass, so that nothing is put in order where nothing is to be done. */
	private boolean isUneven(Kind kind, IntPredicate mayGive, IntPredicate mayTake, double leastRate) {
		double most = leastRate;
		double least = Double.POSITIVE_INFINITY;
		for (int member : kind.takers) {
			if (kind.has[member] > 0 && this.draft.rate(member) > most && mayGive.test(member)) {
				most = this.draft.rate(member);
			}
			if (this.draft.rateWith(member, kind.weight) < least && mayTake.test(member)) {
				least = this.draft.rateWith(member, kind.weight);
			}
		}
		return least < most;
	}

	private void update(Kind kind, int member) {
		if (this.takers.contains(member)) {
			putTaker(kind, member);
		}
		if (this.givers.contains(member)) {
			if (kind.has[member] > 0) {
				putGiver(kind, member);
			}
			else {
				this.givers.remove(member);
			}
		}
	}

	private void putTaker(Kind kind, int member) {
		long cost = (long) this.draft.takeCost(kind, member) << Integer.SIZE;
		this.takers.put(member, this.draft.rateWith(member, kind.weight), cost + kind.has[member]);
	}

	private void putGiver(Kind kind, int member) {
		long cost = (long) this.draft.giveCost(kind, member) << Integer.SIZE;
		this.givers.put(member, -this.draft.rate(member), cost - kind.has[member]);
	}

}
