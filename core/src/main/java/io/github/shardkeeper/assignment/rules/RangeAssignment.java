package io.github.shardkeeper.assignment.rules;

import java.util.Objects;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;

/**
 * Ranges of successive shards: each topic is cut into one range for each member that
 * consumes it; the first members get one shard more if it does not divide. Algorithm of
 * Kafka's {@code RangeAssignor} without racks, of RocketMQ's
 * {@code AllocateMessageQueueAveragely} and of EQueue's average allocation. Immutable.
 * Two members, two topics of three shards: <pre>
 * C0: t0/0 t0/1 t1/0 t1/1
 * C1: t0/2 t1/2
 * </pre>
 * <p>
 * Topics with the same number of shards and the same consumers are cut alike. The price:
 * the first members get more with every topic, and each join or leave shifts the ranges
 * of all members after it. Uses subscriptions and pins only.
 */
public final class RangeAssignment implements AssignmentStrategy {

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		UnpinnedShards unpinned = new UnpinnedShards(request);
		unpinned.forEachTopic((shards, consumers) -> {
			int each = shards.length / consumers.length;
			int larger = shards.length % consumers.length;
			int at = 0;
			for (int i = 0; i < consumers.length; i++) {
				int end = at + each + ((i < larger) ? 1 : 0);
				for (; at < end; at++) {
					unpinned.give(shards[at], consumers[i]);
				}
			}
		});
		return unpinned.assignment();
	}

}
