package io.github.shardkeeper.assignment;

import java.util.List;

/**
 * Lets pairs of members swap shards of two kinds of one weight, as long as that brings
 * more of them to the zone of their data, or saves moves. Loads stay as they are.
 * Confined to its thread.
 * <p>
 * What this finds, {@link Cycles} would find too, but one by one: where zones are new,
 * most of a group's shards are to be swapped.
 */
final class Swaps {

	private final Draft draft;

	private final List<Kind> kinds;

	/** Those who have one of the first kind and could have one of the second instead. */
	private final MemberHeap first;

	/** The other way round. */
	private final MemberHeap second;

	private final int[] both;

	private int bothCount;

	Swaps(Draft draft, List<Kind> kinds) {
		this.draft = draft;
		this.kinds = kinds;
		this.first = new MemberHeap(draft.members(), false);
		this.second = new MemberHeap(draft.members(), false);
		this.both = new int[draft.members()];
	}

	/**
	 * Swaps, each two kinds once.
	 * @return whether something moved
	 */
	boolean swap() {
		boolean moved = false;
		for (int one = 1; one < this.kinds.size(); one++) {
			for (int other = 0; other < one; other++) {
				moved |= swap(this.kinds.get(one), this.kinds.get(other));
			}
		}
		return moved;
	}

	private boolean swap(Kind one, Kind other) {
		findBoth(one.takers, other.takers);
		if (leastCost(one, other) + leastCost(other, one) >= 0) {
			return false;
		}
		this.first.clear();
		this.second.clear();
		for (int i = 0; i < this.bothCount; i++) {
			put(one, other, this.both[i]);
		}
		boolean moved = false;
		while (!this.first.isEmpty() && !this.second.isEmpty()) {
			int giver = this.first.first();
			int taker = this.second.first();
			if (cost(one, other, giver) + cost(other, one, taker) >= 0) {
				break;
			}
			this.draft.move(one, giver, taker);
			this.draft.move(other, taker, giver);
			moved = true;
			put(one, other, giver);
			put(one, other, taker);
		}
		return moved;
	}

	/** Both are in order. */
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

	private int leastCost(Kind given, Kind taken) {
		int least = Integer.MAX_VALUE / 2;
		for (int i = 0; i < this.bothCount; i++) {
			if (given.has[this.both[i]] > 0) {
				least = Math.min(least, cost(given, taken, this.both[i]));
			}
		}
		return least;
	}

	private int cost(Kind given, Kind taken, int member) {
		return this.draft.giveCost(given, member) + this.draft.takeCost(taken, member);
	}

	private void put(Kind one, Kind other, int member) {
		put(this.first, one, other, member);
		put(this.second, other, one, member);
	}

	private void put(MemberHeap heap, Kind given, Kind taken, int member) {
		if (given.has[member] > 0) {
			heap.put(member, cost(given, taken, member), 0);
		}
		else if (heap.contains(member)) {
			heap.remove(member);
		}
	}

}
