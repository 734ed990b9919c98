package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * An event of a member that leads or may lead. {@link Leadership} replies
 * {@link TimePassed} and the replies to its actions with the next action. It only takes
 * in all other events, so that the effects of several are decided together. Immutable.
 */
public sealed interface LeaderEvent {

	/** The member is about to leave: its leadership ends. */
	record Leaving() implements LeaderEvent {

	}

	/** The deadline of the last step has passed, or other events were reported. */
	record TimePassed() implements LeaderEvent {

	}

	/** The store answered a heartbeat. */
	record HeartbeatAnswered(HeartbeatReply.Alive reply, MemberId self, MonotonicTime sentAt) implements LeaderEvent {

	}

	record HeartbeatFailed() implements LeaderEvent {

	}

	/** The session ended: its replies prove nothing about other members any more. */
	record SessionLost() implements LeaderEvent {

	}

	/** The member consumes other topics, or its source knows other shards. */
	record ShardsChanged(Map<String, TopicShards> topics) implements LeaderEvent {

		public ShardsChanged {
			topics = Map.copyOf(topics);
		}

	}

	/** The directives were read for the first time in a session, or have changed. */
	record DirectivesRead(Directives directives) implements LeaderEvent {

	}

	/** The leader's requests were removed from the store, unless it was deposed. */
	record RequestsCompleted(boolean leads) implements LeaderEvent {

	}

	/**
	 * The member's source has listed the shards that take new records.
	 *
	 * @param open the open shards of the topics whose source knows them
	 */
	record OpenShardsListed(Map<String, ListedShards> open) implements LeaderEvent {

		public OpenShardsListed {
			open = Map.copyOf(open);
		}

	}

	/**
	 * Shards of a topic as they were listed. Immutable.
	 *
	 * @param ids the ids of the shards
	 * @param requestedAt the time at which the list was requested
	 */
	record ListedShards(Set<String> ids, MonotonicTime requestedAt) {

		public ListedShards {
			ids = Set.copyOf(ids);
		}

	}

	/**
	 * The strategy computed an assignment for this request, or for one with the same
	 * members and shards.
	 */
	record AssignmentComputed(AssignmentRequest request, Assignment assignment) implements LeaderEvent {

	}

	/** The strategy failed, or did not reply in time. */
	record AssignmentFailed(AssignmentRequest request) implements LeaderEvent {

	}

	record GroupRead(GroupChanges changes) implements LeaderEvent {

	}

	record LoadsRead(LoadChanges changes) implements LeaderEvent {

	}

	/** Moves were planned: their reasons by shard, once the store has taken them. */
	record MovesPlanned(Map<ShardId, MoveReason> reasons) implements LeaderEvent {

	}

	record ReapAnswered(ReapReply reply) implements LeaderEvent {

	}

	record EndClaimsAnswered(EndClaimsReply reply) implements LeaderEvent {

	}

	record PlanAnswered(PlanReply reply) implements LeaderEvent {

	}

	/** An action, or deciding on it, failed; the next attempt comes after the pause. */
	record ActionFailed(Duration pause) implements LeaderEvent {

	}

	sealed interface PlanReply {

		/**
		 * The plan was applied.
		 *
		 * @param conflicts the number of changes left out because their shard had changed
		 * or their member was gone
		 */
		record Applied(int applied, int conflicts) implements PlanReply {

		}

		/** Another member leads; at most a part of the batches was applied. */
		record Deposed() implements PlanReply {

		}

	}

	sealed interface ReapReply {

		/**
		 * The search was carried out.
		 *
		 * @param dead members reaped because they have no subscription
		 * @param timedOut members reaped at the end of their session timeout
		 * @param slow members that are silent but subscribed, and were not reaped
		 * @param nextLookMillis when the next member can become due, in the store's time;
		 * 0 when nobody is late
		 */
		record Looked(List<MemberId> dead, List<MemberId> timedOut, List<MemberId> slow,
				long nextLookMillis) implements ReapReply {

		}

		/** Another member leads; nothing was done. */
		record Deposed() implements ReapReply {

		}

	}

	enum EndClaimsReply {

		/** The period is over: free shards may be assigned. */
		ENDED,

		/** The period has restarted since the leader learned its end. */
		OPEN,

		/** Another member leads. */
		DEPOSED

	}

}
