package io.github.shardkeeper.assignment;

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
		if (members.isEmpty() || !request.hasPlainShards() || Versions.areMixed(request)) {
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
				this.reasons[shard] = (byte) Reason.PLACED.ordinal();
			}
		}
		int[] shares = shares();
		int surplus = 0;
		for (int member = 0; member < shares.length; member++) {
			surplus += Math.max(this.held[member] - shares[member], 0);
		}
		if (unowned + surplus > 0) {
			Dealing dealing = new Dealing(this.request, null, this.owners);
			if (surplus > 0) {
				dealing.collect(this.held, shares, (shard) -> this.reasons[shard] = (byte) Reason.SHARE.ordinal());
			}
			dealing.deal(this.held, shares);
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

}
