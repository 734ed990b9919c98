package io.github.shardkeeper.assignment;

import java.util.Objects;

/**
 * Hashes shards and instances onto a ring; a shard belongs to the next instance on it
 * that has room: consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam
 * 2016). Immutable.
 * <p>
 * No member gets more than {@value #MOST_FAIR_SHARES} times its fair share, rounded up.
 * Its fair share is the part of each topic that it consumes which its capacity is of all
 * who consume it. One of n members that joins or leaves moves about 1/n of the shards,
 * most of them to or from that member.
 * <p>
 * Owners follow from who is there, not from history: an instance that comes back under
 * its id gets what it had, and so does a whole group after a loss of everything. Loads
 * differ more than with {@link StickyAssignment}, which moves no more. For shards whose
 * data the instances keep (files, caches), and for groups whose members come and go under
 * the same ids; those with a new id at each start gain nothing.
 * <p>
 * Looks at subscriptions, capacity and pins only: not at weights, zones or versions.
 * Pinned shards are given away before, and neither counted nor bounded.
 */
public final class ConsistentHashAssignment implements AssignmentStrategy {

	/** How many times its fair share a member gets at most. */
	public static final double MOST_FAIR_SHARES = 1.25;

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		RuleDraft draft = new RuleDraft(request);
		if (!request.members().isEmpty()) {
			BoundedLoads loads = new BoundedLoads(request, draft);
			draft.forEachTopic(loads::count);
			draft.forEachTopic(loads::share);
		}
		return draft.assignment();
	}

}
