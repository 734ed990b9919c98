package io.github.shardkeeper.protocol;

import java.time.Duration;

/**
 * How shards change hands. Immutable.
 *
 * @param timeout how long a drain may take before something is done about it
 * @param onTimeout what is done then
 * @param quietPeriod how long nobody may own a shard after a planned move
 * @param crashQuietPeriod how long nobody may own a shard after its owner's death
 * @param mostConcurrentMoves how many shards may be drained in the group at once; 0 for
 * any number
 */
public record HandoverRules(Duration timeout, OnTimeout onTimeout, Duration quietPeriod, Duration crashQuietPeriod,
		int mostConcurrentMoves) {

	/** What holds where nothing else is configured. */
	public static final HandoverRules DEFAULT = new HandoverRules(Duration.ofSeconds(50), OnTimeout.HOLD, Duration.ZERO,
			Duration.ZERO, 0);

	/** What is done about a drain that takes too long. */
	public enum OnTimeout {

		/**
		 * The handler's call is interrupted and reported; the shard stays until it
		 * returns. It never has a second owner.
		 */
		HOLD,

		/**
		 * The handler's call is interrupted and reported, and the shard goes to its next
		 * owner while that call may still run: what it writes to the shard's state is
		 * refused, other side effects are not.
		 */
		FORCE

	}

}
