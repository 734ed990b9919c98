package io.github.shardkeeper.handover;

import java.util.List;

import io.github.shardkeeper.assignment.AssignmentRequest;

/**
 * What a leader does next.
 */
public sealed interface LeaderAction {

	/**
	 * Read what has changed in the group.
	 *
	 * @param generation the generation seen last
	 * @param membership the membership version seen last
	 */
	record Refresh(long generation, long membership) implements LeaderAction {

	}

	/**
	 * Read what members have reported of their loads.
	 *
	 * @param version up to where they were read
	 */
	record ReadLoads(long version) implements LeaderAction {

	}

	/**
	 * Look for dead members.
	 *
	 * @param epoch the leadership under which to look
	 * @param steady the time over which silence proves something
	 */
	record LookForDead(long epoch, SteadyTime steady) implements LeaderAction {

	}

	/**
	 * Have the strategy compute an assignment. It may take its time: the leader goes on
	 * meanwhile, and asks for nothing else to be computed.
	 *
	 * @param request what to compute it from
	 */
	record ComputeAssignment(AssignmentRequest request) implements LeaderAction {

	}

	/**
	 * End the time for claims.
	 *
	 * @param epoch the leadership under which to end it
	 * @param untilMillis when it may end, as the store has told
	 */
	record EndClaims(long epoch, long untilMillis) implements LeaderAction {

	}

	/**
	 * Apply transitions.
	 *
	 * @param epoch the leadership under which to apply them
	 * @param transitions the transitions, not empty
	 */
	record ApplyPlan(long epoch, List<Transition> transitions) implements LeaderAction {

	}

}
