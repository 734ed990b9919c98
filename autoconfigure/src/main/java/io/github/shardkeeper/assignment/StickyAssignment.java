package io.github.shardkeeper.assignment;

import java.util.Objects;

/**
 * Leaves every shard where it is unless a pin, balance, its zone or a deployment demands
 * a move. Immutable.
 * <p>
 * Members of one version, the rules in their order:
 * <ol>
 * <li>A pinned shard goes to its instance, and is the load of that.</li>
 * <li>Loads are level. A member's load is the weight of its shards by its capacity. In
 * the end no move, and no chain of moves of shards of one weight, lowers the highest load
 * of those involved: of two members that could take each other's shards the loads differ
 * by no more than one shard.</li>
 * <li>As many shards as possible are in the zone of their data. A shard moves for that,
 * as long as loads stay as level as they are.</li>
 * <li>As few shards as possible move.</li>
 * </ol>
 * With shards of equal weight what comes out is the best there is by these rules, unless
 * a group is both large and diverse (see {@link Cycles#MOST_PRECISE}): then loads are
 * level, but some more shards may move than had to. With different weights no single
 * move, no swap and no circle of shards of one weight is left that would improve it (see
 * {@link Balance}). The frequent case, in which all are alike, is found in a shorter way
 * (see {@link EvenShares}).
 * <p>
 * Members of several versions: what has to move goes to the newest version, and nothing
 * moves away from it that would come back (see {@link Rollout}). Balance is made up for
 * when the last older member is gone.
 * <p>
 * Where one shard of several must move, it is the one that came last. So a shard that has
 * moved in a deployment is not the first to move again at its end.
 */
public final class StickyAssignment implements AssignmentStrategy {

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		if (EvenShares.apply(request)) {
			return new EvenShares(request).share();
		}
		Draft draft = new Draft(request);
		if (Versions.areMixed(request)) {
			new Rollout(draft).share();
		}
		else {
			new Balance(draft).share();
		}
		return new Distribution(draft).assignment();
	}

}
