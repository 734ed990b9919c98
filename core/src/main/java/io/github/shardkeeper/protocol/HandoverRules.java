package io.github.shardkeeper.protocol;

import java.time.Duration;

/**
 * Limits of moves: how long a drain may take, how long a shard has no owner, how many
 * move at once. Immutable.
 *
 * @param timeout the time limit of a drain
 * @param onTimeout the reaction to a drain that exceeds it
 * @param quietPeriod the time without an owner after a planned move
 * @param crashQuietPeriod the time without an owner after the owner's death
 * @param mostConcurrentMoves the maximum number of shards that drain concurrently in the
 * group; 0 for any number
 */
public record HandoverRules(Duration timeout, OnTimeout onTimeout, Duration quietPeriod, Duration crashQuietPeriod,
		int mostConcurrentMoves) {

	public static final HandoverRules DEFAULT = new HandoverRules(Duration.ofSeconds(50), OnTimeout.HOLD, Duration.ZERO,
			Duration.ZERO, 0);

	public enum OnTimeout {

		/**
		 * Interrupts and reports the handler's call. The shard stays until the call
		 * returns, and never has a second owner.
		 */
		HOLD,

		/**
		 * Interrupts and reports the handler's call, and gives the shard away while the
		 * call may still run. Its writes to the state are refused; other side effects are
		 * not.
		 */
		FORCE

	}

}
