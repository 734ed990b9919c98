package io.github.shardkeeper.protocol.leader;

import java.util.List;

import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.shard.ShardMove;

/**
 * An action of the leader. Each one that calls the store is answered with its
 * {@link LeaderEvent} before the next one is decided. Immutable.
 */
public sealed interface LeaderAction {

	/**
	 * Read the changes of the group since a generation and version of the list of
	 * members; answered with {@link LeaderEvent.GroupRead}.
	 */
	record ReadGroup(long generation, long membership) implements LeaderAction {

	}

	/**
	 * Read the load reports since a version; answered with {@link LeaderEvent.LoadsRead}.
	 */
	record ReadLoads(long version) implements LeaderAction {

	}

	/** Remove dead members; answered with {@link LeaderEvent.ReapAnswered}. */
	record ReapDeadMembers(long epoch, SteadyTime steady) implements LeaderAction {

	}

	/**
	 * Have the strategy compute an assignment; answered with
	 * {@link LeaderEvent.AssignmentComputed} or {@link LeaderEvent.AssignmentFailed}. The
	 * leader continues meanwhile, and requests no other assignment.
	 */
	record ComputeAssignment(AssignmentRequest request) implements LeaderAction {

	}

	/**
	 * End the claim period; answered with {@link LeaderEvent.EndClaimsAnswered}.
	 *
	 * @param untilMillis the earliest end of the period in the store
	 */
	record EndClaims(long epoch, long untilMillis) implements LeaderAction {

	}

	/**
	 * Apply transitions, at least one; answered with {@link LeaderEvent.PlanAnswered}.
	 */
	record ApplyPlan(long epoch, List<Transition> transitions) implements LeaderAction {

	}

	/**
	 * Remove requests of operators that the last plan has followed, at least one;
	 * answered with {@link LeaderEvent.RequestsCompleted}.
	 */
	record CompleteRequests(long epoch, List<Directive> requests) implements LeaderAction {

	}

	/** Record moves that were found, at least one; not answered. */
	record RecordMoves(List<ShardMove> moves) implements LeaderAction {

	}

	/** Log a warning about an unusable load report; not answered. */
	record WarnOfLoadReport(String text) implements LeaderAction {

	}

	/**
	 * The time over which a leader may judge the silence of others, in milliseconds of
	 * the store's time. Immutable.
	 *
	 * @param sinceMillis the start of the time in which its heartbeats were answered
	 * without a gap and the store's clock made no step
	 * @param untilMillis the store's time by the leader's clock: if the store shows more,
	 * its clock may have made a step, and nobody is judged by it
	 * @param setBacks the number of set-backs of the store's clock that the leader knows;
	 * if the store knows another number, nobody is judged
	 */
	record SteadyTime(long sinceMillis, long untilMillis, long setBacks) {

	}

}
