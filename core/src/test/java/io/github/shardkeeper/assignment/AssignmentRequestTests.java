package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.rules.RangeAssignment;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

class AssignmentRequestTests {

	private final Assignee a = Groups.member("a", "t");

	private final Assignee b = Groups.member("b", "t");

	private final Assignee other = Groups.member("other", "u");

	@Test
	void pinHoldsOnlyForAPresentInstanceThatConsumesTheTopic() {
		AssignmentRequest request = request(List.of(this.a, this.b, this.other), new int[] { 0, 0, 0, 0 }, "b", "gone",
				"other", null);

		assertThat(request.pinnedOwners()).containsExactly(1, -1, -1, -1);
	}

	@Test
	void sessionThatOwnsThePinnedShardKeepsIt() {
		Assignee later = new Assignee(MemberId.of("a", "2"), Set.of("t"), ApplicationVersion.UNKNOWN);

		assertThat(
				request(List.of(this.a, later, this.b), new int[] { 0, 1, 2, -1 }, "a", "a", "a", "a").pinnedOwners())
			.containsExactly(0, 1, 1, 1);
	}

	@Test
	void rulesAssignUnpinnedShardsOnly() {
		AssignmentRequest request = request(List.of(this.a, this.b), new int[] { 0, 0, 0, 0 }, "b", null, "a", null);

		Assignment assignment = new RangeAssignment().assign(request);

		assertThat(assignment.why(0)).isEqualTo("t/0 moves from a~1 to b~1: " + Reason.PINNED.text());
		assertThat(assignment.why(1)).isEqualTo("t/1 stays with a~1: " + Reason.KEPT.text());
		assertThat(assignment.why(2)).isEqualTo("t/2 stays with a~1: " + Reason.PINNED.text());
		assertThat(assignment.why(3)).isEqualTo("t/3 moves from a~1 to b~1: " + Reason.RULE.text());
	}

	private static AssignmentRequest request(List<Assignee> members, int[] owners, String... pins) {
		ShardTraits[] traits = Arrays.stream(pins)
			.map((pin) -> new ShardTraits(1, null, pin))
			.toArray(ShardTraits[]::new);
		return AssignmentRequest.builder(members, Groups.shards("t", 4))
			.owners(owners, new long[4], new long[4])
			.traits(traits)
			.build();
	}

}
