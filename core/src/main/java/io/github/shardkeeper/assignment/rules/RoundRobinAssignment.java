package io.github.shardkeeper.assignment.rules;

import java.util.Arrays;
import java.util.Objects;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Shards;

/**
 * Shards of all topics in turn to all members; members that do not consume the topic are
 * skipped. Algorithm of Kafka's {@code RoundRobinAssignor}. Immutable. Two members, two
 * topics of three shards: <pre>
 * C0: t0/0 t0/2 t1/1
 * C1: t0/1 t1/0 t1/2
 * </pre>
 * <p>
 * Even to one shard only if all members consume all topics: the member after a skipped
 * one gets its shards too. Joins and leaves move nearly all. Uses subscriptions and pins
 * only.
 */
public final class RoundRobinAssignment implements AssignmentStrategy {

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		UnpinnedShards unpinned = new UnpinnedShards(request);
		unpinned.forEachTopic(new Turns(unpinned));
		return unpinned.assignment();
	}

	private static final class Turns implements UnpinnedShards.TopicRule {

		private final UnpinnedShards unpinned;

		private int nextMember;

		Turns(UnpinnedShards unpinned) {
			this.unpinned = unpinned;
		}

		@Override
		public void assign(int[] shards, int[] consumers) {
			int found = Arrays.binarySearch(consumers, this.nextMember);
			int turn = (found >= 0) ? found : -found - 1;
			for (int shard : shards) {
				turn = (turn < consumers.length) ? turn : 0;
				this.unpinned.give(shard, consumers[turn]);
				this.nextMember = consumers[turn] + 1;
				turn++;
			}
		}

	}

}
