package io.github.shardkeeper.assignment.sticky;

import io.github.shardkeeper.assignment.Shards;

/**
 * Shards that the same members can take, of the same weight and with data in the same
 * zone. They are counted, not told apart. Confined to its thread.
 */
final class ShardKind {

	static final int NOWHERE = -1;

	final int weight;

	/** Zone of the data, {@link #NOWHERE} if it makes no difference. */
	final int zone;

	/** Places of the members that can take the shards, rising. Shared among kinds. */
	final int[] takers;

	final int[] shards;

	/** By member, number of shards that it had at the beginning and may keep. */
	final int[] had;

	final int[] has;

	int unowned;

	ShardKind(int weight, int zone, int[] takers, int[] shards, int members) {
		this.weight = weight;
		this.zone = zone;
		this.takers = takers;
		this.shards = shards;
		this.had = new int[members];
		this.has = new int[members];
	}

}
