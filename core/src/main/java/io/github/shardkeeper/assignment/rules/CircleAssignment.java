package io.github.shardkeeper.assignment.rules;

import java.util.Objects;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Shards;

/**
 * Shards of each topic in turn to the members that consume it, beginning with the first
 * of them for every topic. Algorithm of RocketMQ's
 * {@code AllocateMessageQueueAveragelyByCircle}. Immutable. Ten shards, four members:
 * <pre>
 * C0: 0 4 8
 * C1: 1 5 9
 * C2: 2 6
 * C3: 3 7
 * </pre>
 * <p>
 * As with {@link RangeAssignment}, the same numbers of similar topics are together, the
 * first members get more, and each join or leave moves nearly everything. Uses
 * subscriptions and pins only.
 */
public final class CircleAssignment implements AssignmentStrategy {

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		UnpinnedShards unpinned = new UnpinnedShards(request);
		unpinned.forEachTopic((shards, consumers) -> {
			for (int i = 0; i < shards.length; i++) {
				unpinned.give(shards[i], consumers[i % consumers.length]);
			}
		});
		return unpinned.assignment();
	}

}
