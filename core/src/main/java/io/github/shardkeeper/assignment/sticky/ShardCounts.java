package io.github.shardkeeper.assignment.sticky;

import java.util.Arrays;
import java.util.List;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;

/**
 * Numbers of shards by kind and member while an assignment is computed, and the loads
 * that follow. Pinned shards count as load of their instance but belong to no kind, so
 * they do not move. Confined to its thread.
 */
final class ShardCounts {

	/** Value of a shard in its zone: above the number of moves in any chain. */
	private static final int HOME = 1 << 14;

	private final AssignmentRequest request;

	private final int[] pinned;

	private final List<ShardKind> kinds;

	private final int[] zones;

	private final int[] capacities;

	private final long[] loads;

	private final long[] firstLoads;

	ShardCounts(AssignmentRequest request) {
		this.request = request;
		this.pinned = request.pinnedOwners();
		KindSorter sorter = new KindSorter(request, this.pinned);
		this.kinds = sorter.sort();
		this.zones = sorter.zones();
		this.capacities = request.members().stream().mapToInt(Assignee::capacity).toArray();
		this.loads = new long[this.capacities.length];
		keepCurrent();
		this.firstLoads = this.loads.clone();
	}

	private void keepCurrent() {
		for (int shard = 0; shard < this.pinned.length; shard++) {
			if (this.pinned[shard] != AssignmentRequest.NOBODY) {
				this.loads[this.pinned[shard]] += this.request.traits(shard).weight();
			}
		}
		boolean[] canTake = new boolean[this.loads.length];
		for (ShardKind kind : this.kinds) {
			for (int member : kind.takers) {
				canTake[member] = true;
			}
			kind.unowned = kind.shards.length;
			for (int shard : kind.shards) {
				int owner = this.request.owner(shard);
				if (owner != AssignmentRequest.NOBODY && canTake[owner]) {
					kind.had[owner]++;
					give(kind, owner);
				}
			}
			for (int member : kind.takers) {
				canTake[member] = false;
			}
		}
	}

	AssignmentRequest request() {
		return this.request;
	}

	List<ShardKind> kinds() {
		return this.kinds;
	}

	int members() {
		return this.loads.length;
	}

	int capacity(int member) {
		return this.capacities[member];
	}

	long load(int member) {
		return this.loads[member];
	}

	double rate(int member) {
		return (double) this.loads[member] / this.capacities[member];
	}

	double rateWith(int member, int weight) {
		return (double) (this.loads[member] + weight) / this.capacities[member];
	}

	boolean isHome(ShardKind kind, int member) {
		return kind.zone != ShardKind.NOWHERE && kind.zone == this.zones[member];
	}

	/**
	 * Returns the cost, apart from load, of taking a shard: one move if the giver has had
	 * it from the beginning, and more if its data is in the giver's zone.
	 */
	int giveCost(ShardKind kind, int giver) {
		return ((kind.has[giver] <= kind.had[giver]) ? 1 : 0) + (isHome(kind, giver) ? HOME : 0);
	}

	int takeCost(ShardKind kind, int taker) {
		return ((kind.has[taker] < kind.had[taker]) ? -1 : 0) - (isHome(kind, taker) ? HOME : 0);
	}

	void give(ShardKind kind, int member) {
		kind.unowned--;
		kind.has[member]++;
		this.loads[member] += kind.weight;
	}

	void move(ShardKind kind, int from, int to) {
		kind.has[from]--;
		this.loads[from] -= kind.weight;
		kind.has[to]++;
		this.loads[to] += kind.weight;
	}

	Assignment assignment() {
		int[] owners = new int[this.pinned.length];
		byte[] reasons = new byte[owners.length];
		Arrays.fill(owners, AssignmentRequest.NOBODY);
		for (int shard = 0; shard < owners.length; shard++) {
			if (this.pinned[shard] != AssignmentRequest.NOBODY) {
				owners[shard] = this.pinned[shard];
				reasons[shard] = (byte) Reason.PINNED.ordinal();
			}
		}
		int[] versions = Rollout.versionRanks(this.request);
		for (ShardKind kind : this.kinds) {
			chooseOwners(kind, owners);
			for (int shard : kind.shards) {
				reasons[shard] = (byte) reason(kind, this.request.owner(shard), owners[shard], versions).ordinal();
			}
		}
		return Assignment.unchecked(this.request, owners, reasons);
	}

	private void chooseOwners(ShardKind kind, int[] owners) {
		boolean surplus = false;
		int[] held = kind.had.clone();
		for (int member : kind.takers) {
			surplus |= held[member] > kind.has[member];
		}
		for (int shard : kind.shards) {
			int owner = this.request.owner(shard);
			owners[shard] = (owner != AssignmentRequest.NOBODY && held[owner] > 0) ? owner : AssignmentRequest.NOBODY;
		}
		ShareTransfer transfer = new ShareTransfer(this.request, kind.shards, owners);
		if (surplus) {
			transfer.release(held, kind.has, (shard) -> {
			});
		}
		transfer.distribute(held, kind.has);
	}

	private Reason reason(ShardKind kind, int from, int to, int[] versions) {
		if (from == to) {
			return Reason.KEPT;
		}
		if (from == AssignmentRequest.NOBODY || kind.had[from] == 0) {
			return Reason.PLACED;
		}
		if (versions[to] > versions[from]) {
			return Reason.NEWER_VERSION;
		}
		if ((double) this.firstLoads[from] / this.capacities[from] > rate(to)) {
			return Reason.SHARE;
		}
		return (isHome(kind, to) && !isHome(kind, from)) ? Reason.ZONE : Reason.ROOM;
	}

}
