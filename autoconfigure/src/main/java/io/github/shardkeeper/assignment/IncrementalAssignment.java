package io.github.shardkeeper.assignment;

import java.util.Objects;

/**
 * The least loaded gets what is free, and takes from the heaviest, a few shards at a
 * time. Immutable.
 * <ul>
 * <li>A shard without owner goes to the member that is least loaded with it, so to idle
 * ones first: all such shards at once, as nobody waits for a step.</li>
 * <li>Then shards move from the heaviest member to an idle one, or to the least loaded
 * one: from above the mean to below it. Of those that it could take, the one moves that
 * came last. A move is made only if the taker is less loaded after it than the giver was
 * before.</li>
 * <li>No more than {@value #STEP} such moves are under way. While there are more to come,
 * the answer is {@linkplain Assignment#isUnfinished unfinished}: the leader asks again
 * whenever one has been made.</li>
 * </ul>
 * Each move brings the higher of two loads down, and none up to it. So the steps come to
 * an end: at loads that differ by one shard at most where all members consume all topics.
 * Where they do not, a shard never moves to make room for another one's, which
 * {@link StickyAssignment} does.
 * <p>
 * Loads are weights for capacity. Pins hold at once, and count. Not looked at: zones,
 * versions; in a deployment shards go to old members too.
 */
public final class IncrementalAssignment implements AssignmentStrategy {

	/** How many moves are under way at most. */
	public static final int STEP = 10;

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		IncrementalDraft draft = new IncrementalDraft(request);
		draft.keepCurrent();
		draft.placeUnowned();
		int moves = request.movesUnderWay();
		while (moves < STEP && draft.move()) {
			moves++;
		}
		return draft.assignment(moves >= STEP && draft.couldMove());
	}

}
