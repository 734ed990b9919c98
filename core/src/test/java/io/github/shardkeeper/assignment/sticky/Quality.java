package io.github.shardkeeper.assignment.sticky;

import java.util.Comparator;
import java.util.List;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;

/**
 * Quality of an assignment of shards of equal weight: lower is better, compared in this
 * order.
 *
 * @param unevenness a sum that grows with the squares of loads divided by capacities
 * @param away the number of shards outside the zone of their data
 * @param moves the number of shards with another owner than before
 */
record Quality(long unevenness, int away, int moves) implements Comparable<Quality> {

	private static final Comparator<Quality> ORDER = Comparator.comparingLong(Quality::unevenness)
		.thenComparing(Quality::away)
		.thenComparing(Quality::moves);

	/** Divisible by all capacities. */
	private static final int SCALE = 6;

	static Quality of(AssignmentRequest request, int[] owners) {
		long[] loads = new long[request.members().size()];
		int away = 0;
		int moves = 0;
		for (int shard = 0; shard < owners.length; shard++) {
			if (owners[shard] != AssignmentRequest.NOBODY) {
				loads[owners[shard]]++;
				away += isHome(request, shard, owners[shard]) ? 0 : 1;
				moves += (request.owner(shard) != AssignmentRequest.NOBODY && request.owner(shard) != owners[shard]) ? 1
						: 0;
			}
		}
		long unevenness = 0;
		for (int member = 0; member < loads.length; member++) {
			unevenness += SCALE / request.members().get(member).capacity() * loads[member] * (loads[member] + 1);
		}
		return new Quality(unevenness, away, moves);
	}

	static Quality of(Assignment assignment) {
		return of(assignment.request(), owners(assignment));
	}

	static int[] owners(Assignment assignment) {
		int[] owners = new int[assignment.request().shards().size()];
		for (int shard = 0; shard < owners.length; shard++) {
			owners[shard] = assignment.owner(shard);
		}
		return owners;
	}

	static boolean isHome(AssignmentRequest request, int shard, int member) {
		String zone = request.traits(shard).zone();
		return zone != null && zone.equals(request.members().get(member).zone());
	}

	/** Tries everything. */
	static Quality best(AssignmentRequest request) {
		int[] owners = request.pinnedOwners();
		return best(request, owners, owners.clone(), 0);
	}

	private static Quality best(AssignmentRequest request, int[] pinned, int[] owners, int shard) {
		if (shard == owners.length) {
			return of(request, owners);
		}
		List<Assignee> takers = request.consumersOf(request.shards().get(shard).topic());
		if (pinned[shard] != AssignmentRequest.NOBODY || takers.isEmpty()) {
			return best(request, pinned, owners, shard + 1);
		}
		Quality best = null;
		for (Assignee taker : takers) {
			owners[shard] = request.members().indexOf(taker);
			Quality quality = best(request, pinned, owners, shard + 1);
			best = (best == null || quality.compareTo(best) < 0) ? quality : best;
		}
		owners[shard] = AssignmentRequest.NOBODY;
		return best;
	}

	@Override
	public int compareTo(Quality other) {
		return ORDER.compare(this, other);
	}

}
