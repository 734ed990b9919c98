package io.github.shardkeeper.assignment;

import java.util.Objects;

/**
 * Evens out what shards are measured to take, and leaves them where they are unless that
 * is worth a move. Immutable.
 * <ul>
 * <li>What has no owner goes to the least busy member that consumes it, the heaviest
 * first; where members are about equally busy, to the one with fewest shards.</li>
 * <li>A member that has less than half of its even share of shards, because it has just
 * joined, is filled up to that share by busier ones, also with shards that do
 * nothing.</li>
 * <li>A shard moves for its load only as {@link LoadAwareSettings} say. A load that is
 * not known is never a reason: it counts like the average of those that are, by the
 * shard's weight, and a member of which less than half is known neither gives nor takes
 * for load.</li>
 * <li>While nothing is measured at all, everything is as with {@link StickyAssignment}:
 * shares are equal by number. So it is, too, while several versions of the application
 * are there, because deployments come first. A group that is measured to do nothing is
 * not such a case: it would move at every nightfall, and back in the morning.</li>
 * </ul>
 * Pins hold; a shard with a zone is not taken out of it for load.
 */
public final class LoadAwareAssignment implements AssignmentStrategy {

	private final AssignmentStrategy sticky = new StickyAssignment();

	private final LoadAwareSettings settings;

	/**
	 * Creates the strategy.
	 * @param settings when a difference of loads is worth a move
	 */
	public LoadAwareAssignment(LoadAwareSettings settings) {
		Objects.requireNonNull(settings, "settings must not be null");
		this.settings = settings;
	}

	@Override
	public boolean usesLoad() {
		return true;
	}

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		if (request.members().size() < 2 || Versions.areMixed(request)) {
			return this.sticky.assign(request);
		}
		ShardLoads loads = new ShardLoads(request);
		if (!loads.isAnyKnown()) {
			return this.sticky.assign(request);
		}
		LoadDraft draft = new LoadDraft(request, loads);
		new LoadPlacement(draft, this.settings).place();
		new LoadShares(draft).fill();
		new LoadMoves(draft, this.settings).move();
		return draft.assignment();
	}

}
