package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition.Assign;
import io.github.shardkeeper.protocol.Transition.Revoke;
import io.github.shardkeeper.protocol.leader.LeaderAction.ApplyPlan;
import io.github.shardkeeper.protocol.leader.LeaderAction.ComputeAssignment;
import io.github.shardkeeper.protocol.leader.LeaderAction.ReadGroup;
import io.github.shardkeeper.protocol.leader.LeaderAction.ReapDeadMembers;
import io.github.shardkeeper.protocol.leader.LeaderEvent.AssignmentComputed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.AssignmentFailed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.GroupRead;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ShardsChanged;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A leader whose strategy takes its time, or fails: {@code orders/0} and {@code orders/1}
 * are owned by {@code a}, which leads.
 */
class SlowStrategyTests {

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private static final MemberId C = MemberId.of("c", "1");

	private static final ShardId FIRST = ShardId.of("orders", 0);

	private static final ShardId SECOND = ShardId.of("orders", 1);

	private static final Duration SETTLE = Duration.ofMillis(100);

	private static final long LEASE = 3_000;

	/** Where the store's clock stands when this member's clock stands at zero. */
	private static final long STORE_START = 1_000_000;

	private final TestLeadership leadership = new TestLeadership(
			new Leadership(Duration.ofMillis(500), Duration.ofMillis(LEASE), SETTLE, HandoverRules.DEFAULT, null));

	private long now = 0;

	private long epoch = 1;

	private long generation = 2;

	private long membership = 1;

	@BeforeEach
	void leads() {
		this.leadership.on(new ShardsChanged(Map.of("orders", TopicShards.count(2))), time());
		answered(A);
		refreshed(List.of(member(A), member(B)), owned(FIRST, A, 1), owned(SECOND, A, 2));
		this.now += SETTLE.toMillis();
	}

	@Test
	void leaderContinuesWithoutPlanningWhileTheStrategyComputes() {
		AssignmentRequest request = asked();
		assertThat(next()).isNull();

		this.leadership.on(new ReapAnswered(new ReapReply.Looked(List.of(C), List.of(), List.of(), 0)), time());
		assertThat(next()).as("its picture is kept up").isInstanceOf(ReadGroup.class);
		this.generation++;
		refreshed(null, owned(FIRST, A, 3));
		this.leadership.on(new HeartbeatAnswered(alive(A, this.now - 1), A, time()), time());
		assertThat(next()).as("the dead are looked for").isInstanceOf(ReapDeadMembers.class);
		this.leadership.on(new ReapAnswered(new ReapReply.Looked(List.of(), List.of(), List.of(), 0)), time());
		assertThat(next()).isNull();
		assertThat(this.leadership.wakeAt()).as("nothing is due before the reply").isNull();

		give(request, A, B);
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Revoke(SECOND, 2, B))));
	}

	@Test
	void outdatedAnswerIsRequestedAgain() {
		AssignmentRequest request = asked();
		joins(C);

		give(request, A, B);
		AssignmentRequest again = asked();
		assertThat(again.members()).hasSize(3);
		give(again, A, C);
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Revoke(SECOND, 2, C))));
	}

	@Test
	void secondOutdatedAnswerIsUsedAsFarAsItHolds() {
		AssignmentRequest request = asked();
		joins(C);
		give(request, B, A);
		AssignmentRequest again = asked();

		this.membership++;
		answered(A);
		assertThat(next()).isInstanceOf(ReadGroup.class);
		refreshed(List.of(member(A), member(B)));
		give(again, B, C);

		assertThat(next()).as("shards whose target has left stay")
			.isEqualTo(new ApplyPlan(1, List.of(new Revoke(FIRST, 1, B))));
		this.leadership.on(new PlanAnswered(new PlanReply.Applied(1, 0)), time());
		assertThat(next()).isInstanceOf(ReadGroup.class);
		refreshed(null);
		this.now += SETTLE.toMillis();
		assertThat(asked().members()).as("and asks again").hasSize(2);
	}

	@Test
	void failingStrategyMovesNothingAndFreeShardsAreAssigned() {
		this.leadership.on(new AssignmentFailed(asked()), time());
		assertThat(next()).as("nothing moves").isNull();

		this.generation++;
		answered(A);
		assertThat(next()).isInstanceOf(ReadGroup.class);
		refreshed(null, new Ownership(SECOND, Phase.FREE, new Token(3), null, null, 3, STORE_START, 0));
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SECOND, 3, B))));
		assertThat(this.leadership.view().assignment().why(0)).contains("stays with a~1: the last assignment holds");
		assertThat(this.leadership.view().assignment().why(1)).contains("goes to b~1: it had no remaining owner");
	}

	@Test
	void failingStrategyIsAskedAgainAfterAGrowingPause() {
		this.leadership.on(new AssignmentFailed(asked()), time());
		for (long pause : new long[] { 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000 }) {
			assertThat(next()).isNull();
			assertThat(this.leadership.wakeAt()).isEqualTo(at(this.now + pause));
			this.now += pause - 1;
			assertThat(next()).isNull();
			this.now += 1;
			this.leadership.on(new AssignmentFailed(asked()), time());
		}
		assertThat(next()).isNull();
		this.now += 30_000;

		give(asked(), A, B);
		assertThat(next()).as("it works again").isInstanceOf(ApplyPlan.class);
		assertThat(this.leadership.wakeAt()).as("only to look for the dead, by a clock that may be slow")
			.isBetween(at(600_001), at(601_203));
	}

	@Test
	void freeShardsDoNotWaitForAnotherFailure() {
		this.leadership.on(new AssignmentFailed(asked()), time());
		assertThat(next()).isNull();
		this.now += 1_000;
		asked();
		assertThat(next()).isNull();
		this.generation++;
		answered(A);
		assertThat(next()).isInstanceOf(ReadGroup.class);
		refreshed(null, new Ownership(SECOND, Phase.FREE, new Token(3), null, null, 3, STORE_START, 0));

		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SECOND, 3, B))));
	}

	@Test
	void freeShardsDoNotWaitForTheAnswerToARepeatedRequest() {
		this.leadership.on(new AssignmentFailed(asked()), time());
		assertThat(next()).isNull();
		this.now += 1_000;
		this.generation++;
		answered(A);
		assertThat(next()).isInstanceOf(ReadGroup.class);
		refreshed(null, new Ownership(SECOND, Phase.FREE, new Token(3), null, null, 3, STORE_START, 0));

		asked();
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SECOND, 3, B))));
	}

	@Test
	void movesOfAnEarlierAnswerContinue() {
		give(asked(), A, B);
		assertThat(next()).isInstanceOf(ApplyPlan.class);
		this.leadership.on(new PlanAnswered(new PlanReply.Applied(0, 1)), time());
		assertThat(next()).isInstanceOf(ReadGroup.class);
		refreshed(List.of(member(A), member(B)), owned(FIRST, A, 1), owned(SECOND, A, 2));
		this.now += SETTLE.toMillis();
		this.leadership.on(new AssignmentFailed(asked()), time());

		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Revoke(SECOND, 2, B))));
	}

	@Test
	void answerToAnEarlierLeadershipIsIgnored() {
		AssignmentRequest request = asked();
		answered(B);
		this.epoch = 3;
		answered(A);
		assertThat(next()).isInstanceOf(ReadGroup.class);
		refreshed(List.of(member(A), member(B)), owned(FIRST, A, 1), owned(SECOND, A, 2));

		give(request, B, B);
		this.leadership.on(new AssignmentFailed(request), time());
		assertThat(next()).isNull();
		this.now += SETTLE.toMillis();
		assertThat(asked()).isNotSameAs(request);
	}

	@Test
	void unfinishedAnswerIsRequestedAgainAfterAMove() {
		AssignmentRequest request = asked();
		this.leadership.on(new AssignmentComputed(request,
				Assignment.builder(request).give(FIRST, A).give(SECOND, B).unfinished().build()), time());
		assertThat(next()).isInstanceOf(ApplyPlan.class);
		this.leadership.on(new PlanAnswered(new PlanReply.Applied(1, 0)), time());
		assertThat(next()).isInstanceOf(ReadGroup.class);
		this.generation++;
		refreshed(null, owned(SECOND, B, 3));

		assertThat(asked().owner(1)).isEqualTo(1);
	}

	@Test
	void fallbackAssignmentKeepsTheTraitsOfTheLastAnswer() {
		AssignmentRequest request = asked();
		AssignmentRequest known = request
			.withTraits(new ShardTraits[] { ShardTraits.NONE, new ShardTraits(1, null, "b") });
		this.leadership.on(
				new AssignmentComputed(request, Assignment.builder(known).give(FIRST, A).give(SECOND, A).build()),
				time());
		assertThat(next()).isNull();
		joins(C);
		this.leadership.on(new AssignmentFailed(asked()), time());
		assertThat(next()).isNull();

		assertThat(this.leadership.view().assignment().request().traits(1).pinnedTo()).isEqualTo("b");
	}

	@Test
	void onlyALeaderKnowsReasonsAndSuccessors() {
		give(asked(), A, B);
		next();
		assertThat(this.leadership.view().assignment()).isNotNull();
		assertThat(this.leadership.view().hasSuccessor()).isTrue();
		answered(B);

		assertThat(this.leadership.view().assignment()).isNull();
		assertThat(this.leadership.view().hasSuccessor()).isFalse();
	}

	private void joins(MemberId member) {
		this.membership++;
		answered(A);
		assertThat(next()).isInstanceOf(ReadGroup.class);
		refreshed(List.of(member(A), member(B), member(member)));
		this.now += SETTLE.toMillis();
	}

	private AssignmentRequest asked() {
		LeaderAction action = next();
		assertThat(action).isInstanceOf(ComputeAssignment.class);
		return ((ComputeAssignment) action).request();
	}

	private void give(AssignmentRequest request, MemberId first, MemberId second) {
		this.leadership.on(new AssignmentComputed(request,
				Assignment.builder(request).give(FIRST, first).give(SECOND, second).build()), time());
	}

	private void answered(MemberId leader) {
		this.leadership.on(new HeartbeatAnswered(alive(leader, this.now + 600_000), A, time()), time());
	}

	private HeartbeatReply.Alive alive(MemberId leader, long earliestLeaseEnd) {
		long serverTime = STORE_START + this.now;
		return new HeartbeatReply.Alive(serverTime, leader, this.epoch, serverTime + LEASE,
				STORE_START + earliestLeaseEnd, this.generation, this.membership, this.generation, List.of(), 1, false,
				true, 0, 0, 0, Long.MAX_VALUE, GroupStatus.NONE);
	}

	private void refreshed(List<GroupMember> members, Ownership... ownerships) {
		this.leadership.on(new GroupRead(
				new GroupChanges(A, this.epoch, this.generation, this.membership, members, List.of(ownerships))),
				time());
	}

	private static Ownership owned(ShardId shard, MemberId owner, long generation) {
		return new Ownership(shard, Phase.OWNED, new Token(generation), owner, null, generation, STORE_START, 0);
	}

	private static GroupMember member(MemberId id) {
		return new GroupMember(id, new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(2))),
				ApplicationVersion.UNKNOWN), false);
	}

	private LeaderAction next() {
		return this.leadership.next(time());
	}

	private MonotonicTime time() {
		return at(this.now);
	}

	private static MonotonicTime at(long millis) {
		return new MonotonicTime(millis * 1_000_000);
	}

}
