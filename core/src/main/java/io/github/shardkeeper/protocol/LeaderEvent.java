package io.github.shardkeeper.protocol;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * An event of a member that leads or may lead. {@link Leadership} answers
 * {@link TimePassed} and the answers to its actions with the next action. It only takes
 * in all other events, so that the effects of several are decided together. Immutable.
 */
public sealed interface LeaderEvent {

	/** The deadline of the last step has passed, or other events were reported. */
	record TimePassed() implements LeaderEvent {

	}

	/**
	 * The store answered a heartbeat.
	 *
	 * @param reply the answer
	 * @param self this member
	 * @param sentAt the time at which the heartbeat was sent
	 */
	record HeartbeatAnswered(HeartbeatReply.Alive reply, MemberId self, MonotonicTime sentAt) implements LeaderEvent {

	}

	/**
	 * The store did not answer a heartbeat.
	 */
	record HeartbeatFailed() implements LeaderEvent {

	}

	/** The session ended. Its answers prove nothing about other members any more. */
	record SessionLost() implements LeaderEvent {

	}

	/**
	 * The member consumes other topics, or its source knows other shards.
	 *
	 * @param topics the topics of the member with their shards
	 */
	record ShardsChanged(Map<String, TopicShards> topics) implements LeaderEvent {

		public ShardsChanged {
			topics = Map.copyOf(topics);
		}

	}

	/**
	 * The strategy computed an assignment.
	 *
	 * @param request the request of {@link LeaderAction.ComputeAssignment}
	 * @param assignment the assignment, for that request or one with the same members and
	 * shards
	 */
	record AssignmentComputed(AssignmentRequest request, Assignment assignment) implements LeaderEvent {

	}

	/**
	 * The strategy failed, or did not answer in time.
	 *
	 * @param request the request of {@link LeaderAction.ComputeAssignment}
	 */
	record AssignmentFailed(AssignmentRequest request) implements LeaderEvent {

	}

	/**
	 * The store answered {@link LeaderAction.ReadGroup}.
	 *
	 * @param changes the changes
	 */
	record GroupRead(GroupChanges changes) implements LeaderEvent {

	}

	/**
	 * The store answered {@link LeaderAction.ReadLoads}.
	 *
	 * @param changes the changes
	 */
	record LoadsRead(LoadChanges changes) implements LeaderEvent {

	}

	/**
	 * The store answered {@link LeaderAction.ReapDeadMembers}.
	 *
	 * @param reply the answer
	 */
	record ReapAnswered(ReapReply reply) implements LeaderEvent {

	}

	/**
	 * The store answered {@link LeaderAction.EndClaims}.
	 *
	 * @param reply the answer
	 */
	record EndClaimsAnswered(EndClaimsReply reply) implements LeaderEvent {

	}

	/**
	 * The store answered {@link LeaderAction.ApplyPlan}.
	 *
	 * @param reply the answer
	 */
	record PlanAnswered(PlanReply reply) implements LeaderEvent {

	}

	/**
	 * An action, or the decision about the next one, failed.
	 *
	 * @param pause the pause before the next attempt
	 */
	record ActionFailed(Duration pause) implements LeaderEvent {

	}

	/**
	 * The answer to a plan.
	 */
	sealed interface PlanReply {

		/**
		 * The plan was applied.
		 *
		 * @param applied the number of changes made
		 * @param conflicts the number of changes left out because their shard had changed
		 * or their member was gone
		 */
		record Applied(int applied, int conflicts) implements PlanReply {

		}

		/** Another member leads; at most a part of the batches was applied. */
		record Deposed() implements PlanReply {

		}

	}

	/** The answer to a search for dead members. */
	sealed interface ReapReply {

		/**
		 * The search was carried out.
		 *
		 * @param dead members reaped because they have no subscription
		 * @param timedOut members reaped at the end of their session timeout
		 * @param slow members that are silent but subscribed, and were not reaped
		 * @param nextLookMillis the time at which the next member can become due, in the
		 * store's time; 0 when nobody is late
		 */
		record Looked(List<MemberId> dead, List<MemberId> timedOut, List<MemberId> slow,
				long nextLookMillis) implements ReapReply {

		}

		/** Another member leads; nothing was done. */
		record Deposed() implements ReapReply {

		}

	}

	/** The answer to a leader that ends the claim period. */
	enum EndClaimsReply {

		/** The period is over: free shards may be assigned. */
		ENDED,

		/** The period has restarted since the leader learned its end. */
		OPEN,

		/** Another member leads. */
		DEPOSED

	}

}
