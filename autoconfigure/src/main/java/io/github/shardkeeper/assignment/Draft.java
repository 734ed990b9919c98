package io.github.shardkeeper.assignment;

import java.util.List;

/**
 * An assignment that is being computed: who holds how many shards of which kind, and how
 * much that weighs. Decides nothing. Confined to its thread.
 * <p>
 * Begins with what everybody has and can keep. Pinned shards are with their instances,
 * count as load there, and are of no kind, so they stay.
 */
final class Draft {

	/** What a shard in its zone is worth: more moves than any chain of them has. */
	private static final int HOME = 1 << 14;

	private final AssignmentRequest request;

	private final int[] pinned;

	private final List<Kind> kinds;

	private final int[] zones;

	private final int[] capacities;

	private final long[] loads;

	private final long[] firstLoads;

	Draft(AssignmentRequest request) {
		this.request = request;
		this.pinned = Pins.owners(request);
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
		for (Kind kind : this.kinds) {
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

	/** By shard the member that it is pinned to. */
	int[] pinned() {
		return this.pinned;
	}

	/** The heaviest first, of equal ones that with the fewest takers first. */
	List<Kind> kinds() {
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

	/** What it carried of its own at the beginning. */
	long firstLoad(int member) {
		return this.firstLoads[member];
	}

	/** What is levelled: load by capacity. */
	double rate(int member) {
		return (double) this.loads[member] / this.capacities[member];
	}

	/** Its rate if it had as much more, or less. */
	double rateWith(int member, int weight) {
		return (double) (this.loads[member] + weight) / this.capacities[member];
	}

	/** Whether the data of a kind is in a member's zone. */
	boolean isHome(Kind kind, int member) {
		return kind.zone != Kind.NOWHERE && kind.zone == this.zones[member];
	}

	/**
	 * What it costs, besides load, that somebody gives away a shard that it has: a move
	 * if it has had it from the beginning, and more if its data is in its zone.
	 */
	int giveCost(Kind kind, int giver) {
		return ((kind.has[giver] <= kind.had[giver]) ? 1 : 0) + (isHome(kind, giver) ? HOME : 0);
	}

	/** What it costs, besides load, that somebody gets a shard: the opposite. */
	int takeCost(Kind kind, int taker) {
		return ((kind.has[taker] < kind.had[taker]) ? -1 : 0) - (isHome(kind, taker) ? HOME : 0);
	}

	/** Gives somebody a shard that nobody has. */
	void give(Kind kind, int member) {
		kind.unowned--;
		kind.has[member]++;
		this.loads[member] += kind.weight;
	}

	void move(Kind kind, int from, int to) {
		kind.has[from]--;
		this.loads[from] -= kind.weight;
		kind.has[to]++;
		this.loads[to] += kind.weight;
	}

}
