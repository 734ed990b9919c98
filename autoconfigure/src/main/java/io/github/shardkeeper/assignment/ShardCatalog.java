package io.github.shardkeeper.assignment;

import io.github.shardkeeper.shard.ShardId;

/**
 * Knows of shards what nobody can measure: how much work they are, where their data is,
 * to which instance they belong.
 * <p>
 * An application's own catalog is a bean of this type; what the settings of a topic say
 * of a shard wins over it. The leader asks it on the thread that the assignment is
 * computed on, within the same time: once for each shard when it reads the group as a
 * whole, and when shards come or go, not at each plan. When it throws or answers null,
 * nothing moves, log and health say why, and it is asked again. A weight out of bounds
 * counts as the next one within, with a warning. All instances need the same catalog: the
 * leader's holds. For example: <pre>
 * &#64;Bean
 * ShardCatalog regions(RegionTable regions) {
 *     return (shard) -&gt; new ShardTraits(1, regions.zoneOf(shard.id()), null);
 * }
 * </pre>
 */
@FunctionalInterface
public interface ShardCatalog {

	/** Knows nothing: all shards are alike. */
	ShardCatalog PLAIN = (shard) -> ShardTraits.NONE;

	/**
	 * Looks a shard up.
	 * @param shard the shard
	 * @return what is known of it, {@link ShardTraits#NONE} when nothing is
	 */
	ShardTraits traits(ShardId shard);

}
