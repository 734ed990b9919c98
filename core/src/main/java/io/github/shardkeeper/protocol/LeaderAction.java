package io.github.shardkeeper.protocol;

import java.util.List;

import io.github.shardkeeper.assignment.AssignmentRequest;

/**
 * An action of the leader. Each one that calls the store is answered with its
 * {@link LeaderEvent} before the next one is decided. Immutable.
 */
public sealed interface LeaderAction {

	/**
	 * Read the changes of the group; answered with {@link LeaderEvent.GroupRead}.
	 *
	 * @param generation the last generation seen
	 * @param membership the last version of the list of members seen
	 */
	record ReadGroup(long generation, long membership) implements LeaderAction {

	}

	/**
	 * Read the load reports of the members; answered with {@link LeaderEvent.LoadsRead}.
	 *
	 * @param version the version up to which they were read
	 */
	record ReadLoads(long version) implements LeaderAction {

	}

	/**
	 * Remove dead members; answered with {@link LeaderEvent.ReapAnswered}.
	 *
	 * @param epoch the current leadership
	 * @param steady the time over which silence proves something
	 */
	record ReapDeadMembers(long epoch, SteadyTime steady) implements LeaderAction {

	}

	/**
	 * Have the strategy compute an assignment; answered with
	 * {@link LeaderEvent.AssignmentComputed} or {@link LeaderEvent.AssignmentFailed}.
	 * This may take long: the leader continues meanwhile, and requests no other
	 * assignment.
	 *
	 * @param request the request to the strategy
	 */
	record ComputeAssignment(AssignmentRequest request) implements LeaderAction {

	}

	/**
	 * End the claim period; answered with {@link LeaderEvent.EndClaimsAnswered}.
	 *
	 * @param epoch the current leadership
	 * @param untilMillis the earliest end of the period in the store
	 */
	record EndClaims(long epoch, long untilMillis) implements LeaderAction {

	}

	/**
	 * Apply transitions; answered with {@link LeaderEvent.PlanAnswered}.
	 *
	 * @param epoch the current leadership
	 * @param transitions the transitions, not empty
	 */
	record ApplyPlan(long epoch, List<Transition> transitions) implements LeaderAction {

	}

	/**
	 * Log a warning about an unusable load report; not answered.
	 *
	 * @param text the warning
	 */
	record WarnOfLoadReport(String text) implements LeaderAction {

	}

	/**
	 * The time over which a leader may judge the silence of others, in milliseconds of
	 * the store's time. Immutable.
	 *
	 * @param sinceMillis the start of the time in which its heartbeats were answered
	 * without a gap and the store's clock made no step
	 * @param untilMillis the store's time by the leader's clock: if the store shows more,
	 * its clock may just have made a step, and nobody is judged by it
	 * @param setBacks the number of set-backs of the store's clock that the leader knows;
	 * if the store knows another number, nobody is judged until the leader has received
	 * it
	 */
	record SteadyTime(long sinceMillis, long untilMillis, long setBacks) {

	}

}
