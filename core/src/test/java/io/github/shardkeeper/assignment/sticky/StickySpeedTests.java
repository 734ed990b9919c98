package io.github.shardkeeper.assignment.sticky;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Time of plans for 1,000 members and 100,000 shards, which must not grow with the
 * product of both. The bound is generous, because the JVM is cold and the machine may be
 * busy. Prints the times.
 */
@RunAlone
class StickySpeedTests {

	private static final int MEMBERS = 1_000;

	private static final int SHARDS = 100_000;

	private static final Duration BOUND = Duration.ofSeconds(5);

	private final StickyAssignment strategy = new StickyAssignment();

	private LargeGroup group = LargeGroup.PLAIN;

	@ParameterizedTest
	@EnumSource(LargeGroup.class)
	void largeGroupIsPlannedInTime(LargeGroup large) {
		this.group = large;
		AssignmentRequest request = AssignmentRequest.builder(large.members(0, MEMBERS), large.shards(SHARDS))
			.traits(large.traits(SHARDS))
			.build();

		Assignment fromNothing = plan("from nothing", request);
		plan("nothing to do", LargeGroup.after(fromNothing, large.members(0, MEMBERS)));
		plan("one leaves", LargeGroup.after(fromNothing, large.members(1, MEMBERS)));
		plan("one joins", LargeGroup.after(fromNothing, large.members(0, MEMBERS + 1)));
		plan("half leave", LargeGroup.after(fromNothing, large.members(MEMBERS / 2, MEMBERS)));
		plan("half as many join", LargeGroup.after(fromNothing, large.members(0, MEMBERS * 3 / 2)));
	}

	private Assignment plan(String step, AssignmentRequest request) {
		long start = System.nanoTime();
		Assignment assignment = this.strategy.assign(request);
		Duration took = Duration.ofNanos(System.nanoTime() - start);
		System.out.printf("%-18s %-17s %5d ms, moves: %d%n", this.group, step, took.toMillis(), assignment.moves());
		assertThat(took).as("%s, %s", this.group, step).isLessThan(BOUND);
		assertThat(this.strategy.assign(LargeGroup.after(assignment, List.copyOf(request.members()))).moves())
			.as("%s, %s: moves of a second plan", this.group, step)
			.isZero();
		return assignment;
	}

}
