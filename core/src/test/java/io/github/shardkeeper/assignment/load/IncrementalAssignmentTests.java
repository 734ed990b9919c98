package io.github.shardkeeper.assignment.load;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Groups;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;

import static org.assertj.core.api.Assertions.assertThat;

class IncrementalAssignmentTests {

	private final AssignmentStrategy strategy = new IncrementalAssignment();

	@Test
	void unownedShardsGoToIdleMembersFirstThenToTheLeastLoaded() {
		// a has 3, b has 1, c and d nothing.
		AssignmentRequest request = owned(Groups.alike(4), 9, 0, 0, 0, 1);

		Assignment assignment = this.strategy.assign(request);

		assertThat(IntStream.range(4, 9).map(assignment::owner)).containsExactly(2, 3, 1, 2, 3);
		assertThat(IntStream.range(4, 9).mapToObj(assignment::reason)).containsOnly(Reason.PLACED);
		assertThat(assignment.moves()).isZero();
		assertThat(assignment.isUnfinished()).isFalse();
	}

	@Test
	void higherCapacityCanPrecedeAnIdleMember() {
		List<Assignee> members = List.of(Groups.member("a", 100, "t"), Groups.member("b", 1, "t"));

		assertThat(this.strategy.assign(owned(members, 2, 0)).owner(1)).isZero();
	}

	@Test
	void idleMemberTakesLatestShardOfHeaviestMember() {
		AssignmentRequest request = AssignmentRequest.builder(Groups.alike(3), Groups.shards("t", 9))
			.owners(new int[] { 0, 0, 0, 0, 0, 1, 1, 1, 1 }, new long[] { 5, 9, 1, 2, 3, 20, 21, 22, 23 }, new long[9])
			.build();

		Assignment assignment = this.strategy.assign(request);

		assertThat(Groups.loads(assignment)).containsExactly(3, 3, 3);
		assertThat(assignment.moves()).isEqualTo(3);
		assertThat(assignment.owner(1)).isEqualTo(2);
		assertThat(assignment.owner(0)).isEqualTo(2);
		assertThat(assignment.owner(8)).isEqualTo(2);
		assertThat(assignment.reason(8)).isEqualTo(Reason.SHARE);
		assertThat(assignment.reason(7)).isEqualTo(Reason.KEPT);
	}

	@Test
	void latestShardOfAllTopicsMoves() {
		List<Assignee> members = List.of(Groups.member("a", "t", "u"), Groups.member("b", "t", "u"));
		// t/0, t/1, u/0, u/1
		AssignmentRequest request = AssignmentRequest.builder(members, Groups.shards(Map.of("t", 2, "u", 2)))
			.owners(new int[4], new long[] { 3, 6, 9, 7 }, new long[4])
			.build();

		Assignment assignment = this.strategy.assign(request);

		assertThat(IntStream.range(0, 4).map(assignment::owner)).containsExactly(0, 0, 1, 1);
	}

	@ParameterizedTest
	@CsvSource({ "100, 2, 50", "95, 2, 47", "1000, 10, 900", "10, 2, 5", "20, 2, 10", "9, 10, 8" })
	void largeDifferenceTakesSeveralSteps(int shards, int members, int moves) {
		AssignmentRequest request = owned(Groups.alike(members), shards, new int[shards]);
		Assignment assignment = this.strategy.assign(request);
		int moved = assignment.moves();
		int steps = 1;
		while (assignment.isUnfinished()) {
			assertThat(assignment.moves()).isEqualTo(IncrementalAssignment.STEP);
			assignment = this.strategy.assign(Groups.after(assignment));
			moved += assignment.moves();
			steps++;
		}

		assertThat(moved).isEqualTo(moves);
		assertThat(steps).isEqualTo((moves + IncrementalAssignment.STEP - 1) / IncrementalAssignment.STEP);
		int[] loads = Groups.loads(assignment);
		assertThat(Arrays.stream(loads).max().orElseThrow() - Arrays.stream(loads).min().orElseThrow())
			.isLessThanOrEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource({ "0, 10", "4, 6", "9, 1", "10, 0", "30, 0" })
	void atMostOneStepOfMovesIsUnderWay(int underWay, int moves) {
		AssignmentRequest request = AssignmentRequest.builder(Groups.alike(2), Groups.shards("t", 100))
			.owners(new int[100], new long[100], new long[100])
			.movesUnderWay(underWay)
			.build();

		Assignment assignment = this.strategy.assign(request);

		assertThat(assignment.moves()).isEqualTo(moves);
		assertThat(assignment.isUnfinished()).isTrue();
	}

	@Test
	void assignmentIsFinishedWhenMovesUnderWaySuffice() {
		int[] owners = new int[20];
		Arrays.fill(owners, 10, 20, 1);
		AssignmentRequest request = AssignmentRequest.builder(Groups.alike(2), Groups.shards("t", 20))
			.owners(owners, new long[20], new long[20])
			.movesUnderWay(10)
			.build();

		assertThat(this.strategy.assign(request).isUnfinished()).isFalse();
	}

	@Test
	void weightsAreSharedByCapacity() {
		ShardTraits[] traits = new ShardTraits[12];
		Arrays.fill(traits, ShardTraits.NONE);
		traits[0] = new ShardTraits(9, null, null);
		List<Assignee> members = List.of(Groups.member("a", 1, "t"), Groups.member("b", 3, "t"));
		AssignmentRequest request = AssignmentRequest.builder(members, Groups.shards("t", 12))
			.owners(new int[12], new long[12], new long[12])
			.traits(traits)
			.build();

		Assignment assignment = this.strategy.assign(request);
		while (assignment.isUnfinished()) {
			assignment = this.strategy.assign(Groups.after(assignment));
		}

		int[] weights = new int[2];
		for (int shard = 0; shard < 12; shard++) {
			weights[assignment.owner(shard)] += traits[shard].weight();
		}
		assertThat(weights).containsExactly(5, 15);
	}

	@Test
	void pinnedShardCountsAndDoesNotMove() {
		ShardTraits[] traits = new ShardTraits[6];
		Arrays.fill(traits, new ShardTraits(1, null, "m000"));
		traits[4] = ShardTraits.NONE;
		traits[5] = ShardTraits.NONE;
		AssignmentRequest request = AssignmentRequest.builder(Groups.alike(2), Groups.shards("t", 6))
			.owners(new int[] { 1, 1, 0, 0, 0, 0 }, new long[6], new long[6])
			.traits(traits)
			.build();

		Assignment assignment = this.strategy.assign(request);

		assertThat(IntStream.range(0, 6).map(assignment::owner)).containsExactly(0, 0, 0, 0, 1, 1);
		assertThat(assignment.reason(0)).isEqualTo(Reason.PINNED);
		assertThat(assignment.reason(4)).isEqualTo(Reason.SHARE);
	}

	@Test
	void shardsGoOnlyToConsumersOfTheirTopic() {
		List<Assignee> members = new ArrayList<>(Groups.alike(2));
		members.add(Groups.member("other", "u"));
		AssignmentRequest request = owned(members, 4, 0, 0, 0, 0);

		assertThat(Groups.loads(this.strategy.assign(request))).containsExactly(2, 2, 0);
	}

	/** Shards of the topic t; shards without a given owner have none. */
	private static AssignmentRequest owned(List<Assignee> members, int shards, int... owners) {
		int[] all = Arrays.copyOf(owners, shards);
		Arrays.fill(all, owners.length, shards, AssignmentRequest.NOBODY);
		return AssignmentRequest.builder(members, Groups.shards("t", shards))
			.owners(all, new long[shards], new long[shards])
			.build();
	}

}
