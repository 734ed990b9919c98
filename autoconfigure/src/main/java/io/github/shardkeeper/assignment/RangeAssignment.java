package io.github.shardkeeper.assignment;

import java.util.Objects;

/**
 * Cuts each topic into pieces of successive shards, one for each member that consumes it;
 * the first members get one more where it does not divide. As Kafka's
 * {@code RangeAssignor} without racks. Immutable.
 * <p>
 * Topics of as many shards and the same consumers are cut alike: who has {@code orders/3}
 * has {@code payments/3} too. The price: the first members carry more with every topic,
 * and each join or leave shifts the pieces of all who follow.
 * <p>
 * Two members, two topics of three shards: <pre>
 * C0: t0/0 t0/1 t1/0 t1/1
 * C1: t0/2 t1/2
 * </pre>
 * <p>
 * Looks at subscriptions and pins only: not at who owns what, capacity, weights, zones or
 * versions. Pinned shards are cut out before.
 */
public final class RangeAssignment implements AssignmentStrategy {

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		RuleDraft draft = new RuleDraft(request);
		draft.forEachTopic((shards, consumers) -> {
			int each = shards.length / consumers.length;
			int larger = shards.length % consumers.length;
			int at = 0;
			for (int i = 0; i < consumers.length; i++) {
				int end = at + each + ((i < larger) ? 1 : 0);
				for (; at < end; at++) {
					draft.give(shards[at], consumers[i]);
				}
			}
		});
		return draft.assignment();
	}

}
