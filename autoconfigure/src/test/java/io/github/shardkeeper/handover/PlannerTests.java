package io.github.shardkeeper.handover;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.StickyAssignment;
import io.github.shardkeeper.handover.Transition.Assign;
import io.github.shardkeeper.handover.Transition.Retarget;
import io.github.shardkeeper.handover.Transition.Revoke;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

class PlannerTests {

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private static final ShardId ZERO = ShardId.of("orders", 0);

	private static final ShardId ONE = ShardId.of("orders", 1);

	private final List<GroupMember> members = new ArrayList<>();

	private final List<Ownership> ownerships = new ArrayList<>();

	private AssignmentStrategy strategy = new StickyAssignment();

	private Map<String, Integer> ownTopics = Map.of("orders", 2);

	@Test
	void newAndFreeShardsAreAssignedAtTheirGeneration() {
		member(A, 2);
		is(ZERO, ShardPhase.FREE, null, null, 7);

		assertThat(plan()).containsExactly(new Assign(ZERO, 7, A), new Assign(ONE, 0, A));
	}

	@Test
	void whatStandsWhereItShallNeedsNoTransition() {
		member(A, 2);
		member(B, 2);
		is(ZERO, ShardPhase.OWNED, A, null, 1);
		is(ONE, ShardPhase.REVOKING, A, B, 2);

		assertThat(plan()).isEmpty();
	}

	@Test
	void anOwnedShardIsRevokedInFavourOfAnother() {
		member(A, 2);
		member(B, 2);
		is(ZERO, ShardPhase.OWNED, A, null, 1);
		is(ONE, ShardPhase.OWNED, A, null, 2);

		assertThat(plan()).containsExactly(new Revoke(ONE, 2, B));
	}

	@Test
	void aLeavingMemberLosesAllAndGetsNothing() {
		member(A, 2, true);
		member(B, 2);
		is(ZERO, ShardPhase.OWNED, A, null, 1);

		assertThat(plan()).containsExactly(new Revoke(ZERO, 1, B), new Assign(ONE, 0, B));
	}

	@Test
	void theLastMemberThatLeavesGivesUpToNobody() {
		member(A, 2, true);
		is(ZERO, ShardPhase.OWNED, A, null, 1);

		assertThat(plan()).containsExactly(new Revoke(ZERO, 1, null));
	}

	@Test
	void aMoveWhoseTargetIsGoneGetsAnother() {
		member(A, 2, true);
		member(B, 2);
		is(ZERO, ShardPhase.REVOKING, A, MemberId.of("gone", "1"), 5);
		is(ONE, ShardPhase.REVOKING, A, null, 6);

		assertThat(plan()).containsExactly(new Retarget(ZERO, 5, B), new Retarget(ONE, 6, B));
	}

	@Test
	void aMoveThatNobodyCanTakeIsRetargetedToNobody() {
		member(A, 2, true);
		is(ZERO, ShardPhase.REVOKING, A, B, 5);

		assertThat(plan()).containsExactly(new Retarget(ZERO, 5, null));
	}

	@Test
	void aLoweredNumberOfShardsForgetsNone() {
		this.ownTopics = Map.of("orders", 1);
		member(A, 1);
		is(ZERO, ShardPhase.OWNED, A, null, 1);
		is(ONE, ShardPhase.FREE, null, null, 2);

		assertThat(plan()).containsExactly(new Assign(ONE, 2, A));
	}

	@Test
	void theLeadersOwnNumbersWin() {
		this.ownTopics = Map.of("orders", 2);
		member(A, 16);

		assertThat(plan()).containsExactly(new Assign(ZERO, 0, A), new Assign(ONE, 0, A));
	}

	@Test
	void aTopicThatOnlyOthersConsumeIsPlannedToo() {
		ShardId theirs = ShardId.of("payments", 0);
		member(A, 2);
		this.members.add(new GroupMember(B,
				new MemberDescription(new TreeMap<>(Map.of("payments", 1)), ApplicationVersion.UNKNOWN), false));
		this.members.add(new GroupMember(MemberId.of("c", "1"),
				new MemberDescription(new TreeMap<>(Map.of("payments", 1)), ApplicationVersion.UNKNOWN), false));

		assertThat(plan()).containsExactly(new Assign(ZERO, 0, A), new Assign(ONE, 0, A), new Assign(theirs, 0, B));
	}

	@Test
	void nobodyThereMeansNothingToDo() {
		is(ZERO, ShardPhase.FREE, null, null, 1);

		assertThat(plan()).isEmpty();
	}

	@Test
	void theStrategySeesTargetsOfMovesAsOwners() {
		member(A, 2);
		member(B, 2);
		is(ZERO, ShardPhase.OWNED, A, null, 1);
		is(ONE, ShardPhase.REVOKING, A, B, 2);
		List<AssignmentRequest> asked = new ArrayList<>();
		this.strategy = (request) -> {
			asked.add(request);
			return request.current();
		};

		assertThat(plan()).isEmpty();
		assertThat(asked.get(0).current()).containsOnly(Map.entry(ZERO, A), Map.entry(ONE, B));
	}

	private List<Transition> plan() {
		GroupPicture picture = new GroupPicture();
		picture.apply(new GroupChanges(A, 1, 100, 1, this.members, this.ownerships));
		return new Planner(() -> this.ownTopics, this.strategy).plan(picture);
	}

	private void member(MemberId id, int shards) {
		member(id, shards, false);
	}

	private void member(MemberId id, int shards, boolean leaving) {
		this.members.add(new GroupMember(id,
				new MemberDescription(new TreeMap<>(Map.of("orders", shards)), ApplicationVersion.UNKNOWN), leaving));
	}

	private void is(ShardId shard, ShardPhase phase, MemberId owner, MemberId target, long generation) {
		this.ownerships.add(new Ownership(shard, phase, new Token(generation), owner, target, generation, 0, 0));
	}

}
