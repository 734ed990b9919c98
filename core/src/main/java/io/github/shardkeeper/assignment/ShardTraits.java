package io.github.shardkeeper.assignment;

import org.jspecify.annotations.Nullable;

/**
 * Traits of a shard that an assignment takes into account. Immutable.
 *
 * @param weight the work compared with other shards, 1 to {@value #MOST_WEIGHT}
 * @param zone the zone of its data, {@code null} if it does not matter
 * @param pinnedTo the id of the instance that owns it while present, {@code null} for any
 */
public record ShardTraits(int weight, @Nullable String zone, @Nullable String pinnedTo) {

	public static final int MOST_WEIGHT = 1_000_000;

	/** Traits of a plain shard: weight 1, no zone, not pinned. */
	public static final ShardTraits NONE = new ShardTraits(1, null, null);

	/**
	 * Returns whether a request accepts the weight.
	 * @return whether it is 1 to {@value #MOST_WEIGHT}
	 */
	public boolean isValid() {
		return this.weight >= 1 && this.weight <= MOST_WEIGHT;
	}

	/**
	 * Returns the same traits with a valid weight.
	 * @return this, or traits with the nearest weight within bounds
	 */
	public ShardTraits clamped() {
		return isValid() ? this
				: new ShardTraits(Math.min(Math.max(this.weight, 1), MOST_WEIGHT), this.zone, this.pinnedTo);
	}

}
