package io.github.shardkeeper.protocol.leader;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.leader.Planner.ExpectedMove;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;

/** What operators are told about a plan before it is made. */
class ExpectedMovesTests {

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private static final ShardId ZERO = ShardId.of("orders", 0);

	private static final ShardId ONE = ShardId.of("orders", 1);

	private final List<GroupMember> members = new ArrayList<>(List.of(member(A, false), member(B, false)));

	private final List<Ownership> ownerships = new ArrayList<>();

	private Map<String, TopicShards> ownTopics = Map.of("orders", TopicShards.count(2));

	private @Nullable AssignmentStrategy strategy;

	private List<ExpectedMove> expected(Directive... directives) {
		return new Planner(HandoverRules.DEFAULT).expectedMoves(
				new GroupChanges(A, 1, 9, 1, this.members, this.ownerships), this.ownTopics,
				new Directives(1, Arrays.asList(directives), List.of()), this.strategy);
	}

	@Test
	void balancedGroupMovesNothing() {
		is(ZERO, Phase.OWNED, A, null);
		is(ONE, Phase.OWNED, B, null);

		assertThat(expected()).isEmpty();
	}

	@Test
	void shardsWithoutAnOwnerAreGivenAway() {
		is(ZERO, Phase.OWNED, A, null);
		is(ONE, Phase.FREE, null, null);

		assertThat(expected()).containsExactly(new ExpectedMove(ONE, null, B));
	}

	@Test
	void shardsThatTheGroupDoesNotKnowYetAreGivenAway() {
		is(ZERO, Phase.OWNED, A, null);

		assertThat(expected()).containsExactly(new ExpectedMove(ONE, null, B));
	}

	@Test
	void drainedInstanceGivesAllAway() {
		is(ZERO, Phase.OWNED, A, null);
		is(ONE, Phase.OWNED, B, null);

		assertThat(expected(directive(Kind.DRAIN, "b", null))).containsExactly(new ExpectedMove(ONE, B, A));
	}

	@Test
	void pinAndMoveAreFollowed() {
		is(ZERO, Phase.OWNED, A, null);
		is(ONE, Phase.OWNED, B, null);

		assertThat(expected(directive(Kind.PIN, ZERO.toString(), "b"))).contains(new ExpectedMove(ZERO, A, B));
		assertThat(expected(directive(Kind.MOVE, ONE.toString(), "a"))).contains(new ExpectedMove(ONE, B, A));
		assertThat(expected(directive(Kind.PIN, ZERO.toString(), "nobody"))).isEmpty();
	}

	/** A strategy of the application may ignore pins. */
	@Test
	void pinIsFollowedWhateverTheStrategySays() {
		is(ZERO, Phase.OWNED, A, null);
		is(ONE, Phase.OWNED, B, null);
		this.strategy = ExpectedMovesTests::stay;

		assertThat(expected()).isEmpty();
		assertThat(expected(directive(Kind.PIN, ZERO.toString(), "b"))).containsExactly(new ExpectedMove(ZERO, A, B));
	}

	@Test
	void strategyOfTheGroupIsAsked() {
		is(ZERO, Phase.OWNED, A, null);
		is(ONE, Phase.OWNED, B, null);
		this.strategy = (request) -> Assignment.builder(request).give(ZERO, B).give(ONE, A).build();

		assertThat(expected()).containsExactly(new ExpectedMove(ZERO, A, B), new ExpectedMove(ONE, B, A));
	}

	/** What moves already is not expected again. */
	@Test
	void moveThatIsUnderWayIsNoneUnlessItsTargetChanges() {
		is(ZERO, Phase.REVOKING, A, B);
		is(ONE, Phase.OWNED, B, null);
		this.strategy = ExpectedMovesTests::stay;

		assertThat(expected()).isEmpty();
		assertThat(expected(directive(Kind.MOVE, ZERO.toString(), "a"))).containsExactly(new ExpectedMove(ZERO, B, A));
	}

	@Test
	void leavingMemberLosesItsShards() {
		this.members.set(1, member(B, true));
		is(ZERO, Phase.OWNED, A, null);
		is(ONE, Phase.OWNED, B, null);

		assertThat(expected()).containsExactly(new ExpectedMove(ONE, B, A));
	}

	@Test
	void nobodyToTakeShardsMeansNoMove() {
		this.members.clear();
		this.members.add(member(A, true));
		is(ZERO, Phase.OWNED, A, null);
		this.ownTopics = Map.of();

		assertThat(expected()).isEmpty();
	}

	@Test
	void completedShardStays() {
		is(ZERO, Phase.COMPLETED, null, null);
		is(ONE, Phase.OWNED, B, null);

		assertThat(expected(directive(Kind.PIN, ZERO.toString(), "a"))).isEmpty();
	}

	/** Replies that nothing moves. */
	private static Assignment stay(AssignmentRequest request) {
		return Assignment.builder(request).keepCurrent().build();
	}

	private static Directive directive(Kind kind, String subject, @Nullable String to) {
		return Directive.of(kind, subject, to, "anna", "").stored(1, 1);
	}

	private void is(ShardId shard, Phase phase, @Nullable MemberId owner, @Nullable MemberId target) {
		long generation = this.ownerships.size() + 1;
		this.ownerships.add(new Ownership(shard, phase, new Token(generation), owner, target, generation, 1_000, 0));
	}

	private static GroupMember member(MemberId id, boolean leaving) {
		return new GroupMember(id, new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(2))),
				ApplicationVersion.UNKNOWN), leaving);
	}

}
