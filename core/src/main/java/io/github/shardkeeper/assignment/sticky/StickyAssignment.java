package io.github.shardkeeper.assignment.sticky;

import java.util.Objects;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;

/**
 * Even assignment with the fewest moves: a shard stays where it is unless a pin, balance,
 * its zone or a deployment requires a move. Immutable.
 * <p>
 * If all members run one version, these rules hold, in this order:
 * <ol>
 * <li>A pinned shard goes to its instance and counts as load there.</li>
 * <li>Loads are level. The load of a member is the weight of its shards divided by its
 * capacity. No move, and no chain of moves of shards of one weight, lowers the highest
 * load of the members involved: loads of two members that could take each other's shards
 * differ by at most one shard.</li>
 * <li>As many shards as possible are in the zone of their data. A shard moves for its
 * zone while loads stay as level as they are.</li>
 * <li>As few shards as possible move.</li>
 * </ol>
 * With shards of equal weight the result is optimal by these rules, unless the group is
 * both large and diverse (see {@link MinimumCostFlow#MOST_PRECISE}): then loads are
 * level, but more shards may move than necessary. With different weights, no single move,
 * no swap and no cycle of shards of one weight improves the result (see {@link Balance}).
 * {@link EvenShares} is a faster way to the same result when members and shards are
 * alike.
 * <p>
 * If members run several versions, moving shards go to the newest version, and no shard
 * leaves it that would return (see {@link Rollout}). Balance follows when the last older
 * member has left.
 * <p>
 * If one of several shards must move, the one that came last does. So a shard that has
 * moved in a deployment is not the first to move again at its end.
 */
public final class StickyAssignment implements AssignmentStrategy {

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		if (EvenShares.fit(request)) {
			return new EvenShares(request).assignment();
		}
		ShardCounts counts = new ShardCounts(request);
		if (request.hasMixedVersions()) {
			new Rollout(counts).apply();
		}
		else {
			new Balance(counts).apply();
		}
		return counts.assignment();
	}

}
