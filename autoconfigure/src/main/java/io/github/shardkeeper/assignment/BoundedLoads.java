package io.github.shardkeeper.assignment;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;

/**
 * Gives each shard to the next member on the ring that consumes it and has room. Confined
 * to its thread.
 * <p>
 * Where subscriptions differ, all consumers of a topic may be full of other topics'
 * shards. Then one of these makes room, perhaps by way of further members. As all bounds
 * are above the fair shares, and these add up for any choice of topics, there always is a
 * way (Hall's theorem).
 */
final class BoundedLoads {

	/** Against sums of fractions that are above a whole number by a rounding error. */
	private static final double ROUNDING = 1e-6;

	private final AssignmentRequest request;

	private final RuleDraft draft;

	private final HashRing ring;

	/** By member the sum of its fair shares of the topics. */
	private final double[] fairShares;

	/** By member how many it holds. */
	private final int[] held;

	BoundedLoads(AssignmentRequest request, RuleDraft draft) {
		this.request = request;
		this.draft = draft;
		this.ring = new HashRing(request.members());
		this.fairShares = new double[request.members().size()];
		this.held = new int[this.fairShares.length];
	}

	/** Counts a topic in. To be called for all topics before any is shared. */
	void count(int[] shards, int[] consumers) {
		double capacity = 0;
		for (int member : consumers) {
			capacity += this.request.members().get(member).capacity();
		}
		for (int member : consumers) {
			this.fairShares[member] += shards.length * (this.request.members().get(member).capacity() / capacity);
		}
	}

	void share(int[] shards, int[] consumers) {
		boolean[] hasRoom = new boolean[this.held.length];
		int withRoom = 0;
		for (int member : consumers) {
			hasRoom[member] = hasRoom(member);
			withRoom += hasRoom[member] ? 1 : 0;
		}
		for (int shard : shards) {
			if (withRoom == 0) {
				makeRoom(shard, consumers);
				continue;
			}
			int point = this.ring.pointAfter(HashRing.hash(this.request.shards().get(shard).toString()));
			while (!hasRoom[this.ring.member(point)]) {
				point = this.ring.next(point);
			}
			int member = this.ring.member(point);
			this.draft.give(shard, member);
			this.held[member]++;
			if (!hasRoom(member)) {
				hasRoom[member] = false;
				withRoom--;
			}
		}
	}

	private boolean hasRoom(int member) {
		return this.held[member] < Math
			.ceil(ConsistentHashAssignment.MOST_FAIR_SHARES * this.fairShares[member] - ROUNDING);
	}

	/**
	 * Breadth first from the shard's consumers over "could give one of its shards to",
	 * until somebody is found who has room.
	 */
	private void makeRoom(int shard, int[] consumers) {
		int[] gets = new int[this.held.length];
		Arrays.fill(gets, -1);
		Queue<Integer> queue = new ArrayDeque<>();
		reach(shard, consumers, gets, queue);
		while (!queue.isEmpty()) {
			int member = queue.remove();
			if (hasRoom(member)) {
				this.held[member]++;
				passOn(gets, member);
				return;
			}
			this.draft.forEachTopicOf(member, (own, takers) -> reach(own[0], takers, gets, queue));
		}
		throw new IllegalStateException("No member that consumes %s has room, which cannot be: %s"
			.formatted(this.request.shards().get(shard), this.request));
	}

	private static void reach(int shard, int[] takers, int[] gets, Queue<Integer> queue) {
		for (int taker : takers) {
			if (gets[taker] < 0) {
				gets[taker] = shard;
				queue.add(taker);
			}
		}
	}

	private void passOn(int[] gets, int last) {
		int to = last;
		while (to != AssignmentRequest.NOBODY) {
			int shard = gets[to];
			int from = this.draft.owner(shard);
			this.draft.give(shard, to);
			to = from;
		}
	}

}
