package io.github.shardkeeper.protocol.leader;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * Plans that had conflicts: their shards had changed, or their members were gone. Shards
 * that have changed meanwhile are among the next changes. The whole group is read only if
 * that does not help, because it takes seconds in a very large one. Confined to the
 * coordinator's loop.
 */
final class PlanConflicts {

	/** Pause before such a plan is repeated, even without a settle time. */
	private static final Duration PAUSE = Duration.ofMillis(100);

	/** Plans with conflicts in a row that make it likely that the picture is wrong. */
	private static final int SUSPICIOUS = 3;

	/** Number of plans in a row with conflicts, since the picture was begun. */
	private int inARow;

	/** End of the pause after the last one. */
	private @Nullable MonotonicTime pauseEnds;

	/**
	 * Notes a plan with conflicts, and returns when to plan again.
	 * @param freeing whether they may be due to shards of dead members that are freed
	 */
	MonotonicTime found(boolean freeing, MonotonicTime now) {
		MonotonicTime ends = now.plus(PAUSE);
		this.pauseEnds = ends;
		this.inARow += freeing ? 0 : 1;
		return ends;
	}

	/** Notes a plan without conflicts, or a new picture. */
	void forget() {
		this.inARow = 0;
	}

	boolean isSuspicious() {
		return this.inARow == SUSPICIOUS;
	}

	/** Returns the end of the pause; a time now if it is over. */
	MonotonicTime pausedUntil(MonotonicTime now) {
		MonotonicTime ends = this.pauseEnds;
		return (ends != null && now.isBefore(ends)) ? ends : now;
	}

}
