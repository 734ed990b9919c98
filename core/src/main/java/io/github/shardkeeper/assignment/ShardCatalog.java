package io.github.shardkeeper.assignment;

import io.github.shardkeeper.shard.ShardId;

/**
 * Catalog of traits of shards that cannot be measured: their weight, the zone of their
 * data, the instance that they belong to.
 * <p>
 * An application's own catalog is a bean of this type, the same on all instances;
 * settings of a topic override it. The leader calls it on the thread that computes the
 * assignment, within the same time limit: once for each shard when it reads the whole
 * group, and when shards come or go. If it throws or returns null, nothing moves, log and
 * health say why, and it is called again. A weight out of bounds is replaced by the
 * nearest valid one, with a warning. For example: <pre>
 * &#64;Bean
 * ShardCatalog regions(RegionTable regions) {
 *     return (shard) -&gt; new ShardTraits(1, regions.zoneOf(shard.id()), null);
 * }
 * </pre>
 */
@FunctionalInterface
public interface ShardCatalog {

	/** Catalog in which all shards are alike. */
	ShardCatalog PLAIN = (shard) -> ShardTraits.NONE;

	/**
	 * Returns the traits of a shard.
	 * @param shard the shard
	 * @return its traits, {@link ShardTraits#NONE} if nothing is known
	 */
	ShardTraits traits(ShardId shard);

}
