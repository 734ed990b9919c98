package io.github.shardkeeper.assignment.sticky;

import java.util.function.IntPredicate;

/**
 * Places and moves shards of one kind at a time. Confined to its thread. Of members with
 * the same rate, these take first and give last: those in the zone of the data, those
 * that have given a shard of the kind, those with the fewest shards of it.
 */
final class KindBalancer {

	private final ShardCounts counts;

	private final MemberHeap takers;

	private final MemberHeap givers;

	KindBalancer(ShardCounts counts) {
		this.counts = counts;
		this.takers = new MemberHeap(counts.members(), false);
		this.givers = new MemberHeap(counts.members(), true);
	}

	/** Gives unowned shards to the lowest rates, up to {@code mostRate}. */
	void place(ShardKind kind, IntPredicate mayTake, double mostRate) {
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
			if (this.counts.rateWith(taker, kind.weight) > mostRate) {
				break;
			}
			this.counts.give(kind, taker);
			putTaker(kind, taker);
		}
	}

	/**
	 * Moves shards while the taker's rate after a move is below the giver's rate before
	 * it. Givers keep the least rate. Returns whether a shard was moved.
	 */
	boolean level(ShardKind kind, IntPredicate mayGive, IntPredicate mayTake, double leastRate) {
		return level(kind, mayGive, mayTake, leastRate, false);
	}

	/**
	 * Moves shards while the taker's rate after a move is at most the giver's rate after
	 * it. So heavy shards level most of the difference, and light ones the rest.
	 */
	void approach(ShardKind kind) {
		level(kind, (member) -> true, (member) -> true, 0, true);
	}

	private boolean level(ShardKind kind, IntPredicate mayGive, IntPredicate mayTake, double leastRate,
			boolean careful) {
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
			double before = this.counts.rate(giver);
			double limit = careful ? this.counts.rateWith(giver, -kind.weight) : Math.nextDown(before);
			if (before <= leastRate || this.counts.rateWith(taker, kind.weight) > limit) {
				break;
			}
			this.counts.move(kind, giver, taker);
			moved = true;
			update(kind, giver);
			update(kind, taker);
			if (mayGive.test(taker)) {
				putGiver(kind, taker);
			}
		}
		return moved;
	}

	/** Takes one pass, so that nothing is sorted without need. */
	private boolean isUneven(ShardKind kind, IntPredicate mayGive, IntPredicate mayTake, double leastRate) {
		double most = leastRate;
		double least = Double.POSITIVE_INFINITY;
		for (int member : kind.takers) {
			if (kind.has[member] > 0 && this.counts.rate(member) > most && mayGive.test(member)) {
				most = this.counts.rate(member);
			}
			if (this.counts.rateWith(member, kind.weight) < least && mayTake.test(member)) {
				least = this.counts.rateWith(member, kind.weight);
			}
		}
		return least < most;
	}

	private void update(ShardKind kind, int member) {
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

	private void putTaker(ShardKind kind, int member) {
		long cost = (long) this.counts.takeCost(kind, member) << Integer.SIZE;
		this.takers.put(member, this.counts.rateWith(member, kind.weight), cost + kind.has[member]);
	}

	private void putGiver(ShardKind kind, int member) {
		long cost = (long) this.counts.giveCost(kind, member) << Integer.SIZE;
		this.givers.put(member, -this.counts.rate(member), cost - kind.has[member]);
	}

}
