package io.github.shardkeeper.protocol;

import java.util.List;

import io.github.shardkeeper.assignment.AssignmentRequest;

/**
 * What a leader does next. Each action that calls the store is answered with its
 * {@link LeaderEvent} before the next one is decided.
 */
public sealed interface LeaderAction {

	/**
	 * Read what has changed in the group; answered with {@link LeaderEvent.GroupRead}.
	 *
	 * @param generation the generation seen last
	 * @param membership the membership version seen last
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
	 * Remove members that are dead; answered with {@link LeaderEvent.ReapAnswered}.
	 *
	 * @param epoch the leadership under which to look for them
	 * @param steady the time over which silence proves something
	 */
	record ReapDeadMembers(long epoch, SteadyTime steady) implements LeaderAction {

	}

	/**
	 * Have the strategy compute an assignment; answered with
	 * {@link LeaderEvent.AssignmentComputed} or {@link LeaderEvent.AssignmentFailed}. It
	 * may take its time: the leader goes on meanwhile, and asks for nothing else to be
	 * computed.
	 *
	 * @param request the request to the strategy
	 */
	record ComputeAssignment(AssignmentRequest request) implements LeaderAction {

	}

	/**
	 * End the time for claims; answered with {@link LeaderEvent.EndClaimsAnswered}.
	 *
	 * @param epoch the leadership under which to end it
	 * @param untilMillis when it may end, as the store has told
	 */
	record EndClaims(long epoch, long untilMillis) implements LeaderAction {

	}

	/**
	 * Apply transitions; answered with {@link LeaderEvent.PlanAnswered}.
	 *
	 * @param epoch the leadership under which to apply them
	 * @param transitions the transitions, not empty
	 */
	record ApplyPlan(long epoch, List<Transition> transitions) implements LeaderAction {

	}

	/**
	 * Log a warning about a load report that cannot be used; not answered.
	 *
	 * @param text the warning
	 */
	record WarnOfLoadReport(String text) implements LeaderAction {

	}

	/**
	 * The time over which a leader may judge the silence of others, in milliseconds of
	 * the store's time. Immutable.
	 *
	 * @param sinceMillis since when its own heartbeats were answered without a gap, and
	 * the store's clock made no step; silence before that proves nothing
	 * @param untilMillis what the store's clock shows by the leader's own clock: if it
	 * shows more, it has perhaps just made a step, and nobody is judged by that
	 * @param setBacks how often the store's clock was set back, as far as the leader
	 * knows; after another time nobody is judged until the leader has heard of it
	 */
	record SteadyTime(long sinceMillis, long untilMillis, long setBacks) {

	}

}
