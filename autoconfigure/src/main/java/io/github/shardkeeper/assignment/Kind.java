package io.github.shardkeeper.assignment;

/**
 * Shards that are alike for an assignment: the same members can take them, they weigh the
 * same, and their data is in the same zone. Which of them is where does not matter until
 * {@link Distribution}; till then they are counted. Confined to its thread.
 */
final class Kind {

	/** Stands for no zone. */
	static final int NOWHERE = -1;

	/** How much each of them weighs. */
	final int weight;

	/** The zone of their data, {@link #NOWHERE} when it makes no difference. */
	final int zone;

	/** The places of those who can take them, in their order. Shared among kinds. */
	final int[] takers;

	/** Their numbers, in their order. */
	final int[] shards;

	/** By member, how many it had at the beginning and can keep. */
	final int[] had;

	/** By member, how many it has now. */
	final int[] has;

	/** How many nobody has now. */
	int unowned;

	Kind(int weight, int zone, int[] takers, int[] shards, int members) {
		this.weight = weight;
		this.zone = zone;
		this.takers = takers;
		this.shards = shards;
		this.had = new int[members];
		this.has = new int[members];
	}

}
