package io.github.shardkeeper.assignment.sticky;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;

/**
 * Even shares, by capacity, of equal shards among members that all consume all topics:
 * the fast path for large groups. Confined to its thread.
 * <p>
 * The D'Hondt method (seats for votes) sets the size of each share: no move can then
 * lower the highest load per capacity. Of equally good shares, the larger go to the
 * members that have most already. No shard moves twice: the moves are minimal.
 */
final class EvenShares {

	private final AssignmentRequest request;

	private final int[] owners;

	private final byte[] reasons;

	private final int[] held;

	EvenShares(AssignmentRequest request) {
		this.request = request;
		this.owners = new int[request.shards().size()];
		this.reasons = new byte[this.owners.length];
		this.held = new int[request.members().size()];
	}

	static boolean fit(AssignmentRequest request) {
		List<Assignee> members = request.members();
		if (members.isEmpty() || !request.hasPlainShards() || request.hasMixedVersions()) {
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

	Assignment assignment() {
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
			ShareTransfer transfer = new ShareTransfer(this.request, null, this.owners);
			if (surplus > 0) {
				transfer.release(this.held, shares, (shard) -> this.reasons[shard] = (byte) Reason.SHARE.ordinal());
			}
			transfer.distribute(this.held, shares);
		}
		return Assignment.unchecked(this.request, this.owners, this.reasons);
	}

	private int[] shares() {
		List<Assignee> members = this.request.members();
		long capacity = members.stream().mapToLong(Assignee::capacity).sum();
		int[] shares = new int[members.size()];
		int rest = this.owners.length;
		for (int member = 0; member < shares.length; member++) {
			// The D'Hondt method gives no member less than this.
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

	/** Lowest load per capacity with one more first; then members that keep one. */
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
