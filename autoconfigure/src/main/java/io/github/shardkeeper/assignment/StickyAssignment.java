package io.github.shardkeeper.assignment;

/**
 * Leaves every shard where it is unless balance or a deployment demands a move.
 * Immutable.
 * <p>
 * Members of one version: loads differ by at most one among members that could take each
 * other's shards, with the fewest moves (see {@link EvenShares} and {@link Balance}).
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
