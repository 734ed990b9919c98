package io.github.shardkeeper.handover;

/**
 * The answer to a plan.
 */
public sealed interface PlanReply {

	/**
	 * The plan was applied.
	 *
	 * @param applied how many changes were made
	 * @param conflicts how many were left out because their shard had changed meanwhile
	 * or their member was gone
	 */
	record Applied(int applied, int conflicts) implements PlanReply {

	}

	/**
	 * Somebody else leads; nothing, or only a part of the batches, was applied.
	 */
	record Deposed() implements PlanReply {

	}

}
