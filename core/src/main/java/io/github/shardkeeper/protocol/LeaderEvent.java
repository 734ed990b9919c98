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
 * What has happened to a member that leads or may lead. {@link Leadership} answers
 * {@link TimePassed} and the answers to its actions with what to do next. It only takes
 * in all other events, so that what several of them tell is decided upon together.
 */
public sealed interface LeaderEvent {

	/**
	 * The deadline of the last step is over, or other events were told.
	 */
	record TimePassed() implements LeaderEvent {

	}

	/**
	 * The store answered a heartbeat.
	 *
	 * @param reply the answer
	 * @param self this member
	 * @param sentAt when the heartbeat was sent
	 */
	record HeartbeatAnswered(HeartbeatReply.Alive reply, MemberId self, MonotonicTime sentAt) implements LeaderEvent {

	}

	/**
	 * The store did not answer a heartbeat.
	 */
	record HeartbeatFailed() implements LeaderEvent {

	}

	/**
	 * The session ended. What was seen in it says nothing about others any more.
	 */
	record SessionLost() implements LeaderEvent {

	}

	/**
	 * The member consumes these topics, or its source knows other shards than before.
	 *
	 * @param topics the member's topics with their shards
	 */
	record ShardsChanged(Map<String, TopicShards> topics) implements LeaderEvent {

		public ShardsChanged {
			topics = Map.copyOf(topics);
		}

	}

	/**
	 * The strategy computed an assignment.
	 *
	 * @param request the request, as {@link LeaderAction.ComputeAssignment} gave it
	 * @param assignment the assignment, made for that request or for one with the same
	 * members and shards
	 */
	record AssignmentComputed(AssignmentRequest request, Assignment assignment) implements LeaderEvent {

	}

	/**
	 * The strategy failed, or did not answer in time.
	 *
	 * @param request the request, as {@link LeaderAction.ComputeAssignment} gave it
	 */
	record AssignmentFailed(AssignmentRequest request) implements LeaderEvent {

	}

	/**
	 * Answers {@link LeaderAction.ReadGroup}.
	 *
	 * @param changes what was read
	 */
	record GroupRead(GroupChanges changes) implements LeaderEvent {

	}

	/**
	 * Answers {@link LeaderAction.ReadLoads}.
	 *
	 * @param changes what was read
	 */
	record LoadsRead(LoadChanges changes) implements LeaderEvent {

	}

	/**
	 * Answers {@link LeaderAction.ReapDeadMembers}.
	 *
	 * @param reply the store's answer
	 */
	record ReapAnswered(ReapReply reply) implements LeaderEvent {

	}

	/**
	 * Answers {@link LeaderAction.EndClaims}.
	 *
	 * @param reply the store's answer
	 */
	record EndClaimsAnswered(EndClaimsReply reply) implements LeaderEvent {

	}

	/**
	 * Answers {@link LeaderAction.ApplyPlan}.
	 *
	 * @param reply the store's answer
	 */
	record PlanAnswered(PlanReply reply) implements LeaderEvent {

	}

	/**
	 * An action, or the decision about the next one, failed.
	 *
	 * @param pause how long to do nothing before the next attempt
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
		 * @param applied how many changes were made
		 * @param conflicts how many were left out because their shard had changed
		 * meanwhile or their member was gone
		 */
		record Applied(int applied, int conflicts) implements PlanReply {

		}

		/**
		 * Somebody else leads; nothing, or only a part of the batches, was applied.
		 */
		record Deposed() implements PlanReply {

		}

	}

	/**
	 * The answer to a look for dead members.
	 */
	sealed interface ReapReply {

		/**
		 * The look was taken.
		 *
		 * @param dead members that were reaped because nobody is subscribed for them
		 * @param timedOut members that were reaped at the end of their session timeout
		 * @param slow members that are silent but subscribed: left alone
		 * @param nextLookMillis when the next member can become due, in milliseconds of
		 * the store's time; 0 when nobody is late
		 */
		record Looked(List<MemberId> dead, List<MemberId> timedOut, List<MemberId> slow,
				long nextLookMillis) implements ReapReply {

		}

		/**
		 * Somebody else leads; nothing was done.
		 */
		record Deposed() implements ReapReply {

		}

	}

	/**
	 * The answer to a leader that ends the time for claims.
	 */
	enum EndClaimsReply {

		/** It is over: free shards may be handed out. */
		ENDED,

		/** It has begun again since the leader was told when it may end. */
		OPEN,

		/** Somebody else leads. */
		DEPOSED

	}

}
