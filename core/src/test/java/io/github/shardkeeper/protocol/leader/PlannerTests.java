package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Tenure;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.Transition.Assign;
import io.github.shardkeeper.protocol.Transition.Cancel;
import io.github.shardkeeper.protocol.Transition.Retarget;
import io.github.shardkeeper.protocol.Transition.Revoke;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;

class PlannerTests {

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private static final ShardId ZERO = ShardId.of("orders", 0);

	private static final ShardId ONE = ShardId.of("orders", 1);

	private static final MemberId C = MemberId.of("c", "1");

	/** The store's time. */
	private static final long NOW = 1_000;

	private static final Duration TIMEOUT = Duration.ofMillis(600);

	private final List<GroupMember> members = new ArrayList<>();

	private final List<Ownership> ownerships = new ArrayList<>();

	private AssignmentStrategy strategy = new StickyAssignment();

	private Map<String, TopicShards> ownTopics = Map.of("orders", TopicShards.count(2));

	private int mostConcurrentMoves;

	private long claimsUntil;

	/** Result of the last plan. */
	private Planner.Plan plan;

	@Test
	void newAndFreeShardsAreAssignedAtTheirGeneration() {
		member(A, 2);
		is(ZERO, Phase.FREE, null, null, 7);

		assertThat(plan()).containsExactly(new Assign(ZERO, 7, A), new Assign(ONE, 0, A));
	}

	@Test
	void assignmentsOfOneMemberAreAdjacent() {
		this.ownTopics = Map.of("orders", TopicShards.count(40));
		member(A, 40);
		member(B, 40);
		member(C, 40);

		List<MemberId> owners = plan().stream().map((assign) -> ((Assign) assign).owner()).toList();

		assertThat(owners).hasSize(40);
		// One beginning and two changes from one member to the next.
		assertThat(IntStream.range(1, 40).filter((i) -> !owners.get(i).equals(owners.get(i - 1))).count()).isEqualTo(2);
	}

	@Test
	void shardOfTheRightOwnerNeedsNoTransition() {
		member(A, 2);
		member(B, 2);
		is(ZERO, Phase.OWNED, A, null, 1);
		is(ONE, Phase.REVOKING, A, B, 2);

		assertThat(plan()).isEmpty();
	}

	@Test
	void ownedShardIsRevokedInFavourOfAnother() {
		member(A, 2);
		member(B, 2);
		is(ZERO, Phase.OWNED, A, null, 1);
		is(ONE, Phase.OWNED, A, null, 2);

		assertThat(plan()).containsExactly(new Revoke(ONE, 2, B));
	}

	@Test
	void leavingMemberLosesAllShardsAndGetsNone() {
		member(A, 2, true);
		member(B, 2);
		is(ZERO, Phase.OWNED, A, null, 1);

		assertThat(plan()).containsExactly(new Assign(ONE, 0, B), new Revoke(ZERO, 1, B));
	}

	@Test
	void lastLeavingMemberReleasesWithoutTarget() {
		member(A, 2, true);
		is(ZERO, Phase.OWNED, A, null, 1);

		assertThat(plan()).containsExactly(new Revoke(ZERO, 1, null));
	}

	@Test
	void moveWithoutLivingTargetGetsAnotherTarget() {
		member(A, 2, true);
		member(B, 2);
		is(ZERO, Phase.REVOKING, A, MemberId.of("gone", "1"), 5);
		is(ONE, Phase.REVOKING, A, null, 6);

		assertThat(plan()).containsExactly(new Retarget(ZERO, 5, B), new Retarget(ONE, 6, B));
	}

	@Test
	void moveThatNobodyCanTakeLosesItsTarget() {
		member(A, 2, true);
		is(ZERO, Phase.REVOKING, A, B, 5);

		assertThat(plan()).containsExactly(new Retarget(ZERO, 5, null));
	}

	@Test
	void lowerShardCountForgetsNoShard() {
		this.ownTopics = Map.of("orders", TopicShards.count(1));
		member(A, 1);
		is(ZERO, Phase.OWNED, A, null, 1);
		is(ONE, Phase.FREE, null, null, 2);

		assertThat(plan()).containsExactly(new Assign(ONE, 2, A));
	}

	@Test
	void highestShardCountWins() {
		this.ownTopics = Map.of("orders", TopicShards.count(1));
		member(A, 2);

		assertThat(plan()).containsExactly(new Assign(ZERO, 0, A), new Assign(ONE, 0, A));
	}

	@Test
	void topicConsumedByOthersOnlyIsPlanned() {
		ShardId theirs = ShardId.of("payments", 0);
		member(A, 2);
		this.members
			.add(new GroupMember(B, new MemberDescription(new TreeMap<>(Map.of("payments", TopicShards.count(1))),
					ApplicationVersion.UNKNOWN), false));
		this.members.add(new GroupMember(MemberId.of("c", "1"), new MemberDescription(
				new TreeMap<>(Map.of("payments", TopicShards.count(1))), ApplicationVersion.UNKNOWN), false));

		assertThat(plan()).containsExactly(new Assign(ZERO, 0, A), new Assign(ONE, 0, A), new Assign(theirs, 0, B));
	}

	@Test
	void groupWithoutMembersHasNoPlan() {
		is(ZERO, Phase.FREE, null, null, 1);

		assertThat(plan()).isEmpty();
	}

	@Test
	void theStrategySeesTargetsOfMovesAsOwners() {
		member(A, 2);
		member(B, 2);
		is(ZERO, Phase.OWNED, A, null, 1);
		is(ONE, Phase.REVOKING, A, B, 2);
		List<AssignmentRequest> asked = new ArrayList<>();
		this.strategy = (request) -> {
			asked.add(request);
			return Assignment.builder(request).give(ZERO, A).give(ONE, B).build();
		};

		assertThat(plan()).isEmpty();
		assertThat(asked.get(0).current()).containsOnly(Map.entry(ZERO, new Tenure(A, 1, NOW)),
				Map.entry(ONE, new Tenure(B, 2, NOW)));
	}

	@Test
	void moveIsCancelledWhenTheTargetIsGone() {
		member(A, 2);
		member(B, 2, true);
		is(ZERO, Phase.OWNED, A, null, 1);
		is(ONE, Phase.REVOKING, A, B, 2);

		assertThat(plan()).containsExactly(new Cancel(ONE, 2));
	}

	@Test
	void moveIsCancelledWhenTheStrategyChoosesTheOwner() {
		member(A, 2);
		member(B, 2);
		is(ZERO, Phase.OWNED, B, null, 1);
		is(ONE, Phase.REVOKING, A, B, 2);
		this.strategy = (request) -> Assignment.builder(request).give(ZERO, B).give(ONE, A).build();

		assertThat(plan()).containsExactly(new Cancel(ONE, 2));
	}

	@Test
	void quietShardIsAssignedAfterItsQuietPeriod() {
		member(A, 2);
		is(ZERO, Phase.OWNED, A, null, 1);
		rests(ONE, A, 2, NOW + 300);
		assertThat(plan()).isEmpty();
		assertThat(this.plan.nextMillis()).isEqualTo(NOW + 300);

		this.ownerships.clear();
		is(ZERO, Phase.OWNED, A, null, 1);
		rests(ONE, A, 2, NOW);
		assertThat(plan()).containsExactly(new Assign(ONE, 2, A));
		assertThat(this.plan.nextMillis()).isZero();
	}

	@Test
	void quietShardCanGetAnotherTarget() {
		member(A, 2);
		member(B, 2);
		rests(ZERO, null, 1, NOW + 300);
		rests(ONE, MemberId.of("gone", "1"), 2, NOW + 200);

		assertThat(plan()).containsExactly(new Retarget(ZERO, 1, A), new Retarget(ONE, 2, B));
		assertThat(this.plan.nextMillis()).isEqualTo(NOW + 200);
	}

	/** The store refuses, and the rest is planned again. */
	@Test
	void quietPeriodProlongedByAClockSetBackIsTriedImmediately() {
		member(A, 2);
		is(ZERO, Phase.OWNED, A, null, 1);
		long since = NOW + 3_600_000;
		this.ownerships.add(new Ownership(ONE, Phase.QUIET, new Token(2), null, A, 2, since, since + 300));

		assertThat(plan()).containsExactly(new Assign(ONE, 2, A));
	}

	@Test
	void nothingIsAssignedWhileItsHolderMayClaimIt() {
		this.claimsUntil = NOW + 500;
		this.ownTopics = Map.of("orders", TopicShards.count(5));
		member(A, 5);
		member(B, 5);
		is(ZERO, Phase.FREE, null, null, 1);
		rests(ONE, A, 2, NOW);
		is(ShardId.of("orders", 2), Phase.OWNED, A, null, 3);
		is(ShardId.of("orders", 3), Phase.REVOKING, A, C, 4);

		assertThat(plan()).doesNotHaveAnyElementsOfTypes(Assign.class).hasAtLeastOneElementOfType(Cancel.class);
		assertThat(this.plan.nextMillis()).isEqualTo(NOW + 500);

		this.claimsUntil = NOW;
		assertThat(plan()).filteredOn(Assign.class::isInstance).hasSize(3);
	}

	@Test
	void completedShardHasNoOwnerAndNoLoad() {
		member(A, 2);
		member(B, 2);
		is(ZERO, Phase.COMPLETED, null, null, 1);
		is(ONE, Phase.OWNED, A, null, 2);
		List<AssignmentRequest> asked = new ArrayList<>();
		AssignmentStrategy sticky = this.strategy;
		this.strategy = (request) -> {
			asked.add(request);
			return sticky.assign(request);
		};

		assertThat(plan()).isEmpty();
		assertThat(asked.get(0).shards().asList()).containsExactly(ONE);
		assertThat(asked.get(0).current()).containsOnlyKeys(ONE);
	}

	@Test
	void concurrentMovesAreLimited() {
		this.mostConcurrentMoves = 2;
		member(A, 8);
		member(B, 8);
		ownsAll(A, 8);

		assertThat(plan()).hasSize(2).hasOnlyElementsOfType(Revoke.class);
		assertThat(this.plan.movesHeldBack()).isTrue();
	}

	@Test
	void movesUnderWayCountTowardsTheLimit() {
		this.mostConcurrentMoves = 2;
		member(A, 3);
		member(B, 3, true);
		member(C, 3);
		this.ownTopics = Map.of("orders", TopicShards.count(3));
		is(ZERO, Phase.REVOKING, B, C, 1);
		is(ONE, Phase.OWNED, B, null, 2);
		is(ShardId.of("orders", 2), Phase.OWNED, B, null, 3);

		assertThat(plan()).containsExactly(new Revoke(ONE, 2, A));
		assertThat(this.plan.movesHeldBack()).isTrue();
	}

	@Test
	void unfinishedAssignmentIsPlannedAgainWhenTheFirstMoveIsOverdue() {
		member(A, 2);
		member(B, 2);
		is(ZERO, Phase.REVOKING, A, B, 1);
		is(ONE, Phase.OWNED, A, null, 2);
		assertThat(plan()).isEmpty();
		assertThat(this.plan.nextMillis()).isZero();

		this.strategy = (request) -> Assignment.builder(request).keepCurrent().unfinished().build();
		assertThat(plan()).isEmpty();
		assertThat(this.plan.nextMillis()).isEqualTo(NOW + TIMEOUT.toMillis());
	}

	@Test
	void overdueMovesDoNotCountTowardsTheLimit() {
		this.mostConcurrentMoves = 1;
		member(A, 3);
		member(B, 3, true);
		this.ownTopics = Map.of("orders", TopicShards.count(3));
		is(ONE, Phase.OWNED, B, null, 2);
		drainsSince(ZERO, NOW - TIMEOUT.toMillis() + 1);
		assertThat(plan()).as("only shards without an owner").noneMatch(Revoke.class::isInstance);
		assertThat(this.plan.movesHeldBack()).isTrue();
		assertThat(this.plan.nextMillis()).as("planned again when it is overdue").isEqualTo(NOW + 1);

		this.ownerships.remove(this.ownerships.size() - 1);
		drainsSince(ZERO, NOW - TIMEOUT.toMillis());
		assertThat(plan()).contains(new Revoke(ONE, 2, A));
		assertThat(this.plan.movesHeldBack()).isFalse();
		assertThat(this.plan.nextMillis()).isZero();
	}

	@Test
	void movesFromLeavingMembersComeFirst() {
		this.mostConcurrentMoves = 1;
		member(A, 4);
		member(B, 4, true);
		member(C, 4);
		this.ownTopics = Map.of("orders", TopicShards.count(4));
		for (int shard = 0; shard < 3; shard++) {
			is(ShardId.of("orders", shard), Phase.OWNED, A, null, shard + 1);
		}
		ShardId last = ShardId.of("orders", 3);
		is(last, Phase.OWNED, B, null, 4);

		assertThat(plan()).containsExactly(new Revoke(last, 4, C));
	}

	@Test
	void shardsWithoutOwnerAreNotLimited() {
		this.mostConcurrentMoves = 1;
		member(A, 4);
		this.ownTopics = Map.of("orders", TopicShards.count(4));
		is(ZERO, Phase.FREE, null, null, 1);
		is(ONE, Phase.REVOKING, A, B, 2);

		assertThat(plan()).containsExactly(new Assign(ZERO, 1, A), new Assign(ShardId.of("orders", 2), 0, A),
				new Assign(ShardId.of("orders", 3), 0, A), new Cancel(ONE, 2));
		assertThat(this.plan.movesHeldBack()).isFalse();
	}

	@Test
	void requestDescribesMembersAndMovesUnderWay() {
		member(A, 4);
		member(C, 4, true);
		this.members.add(new GroupMember(B, new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(4))),
				new ApplicationVersion("1.2"), 4, "eu-1", "sticky"), false));
		is(ZERO, Phase.REVOKING, A, B, 1);
		is(ONE, Phase.REVOKING, C, B, 2);
		is(ShardId.of("orders", 2), Phase.REVOKING, A, C, 3);
		is(ShardId.of("orders", 3), Phase.OWNED, A, null, 4);
		GroupPicture picture = new GroupPicture();
		picture.apply(new GroupChanges(A, 1, 100, 1, this.members, this.ownerships));
		picture.update(this.ownTopics);

		AssignmentRequest request = new Planner(HandoverRules.DEFAULT).request(picture, new LoadReports(null),
				Directives.NONE, NOW);

		assertThat(request.members()).containsExactly(new Assignee(A, Set.of("orders"), ApplicationVersion.UNKNOWN),
				new Assignee(B, Set.of("orders"), new ApplicationVersion("1.2"), 4, "eu-1"));
		assertThat(request.movesUnderWay()).as("of members that stay, to members that stay").isEqualTo(1);
		long overdue = NOW + HandoverRules.DEFAULT.timeout().toMillis();
		assertThat(new Planner(HandoverRules.DEFAULT).request(picture, new LoadReports(null), Directives.NONE, overdue)
			.movesUnderWay()).as("what hangs holds nothing up").isZero();
	}

	private List<Transition> plan() {
		GroupPicture picture = new GroupPicture();
		picture.apply(new GroupChanges(A, 1, 100, 1, this.members, this.ownerships));
		picture.update(this.ownTopics);
		HandoverRules rules = new HandoverRules(TIMEOUT, HandoverRules.OnTimeout.HOLD, Duration.ZERO, Duration.ZERO,
				this.mostConcurrentMoves);
		Planner planner = new Planner(rules);
		this.plan = planner.plan(picture,
				this.strategy.assign(planner.request(picture, new LoadReports(null), Directives.NONE, NOW)), NOW,
				this.claimsUntil);
		return this.plan.transitions();
	}

	private void member(MemberId id, int shards) {
		member(id, shards, false);
	}

	private void member(MemberId id, int shards, boolean leaving) {
		this.members
			.add(new GroupMember(id, new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(shards))),
					ApplicationVersion.UNKNOWN), leaving));
	}

	private void is(ShardId shard, Phase phase, MemberId owner, MemberId target, long generation) {
		this.ownerships.add(new Ownership(shard, phase, new Token(generation), owner, target, generation, NOW, 0));
	}

	private void drainsSince(ShardId shard, long since) {
		this.ownerships.add(new Ownership(shard, Phase.REVOKING, new Token(1), B, A, 1, since, 0));
	}

	private void rests(ShardId shard, MemberId target, long generation, long until) {
		this.ownerships
			.add(new Ownership(shard, Phase.QUIET, new Token(generation), null, target, generation, 0, until));
	}

	/** So many shards, all of one owner. */
	private void ownsAll(MemberId owner, int shards) {
		this.ownTopics = Map.of("orders", TopicShards.count(shards));
		for (int shard = 0; shard < shards; shard++) {
			is(ShardId.of("orders", shard), Phase.OWNED, owner, null, shard + 1);
		}
	}

}
