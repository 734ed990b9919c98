package io.github.shardkeeper.assignment;

import java.util.Objects;

/**
 * Deals each topic's shards like cards to the members that consume it, and begins with
 * the first of them for every topic. As RocketMQ's
 * {@code AllocateMessageQueueAveragelyByCircle}. Immutable.
 * <p>
 * Ten shards, four members: <pre>
 * C0: 0 4 8
 * C1: 1 5 9
 * C2: 2 6
 * C3: 3 7
 * </pre>
 * <p>
 * Neighbours, which are often busy together, are apart. Like {@link RangeAssignment} it
 * keeps same numbers of similar topics together, gives the first members more, and moves
 * nearly everything at each join or leave; {@link RoundRobinAssignment} goes on where the
 * topic before ended. Looks at subscriptions and pins only.
 */
public final class CircleAssignment implements AssignmentStrategy {

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		RuleDraft draft = new RuleDraft(request);
		draft.forEachTopic((shards, consumers) -> {
			for (int i = 0; i < shards.length; i++) {
				draft.give(shards[i], consumers[i % consumers.length]);
			}
		});
		return draft.assignment();
	}

}
