package io.github.shardkeeper.assignment.sticky;

import java.util.Objects;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;

/**
 * Even assignment with the fewest moves. Immutable. If all members run one version, these
 * rules hold, in this order:
 * <ol>
 * <li>A pinned shard goes to its instance and counts as load there.</li>
 * <li>Loads, the weight of a member's shards divided by its capacity, are level. No chain
 * of moves of shards of one weight lowers the highest load involved.</li>
 * <li>As many shards as possible are in the zone of their data, at the same loads.</li>
 * <li>As few shards as possible move; of several, the one that came last.</li>
 * </ol>
 * With equal weights the result is optimal by these rules, unless the group is both large
 * and diverse (see {@link MinimumCostFlow#MOST_PRECISE}): then more shards may move than
 * necessary. With different weights, no single move, no swap and no cycle of shards of
 * one weight improves it (see {@link Balance}). {@link EvenShares} is faster.
 * <p>
 * If members run several versions, moving shards go to the newest version, and no shard
 * leaves it that would return (see {@link Rollout}). Balance follows at the end.
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
