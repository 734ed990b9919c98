package io.github.shardkeeper.assignment;

import java.util.Objects;

/**
 * Cuts each topic into pieces of successive shards of average size, as RocketMQ's
 * {@code AllocateMessageQueueAveragely} and EQueue's average allocation. Immutable.
 * <p>
 * Ten shards, four members: pieces of 3, 3, 2 and 2. That is what {@link RangeAssignment}
 * does, under the name that those know who come from there; what is said there is true
 * here.
 */
public final class AverageAssignment implements AssignmentStrategy {

	private final AssignmentStrategy range = new RangeAssignment();

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		return this.range.assign(request);
	}

}
