package io.github.shardkeeper.assignment.rules;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Objects;
import java.util.Queue;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;

/**
 * Consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam 2016): shards
 * and instances are hashed onto a ring; a shard belongs to the next instance with room.
 * Immutable.
 * <p>
 * A member gets at most {@value #MOST_FAIR_SHARES} times its fair share, rounded up. Its
 * fair share of a topic is its part of the capacity of all members that consume the
 * topic. If one of n members joins or leaves, about 1/n of the shards move.
 * <p>
 * Owners do not follow from history: an instance that comes back under its id gets the
 * shards that it had. For shards whose data the instances keep (files, caches) under
 * stable ids; otherwise the sticky strategy moves no more and is more even.
 * <p>
 * Uses subscriptions, capacities and pins only. Pinned shards have no bound.
 */
public final class ConsistentHashAssignment implements AssignmentStrategy {

	/** Maximum load of a member, in fair shares. */
	public static final double MOST_FAIR_SHARES = 1.25;

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		UnpinnedShards unpinned = new UnpinnedShards(request);
		if (!request.members().isEmpty()) {
			BoundedLoads loads = new BoundedLoads(request, unpinned);
			unpinned.forEachTopic(loads::count);
			unpinned.forEachTopic(loads::assign);
		}
		return unpinned.assignment();
	}

	/**
	 * State of one assignment. Confined to its thread. If subscriptions differ, all
	 * consumers of a topic may be full of other topics' shards. Then one of them makes
	 * room, possibly through further members. All bounds are above the fair shares, so
	 * there always is a way (Hall's theorem).
	 */
	private static final class BoundedLoads {

		private static final double ROUNDING = 1e-6;

		private final AssignmentRequest request;

		private final UnpinnedShards unpinned;

		private final HashRing ring;

		/** By member, sum of its fair shares of the topics. */
		private final double[] fairShares;

		private final int[] held;

		BoundedLoads(AssignmentRequest request, UnpinnedShards unpinned) {
			this.request = request;
			this.unpinned = unpinned;
			this.ring = new HashRing(request.members());
			this.fairShares = new double[request.members().size()];
			this.held = new int[this.fairShares.length];
		}

		/** Adds to the fair shares. Called for all topics before any is assigned. */
		void count(int[] shards, int[] consumers) {
			double capacity = 0;
			for (int member : consumers) {
				capacity += this.request.members().get(member).capacity();
			}
			for (int member : consumers) {
				this.fairShares[member] += shards.length * (this.request.members().get(member).capacity() / capacity);
			}
		}

		void assign(int[] shards, int[] consumers) {
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
				this.unpinned.give(shard, member);
				this.held[member]++;
				if (!hasRoom(member)) {
					hasRoom[member] = false;
					withRoom--;
				}
			}
		}

		private boolean hasRoom(int member) {
			return this.held[member] < Math.ceil(MOST_FAIR_SHARES * this.fairShares[member] - ROUNDING);
		}

		/** Searches breadth first along "could give to" for a member with room. */
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
				this.unpinned.forEachTopicOf(member, (own, takers) -> reach(own[0], takers, gets, queue));
			}
			throw new IllegalStateException("Bug in Shardkeeper: no member that consumes %s has room: %s"
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
				int from = this.unpinned.owner(shard);
				this.unpinned.give(shard, to);
				to = from;
			}
		}

	}

}
