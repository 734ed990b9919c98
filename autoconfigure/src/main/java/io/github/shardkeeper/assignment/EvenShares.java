package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Shares equal shards out among members that all consume all topics, by their capacity:
 * the common case, and the one in which a group can be large. Takes a few passes over the
 * shards, in arrays. Confined to its thread.
 * <p>
 * The size of each share is settled first, by D'Hondt's method of seats for votes: so no
 * move could bring the highest load per capacity down. Of shares that are equally good,
 * the larger ones go to those who hold most already. Then whoever holds more than its
 * share gives the rest away to those with less, together with what nobody has. No shard
 * moves twice and none moves back, so the number of moves is the least possible.
 */
final class EvenShares {

	private final AssignmentRequest request;

	private final int[] owners;

	private final byte[] reasons;

	/** By member, how many shards it holds. */
	private final int[] held;

	EvenShares(AssignmentRequest request) {
		this.request = request;
		this.owners = new int[request.shards().size()];
		this.reasons = new byte[this.owners.length];
		this.held = new int[request.members().size()];
	}

	/** Whether members and shards are alike enough. */
	static boolean apply(AssignmentRequest request) {
		List<Assignee> members = request.members();
		if (members.isEmpty() || !request.hasPlainShards() || Rollout.isUnderWay(request)) {
			return false;
		}
		List<String> topics = request.shards().topics();
		@Nullable Set<String> lastChecked = null;
		for (Assignee member : members) {
			if (!member.topics().equals(lastChecked)) {
				if (!member.topics().containsAll(topics)) {
					return false;
				}
				lastChecked = member.topics();
			}
		}
		return true;
	}

	Assignment share() {
		int unowned = 0;
		for (int shard = 0; shard < this.owners.length; shard++) {
			int owner = this.request.owner(shard);
			this.owners[shard] = owner;
			if (owner != AssignmentRequest.NOBODY) {
				this.held[owner]++;
			}
			else {
				unowned++;
			}
		}
		int[] shares = shares();
		int surplus = 0;
		for (int member = 0; member < shares.length; member++) {
			surplus += Math.max(this.held[member] - shares[member], 0);
		}
		if (unowned + surplus > 0) {
			if (surplus > 0) {
				new Surplus(this.request, this.held, shares).mark(this.owners, this.reasons);
			}
			deal(shares);
		}
		return new Assignment(this.request, this.owners, this.reasons, Map.of());
	}

	private int[] shares() {
		List<Assignee> members = this.request.members();
		long capacity = members.stream().mapToLong(Assignee::capacity).sum();
		int[] shares = new int[members.size()];
		int rest = this.owners.length;
		for (int member = 0; member < shares.length; member++) {
			// D'Hondt's method gives nobody less than that.
			shares[member] = (int) ((long) members.get(member).capacity() * this.owners.length / capacity);
			rest -= shares[member];
		}
		if (rest > 0) {
			PriorityQueue<Integer> next = new PriorityQueue<>(shares.length, neediest(members, shares));
			for (int member = 0; member < shares.length; member++) {
				next.add(member);
			}
			for (; rest > 0; rest--) {
				int member = next.remove();
				shares[member]++;
				next.add(member);
			}
		}
		return shares;
	}

	/** Who carries least for its capacity with one more; then who would keep one. */
	private Comparator<Integer> neediest(List<Assignee> members, int[] shares) {
		return (one, other) -> {
			int byLoad = Long.compare((shares[one] + 1L) * members.get(other).capacity(),
					(shares[other] + 1L) * members.get(one).capacity());
			if (byLoad != 0) {
				return byLoad;
			}
			int byHeld = Integer.compare(this.held[other] - shares[other], this.held[one] - shares[one]);
			return (byHeld != 0) ? byHeld : one - other;
		};
	}

	/**
	 * Deals what nobody has like cards, so that each topic's shards are spread.
	 */
	private void deal(int[] shares) {
		int[] takers = new int[shares.length];
		int count = 0;
		for (int member = 0; member < shares.length; member++) {
			if (this.held[member] < shares[member]) {
				takers[count++] = member;
			}
		}
		int at = 0;
		for (int shard = 0; shard < this.owners.length; shard++) {
			if (this.owners[shard] != AssignmentRequest.NOBODY) {
				continue;
			}
			at = (at < count) ? at : 0;
			int taker = takers[at];
			this.owners[shard] = taker;
			if (this.reasons[shard] == 0) {
				this.reasons[shard] = (byte) Reason.PLACED.ordinal();
			}
			if (++this.held[taker] == shares[taker]) {
				System.arraycopy(takers, at + 1, takers, at, --count - at);
			}
			else {
				at++;
			}
		}
	}

	/** Finds what those give away who hold more than their share. */
	private static final class Surplus {

		private final AssignmentRequest request;

		private final int[] held;

		private final int[] shares;

		Surplus(AssignmentRequest request, int[] held, int[] shares) {
			this.request = request;
			this.held = held;
			this.shares = shares;
		}

		void mark(int[] owners, byte[] reasons) {
			int members = this.held.length;
			int[] begins = new int[members + 1];
			for (int member = 0; member < members; member++) {
				begins[member + 1] = begins[member]
						+ ((this.held[member] > this.shares[member]) ? this.held[member] : 0);
			}
			int[] shards = new int[begins[members]];
			int[] ends = Arrays.copyOf(begins, members);
			for (int shard = 0; shard < owners.length; shard++) {
				int owner = owners[shard];
				if (owner != AssignmentRequest.NOBODY && this.held[owner] > this.shares[owner]) {
					shards[ends[owner]++] = shard;
				}
			}
			for (int member = 0; member < members; member++) {
				int surplus = this.held[member] - this.shares[member];
				if (surplus > 0) {
					for (int shard : latest(shards, begins[member], begins[member + 1], surplus)) {
						owners[shard] = AssignmentRequest.NOBODY;
						reasons[shard] = (byte) Reason.SHARE.ordinal();
					}
					this.held[member] -= surplus;
				}
			}
		}

		/**
		 * Of one member's shards those to be given away: from the topic of which it holds
		 * most compared with its size, there what came last.
		 */
		private int[] latest(int[] shards, int begin, int end, int count) {
			int topics = this.request.shards().topics().size();
			int[][] byTopic = new int[topics][];
			int at = begin;
			for (int topic = 0; topic < topics; topic++) {
				int from = at;
				while (at < end && shards[at] < this.request.shards().end(topic)) {
					at++;
				}
				byTopic[topic] = earliestFirst(shards, from, at);
			}
			int[] chosen = new int[count];
			int[] left = new int[topics];
			for (int topic = 0; topic < topics; topic++) {
				left[topic] = byTopic[topic].length;
			}
			for (int i = 0; i < count; i++) {
				int topic = fullest(byTopic, left);
				chosen[i] = byTopic[topic][--left[topic]];
			}
			return chosen;
		}

		private int fullest(int[][] byTopic, int[] left) {
			int fullest = -1;
			long most = Long.MIN_VALUE;
			for (int topic = 0; topic < left.length; topic++) {
				if (left[topic] == 0) {
					continue;
				}
				int size = this.request.shards().end(topic) - this.request.shards().begin(topic);
				long aboveAverage = (long) left[topic] * this.held.length - size;
				if (aboveAverage > most || aboveAverage == most
						&& cameLater(byTopic[topic][left[topic] - 1], byTopic[fullest][left[fullest] - 1])) {
					fullest = topic;
					most = aboveAverage;
				}
			}
			return fullest;
		}

		private boolean cameLater(int one, int other) {
			return this.request.since(one) > this.request.since(other);
		}

		private int[] earliestFirst(int[] shards, int from, int to) {
			boolean inOrder = true;
			for (int i = from + 1; i < to; i++) {
				inOrder &= !cameLater(shards[i - 1], shards[i]);
			}
			if (inOrder) {
				return Arrays.copyOfRange(shards, from, to);
			}
			return Arrays.stream(shards, from, to)
				.boxed()
				.sorted(Comparator.<Integer>comparingLong(this.request::since).thenComparing(Comparator.naturalOrder()))
				.mapToInt(Integer::intValue)
				.toArray();
		}

	}

}
