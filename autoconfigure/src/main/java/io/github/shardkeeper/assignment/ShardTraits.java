package io.github.shardkeeper.assignment;

import org.jspecify.annotations.Nullable;

/**
 * What is known of a shard before anybody consumes it. Immutable.
 *
 * @param weight how much work it is compared with others, 1 to {@value #MOST_WEIGHT}: a
 * request refuses any other
 * @param zone where its data is, {@code null} when that does not matter
 * @param pinnedTo the id of the instance that shall have it while it is there,
 * {@code null} for any
 */
public record ShardTraits(int weight, @Nullable String zone, @Nullable String pinnedTo) {

	/** The highest weight: a million. */
	public static final int MOST_WEIGHT = 1_000_000;

	/** A shard like any other: weight 1, no zone, not pinned. */
	public static final ShardTraits NONE = new ShardTraits(1, null, null);

	/**
	 * Whether the weight is one that a request takes.
	 * @return whether it is 1 to {@value #MOST_WEIGHT}
	 */
	public boolean isValid() {
		return this.weight >= 1 && this.weight <= MOST_WEIGHT;
	}

	/**
	 * The same with a weight that a request takes.
	 * @return this, or one with the weight that is next to this one's and in bounds
	 */
	public ShardTraits clamped() {
		return isValid() ? this
				: new ShardTraits(Math.min(Math.max(this.weight, 1), MOST_WEIGHT), this.zone, this.pinnedTo);
	}

}
