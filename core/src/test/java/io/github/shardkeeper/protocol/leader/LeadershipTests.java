package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition.Assign;
import io.github.shardkeeper.protocol.leader.LeaderAction.ApplyPlan;
import io.github.shardkeeper.protocol.leader.LeaderAction.ComputeAssignment;
import io.github.shardkeeper.protocol.leader.LeaderAction.EndClaims;
import io.github.shardkeeper.protocol.leader.LeaderAction.ReadGroup;
import io.github.shardkeeper.protocol.leader.LeaderAction.ReapDeadMembers;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ActionFailed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.AssignmentComputed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.GroupRead;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatFailed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.SessionLost;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ShardsChanged;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

class LeadershipTests {

	private static final MemberId ME = MemberId.of("me", "1");

	private static final MemberId OTHER = MemberId.of("other", "1");

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final Duration INTERVAL = Duration.ofMillis(500);

	private static final Duration SETTLE = Duration.ofMillis(100);

	/** Where the store's clock stands when this member's clock stands at zero. */
	private static final long STORE_START = 1_000_000;

	private static final long LEASE = 3_000;

	private static final Duration HANDOVER = Duration.ofSeconds(50);

	private final TestLeadership leadership = new TestLeadership(new Leadership(INTERVAL, Duration.ofMillis(LEASE),
			SETTLE, new HandoverRules(HANDOVER, HandoverRules.OnTimeout.HOLD, Duration.ZERO, Duration.ZERO, 1), null));

	private Map<String, TopicShards> ownTopics = Map.of("orders", TopicShards.count(1));

	private long claimsUntil = 0;

	private long history = 1;

	/** This member's clock in milliseconds. */
	private long now = 0;

	/** Number of steps back of the store's clock that were seen. */
	private long setBacks = 0;

	/** When this member's lease ended before, as the store remembers it. */
	private long ownLeaseEnd = Long.MAX_VALUE;

	/** Step of the store's clock. */
	private long jump = 0;

	private long epoch = 1;

	private long generation = 0;

	private long membership = 1;

	@Test
	void memberThatDoesNotLeadDoesNothing() {
		answered(OTHER);

		assertThat(this.leadership.view().leads()).isFalse();
		assertThat(next()).isNull();
		assertThat(this.leadership.wakeAt()).isNull();
	}

	@Test
	void electedLeaderReadsTheGroupAndPlansAfterTheSettleTime() {
		answered(ME);
		assertThat(this.leadership.view().leads()).isTrue();
		assertThat(next()).isEqualTo(new ReadGroup(0, -1));

		refreshed(List.of(member(ME)));
		assertThat(next()).isNull();
		assertThat(this.leadership.wakeAt()).isEqualTo(at(SETTLE.toMillis()));

		this.now += SETTLE.toMillis() - 1;
		assertThat(next()).isNull();
		this.now += 1;
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SHARD, 0, ME))));
	}

	@Test
	void appliedPlanIsReadAndNotPlannedAgain() {
		leadInPeace();
		this.generation++;
		answered(ME);

		assertThat(next()).isEqualTo(new ReadGroup(1, 1));
		refreshed(null, owned());
		this.now += SETTLE.toMillis();
		assertThat(next()).isNull();
	}

	@Test
	void joinsWithinTheSettleTimeArePlannedTogether() {
		leadInPeace();
		long joined = this.now;
		this.membership++;
		answered(ME);
		assertThat(next()).isEqualTo(new ReadGroup(1, 1));
		refreshed(List.of(member(ME), member(OTHER)));

		this.now += SETTLE.toMillis() / 2;
		this.membership++;
		answered(ME);
		refreshed(List.of(member(ME), member(OTHER), member(MemberId.of("third", "1"))));
		assertThat(next()).isNull();
		assertThat(this.leadership.wakeAt()).isEqualTo(at(joined + SETTLE.toMillis()));
	}

	@Test
	void freedShardIsPlannedImmediately() {
		leadInPeace();
		this.generation++;
		answered(ME);
		assertThat(next()).isEqualTo(new ReadGroup(1, 1));
		refreshed(null, new Ownership(SHARD, Phase.FREE, new Token(1), null, null, this.generation, 0, 0));

		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SHARD, this.generation, ME))));
		assertThat(next()).isNull();
	}

	@Test
	void deadMembersAreReapedWhenTheEarliestLeaseEnds() {
		leadInPeace();
		this.leadership.on(new HeartbeatAnswered(alive(ME, this.now + 200), ME, time()), time());

		assertThat(this.leadership.wakeAt()).isBetween(at(this.now + 200), at(this.now + 201));
		this.now += 200;
		assertThat(next()).isNull();
		this.now += 1;
		assertThat(next())
			.isEqualTo(new ReapDeadMembers(1, new SteadyTime(STORE_START, STORE_START + this.now - 1, this.setBacks)));
	}

	@Test
	void deathIsPlannedImmediately() {
		leadInPeace();
		this.leadership.on(new ReapAnswered(new ReapReply.Looked(List.of(OTHER), List.of(), List.of(), 0)), time());

		assertThat(next()).isEqualTo(new ReadGroup(1, 1));
		this.generation++;
		this.membership++;
		refreshed(List.of(member(ME)),
				new Ownership(SHARD, Phase.FREE, new Token(1), null, null, this.generation, 0, 0));
		assertThat(next()).isInstanceOf(ApplyPlan.class);
	}

	/** One look frees some dozens; a plan meanwhile has conflicts with the next ones. */
	@Test
	void deathOfAMemberWithManyShardsIsPlannedAgainOnceAllAreFree() {
		answered(ME);
		this.generation = 1;
		refreshed(List.of(member(ME)), new Ownership(SHARD, Phase.OWNED, new Token(1), OTHER, null, 1, 0, 0));
		this.now += SETTLE.toMillis();
		assertThat(next()).isInstanceOf(ApplyPlan.class);
		this.leadership.on(new PlanAnswered(new PlanReply.Applied(0, 0)), time());
		assertThat(next()).isEqualTo(new ReadGroup(1, 1));
		long due = STORE_START + this.now - 50;
		looked(List.of(OTHER), due);
		assertThat(next()).isEqualTo(new ReadGroup(1, 1));
		refreshed(List.of(member(ME)));
		for (int plans = 1; plans < 9; plans++) {
			assertThat(next()).isInstanceOf(ReapDeadMembers.class);
			looked(List.of(), due);
			assertThat(next()).isInstanceOf(ApplyPlan.class);
			this.leadership.on(new PlanAnswered(new PlanReply.Applied(0, 1)), time());
			assertThat(next()).isEqualTo(new ReadGroup(1, 1));
			refreshed(null);
			this.now += 100;
		}
		looked(List.of(), due);
		assertThat(next()).isInstanceOf(ApplyPlan.class);
		this.leadership.on(new PlanAnswered(new PlanReply.Applied(0, 1)), time());
		assertThat(next()).isEqualTo(new ReadGroup(1, 1));
		refreshed(null);

		looked(List.of(), 0);
		assertThat(next()).isEqualTo(new ReadGroup(1, 1));
		this.generation++;
		refreshed(null, new Ownership(SHARD, Phase.FREE, new Token(1), null, null, this.generation, 0, 0));
		assertThat(next()).as("without a pause").isInstanceOf(ApplyPlan.class);
	}

	/** As when the leader that has found the death is gone. */
	@Test
	void conflictsWhileShardsAreFreedHaveOnlyTheChangesReadWhoeverFoundTheDeath() {
		leadWithAPlanDue();
		for (int plans = 1; plans < 9; plans++) {
			looked(List.of(), STORE_START + this.now - 50);
			conflict();
			assertThat(next()).isEqualTo(new ReadGroup(this.generation, this.membership));
			refreshed(null);
			this.now += 100;
		}
	}

	private void looked(List<MemberId> dead, long nextLook) {
		this.leadership.on(new ReapAnswered(new ReapReply.Looked(dead, List.of(), List.of(), nextLook)), time());
	}

	@Test
	void sessionTimeoutIsPlannedImmediately() {
		leadInPeace();
		this.leadership.on(new ReapAnswered(new ReapReply.Looked(List.of(), List.of(OTHER), List.of(), 0)), time());

		assertThat(next()).isInstanceOf(ReadGroup.class);
	}

	@Test
	void slowMemberIsCheckedAgainWhenItsTimeoutEnds() {
		leadInPeace();
		this.leadership.on(
				new ReapAnswered(
						new ReapReply.Looked(List.of(), List.of(), List.of(OTHER), STORE_START + this.now + 12_000)),
				time());

		assertThat(next()).isNull();
		// Perhaps the store's clock is slower.
		assertThat(this.leadership.wakeAt()).isBetween(at(this.now + 12_000), at(this.now + 12_030));
	}

	@Test
	void nothingIsReapedWhenNobodyIsLate() {
		leadInPeace();
		this.leadership.on(new ReapAnswered(new ReapReply.Looked(List.of(), List.of(), List.of(), 0)), time());

		assertThat(this.leadership.wakeAt()).isNull();
	}

	@Test
	void steadyTimeBeginsWithTheFirstAnswer() {
		leadInPeace();
		beatAfter(INTERVAL.toMillis());
		beatAfter(2 * INTERVAL.toMillis());

		assertThat(steadySince()).isEqualTo(STORE_START);
	}

	@Test
	void gapBetweenAnswersRestartsSteadyTime() {
		leadInPeace();
		beatAfter(2 * INTERVAL.toMillis() + 1);
		long afterGap = STORE_START + this.now;
		beatAfter(INTERVAL.toMillis());

		assertThat(steadySince()).isEqualTo(afterGap);
	}

	@Test
	void jumpOfTheStoreClockRestartsSteadyTime() {
		leadInPeace();
		this.jump = 60_000;
		beatAfter(INTERVAL.toMillis());
		assertThat(steadySince()).isEqualTo(STORE_START + this.now + 60_000);

		this.jump = -60_000;
		beatAfter(INTERVAL.toMillis());
		assertThat(steadySince()).isEqualTo(STORE_START + this.now - 60_000);
	}

	@Test
	void smallClockStepsThatAddUpRestartSteadyTime() {
		leadInPeace();
		beatAfter(INTERVAL.toMillis());
		this.jump = LEASE / 10 / 4;
		beatAfter(INTERVAL.toMillis());
		assertThat(steadySince()).as("the margin bears it").isEqualTo(STORE_START);

		this.jump = 2 * LEASE / 10 / 4;
		beatAfter(INTERVAL.toMillis());
		assertThat(steadySince()).isEqualTo(STORE_START + this.now + this.jump);
	}

	@Test
	void smallClockStepBackRestartsSteadyTime() {
		leadInPeace();
		beatAfter(INTERVAL.toMillis());
		this.jump = -LEASE / 10 / 2;
		beatAfter(INTERVAL.toMillis());

		assertThat(steadySince()).isEqualTo(STORE_START + this.now + this.jump);
	}

	/** The store's clock may have stepped by then. */
	@Test
	void deadMembersAreReapedByTheLeadersClock() {
		leadInPeace();
		beatAfter(INTERVAL.toMillis());
		this.leadership.on(new HeartbeatAnswered(alive(ME, this.now - 1), ME, time()), time());
		this.now += 400;

		assertThat(next())
			.isEqualTo(new ReapDeadMembers(1, new SteadyTime(STORE_START, STORE_START + this.now - 1, this.setBacks)));
	}

	@Test
	void reapingWithoutResultIsNotRepeatedImmediately() {
		leadInPeace();
		long due = STORE_START + this.now;
		this.now += 50;
		this.leadership.on(new ReapAnswered(new ReapReply.Looked(List.of(), List.of(), List.of(OTHER), due)), time());
		assertThat(this.leadership.wakeAt()).isGreaterThan(time());
		this.leadership.on(new ReapAnswered(new ReapReply.Looked(List.of(OTHER), List.of(), List.of(), due)), time());
		assertThat(this.leadership.wakeAt()).as("more of them").isLessThanOrEqualTo(time());
	}

	@Test
	void clockJumpAndBackBetweenAnswersRestartsSteadyTime() {
		leadInPeace();
		this.setBacks = 1;
		beatAfter(INTERVAL.toMillis());
		assertThat(steadySince()).isEqualTo(STORE_START + this.now);

		long steady = steadySince();
		beatAfter(INTERVAL.toMillis());
		assertThat(steadySince()).isEqualTo(steady);
	}

	@Test
	void answerThatTheStoreHasForgottenRestartsSteadyTime() {
		leadInPeace();
		long steady = steadySince();
		this.ownLeaseEnd = STORE_START + this.now + LEASE;
		beatAfter(INTERVAL.toMillis());
		this.ownLeaseEnd = Long.MAX_VALUE;
		assertThat(steadySince()).as("it knows all of them").isEqualTo(steady);

		this.ownLeaseEnd = STORE_START + this.now - 60_000;
		beatAfter(INTERVAL.toMillis());
		long restarted = STORE_START + this.now;
		this.ownLeaseEnd = Long.MAX_VALUE;
		beatAfter(INTERVAL.toMillis());
		assertThat(steadySince()).isEqualTo(restarted);
	}

	@Test
	void nothingIsAssignedForALeaseAfterAForgottenAnswer() {
		leadInPeace();
		this.ownLeaseEnd = STORE_START + this.now - 60_000;
		answered(ME);
		this.ownLeaseEnd = Long.MAX_VALUE;
		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
		refreshed(List.of(member(ME)),
				new Ownership(SHARD, Phase.FREE, new Token(1), null, null, this.generation, 0, 0));

		assertAssignedALeaseFromNow();
	}

	private void assertAssignedALeaseFromNow() {
		long found = this.now;
		assertThat(next()).isNull();
		this.now = found + LEASE - 1;
		answered(ME);
		assertThat(next()).isNull();
		this.now = found + LEASE + 1;
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SHARD, this.generation, ME))));
	}

	@Test
	void clockSetBackShortensLeasesAndIsNoLossOfWrites() {
		leadInPeace();
		this.ownLeaseEnd = STORE_START + this.now + LEASE - 100;
		beatAfter(INTERVAL.toMillis());
		assertThat(next()).as("nothing is read again").isNull();
		this.setBacks = 1;
		this.ownLeaseEnd = STORE_START + this.now - 60_000;
		beatAfter(INTERVAL.toMillis());
		assertThat(next()).isNull();
	}

	@Test
	void processPauseRestartsSteadyTime() {
		leadInPeace();
		// By the store's clock nothing happened: it stood still as well.
		this.jump = -10_000;
		beatAfter(10_000);

		assertThat(steadySince()).isEqualTo(STORE_START + this.now - 10_000);
	}

	@Test
	void newSessionRestartsSteadyTime() {
		leadInPeace();
		this.leadership.on(new SessionLost(), time());
		assertThat(this.leadership.view().leads()).isFalse();

		this.epoch++;
		beatAfter(INTERVAL.toMillis());
		assertThat(steadySince()).isEqualTo(STORE_START + this.now);
	}

	@Test
	void conflictHasTheChangesReadAndPlannedAgain() {
		leadWithAPlanDue();
		conflict();
		assertThat(next()).as("only the changes").isEqualTo(new ReadGroup(this.generation, this.membership));
		this.generation++;
		refreshed(null, new Ownership(SHARD, Phase.FREE, new Token(1), null, null, this.generation, 0, 0));

		assertThat(next()).as("also for a shard that is free").isNull();
		this.now += 100;
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SHARD, this.generation, ME))));
	}

	/** The picture may contain what the store has lost. */
	@Test
	void conflictsInARowHaveTheWholeGroupRead() {
		leadWithAPlanDue();
		for (int conflicts = 1; conflicts < 3; conflicts++) {
			conflict();
			assertThat(next()).isEqualTo(new ReadGroup(this.generation, this.membership));
			refreshed(null);
			this.now += 100;
		}
		conflict();

		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
	}

	@Test
	void conflictsThatAreNotInARowHaveOnlyTheChangesRead() {
		leadWithAPlanDue();
		for (int plans = 1; plans < 9; plans++) {
			assertThat(next()).isInstanceOf(ApplyPlan.class);
			this.leadership.on(new PlanAnswered(new PlanReply.Applied(0, (plans % 3 == 0) ? 0 : 1)), time());
			assertThat(next()).isEqualTo(new ReadGroup(this.generation, this.membership));
			refreshed(List.of(member(ME)));
			this.now += Math.max(100, SETTLE.toMillis());
		}
	}

	private void conflict() {
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SHARD, 0, ME))));
		this.leadership.on(new PlanAnswered(new PlanReply.Applied(0, 1)), time());
	}

	@Test
	void differentHistoryMeansLostWrites() {
		leadInPeace();
		this.history++;
		answered(ME);

		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
	}

	/** There may have been a failover, and no member knows what is lost. */
	@Test
	void groupIsReadAgainAfterAnUnansweredHeartbeat() {
		leadInPeace();
		this.leadership.on(new HeartbeatFailed(), time());
		assertThat(next()).as("the store is away").isNull();
		answered(ME);

		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
	}

	/** Replies queue up while the group is read: the read includes them. */
	@Test
	void delayedAnswerDoesNotHaveTheGroupRead() {
		leadInPeace();
		this.generation++;
		this.membership++;
		answered(ME);
		refreshed(List.of(member(ME)),
				new Ownership(SHARD, Phase.OWNED, new Token(1), ME, null, this.generation, 0, 0));
		this.generation--;
		this.membership--;
		answered(ME);

		assertThat(next()).isNull();
	}

	@Test
	void laterAnswerWithALowerGenerationMeansLostWrites() {
		leadInPeace();
		this.generation++;
		answered(ME);
		refreshed(null, owned());
		this.now += INTERVAL.toMillis();
		this.generation--;
		answered(ME);

		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
		refreshed(List.of(member(ME)));
		assertThat(next()).as("an owner in the lost writes may still hold it").isNull();
		this.now += LEASE + 1;
		assertThat(next()).isInstanceOf(ApplyPlan.class);
	}

	@Test
	void leaderWithoutRecentAnswerReapsNobody() {
		leadInPeace();
		this.now += INTERVAL.toMillis() * 20;

		assertThat(next()).isNull();
		assertThat(this.leadership.wakeAt()).as("no busy loop until the next reply").isNull();
	}

	@Test
	void deposedLeaderDoesNothing() {
		leadInPeace();
		this.membership++;
		answered(ME);
		this.leadership.on(new PlanAnswered(new PlanReply.Deposed()), time());

		assertThat(this.leadership.view().leads()).isFalse();
		assertThat(next()).isNull();
		assertThat(this.leadership.wakeAt()).isNull();
	}

	@Test
	void answerThatNamesAnotherLeaderDeposes() {
		leadInPeace();
		answered(OTHER);

		assertThat(this.leadership.view().leads()).isFalse();
		assertThat(next()).isNull();
	}

	@Test
	void answerWithoutLeaderDeposes() {
		leadInPeace();
		answered(null);

		assertThat(this.leadership.view().leads()).isFalse();
	}

	@Test
	void failedActionIsFollowedByAPauseAReadAndAPlan() {
		leadInPeace();
		this.leadership.on(new ActionFailed(Duration.ofMillis(200)), time());

		assertThat(next()).isNull();
		assertThat(this.leadership.wakeAt()).isEqualTo(at(this.now + 200));
		this.now += 200;
		assertThat(next()).isInstanceOf(ReadGroup.class);
		this.generation++;
		refreshed(null, new Ownership(SHARD, Phase.FREE, new Token(1), null, null, this.generation, 0, 0));
		assertThat(next()).isInstanceOf(ApplyPlan.class);
	}

	@Test
	void newEpochHasTheGroupReadAgain() {
		leadInPeace();
		answered(OTHER);
		this.epoch += 2;
		this.generation = 7;
		answered(ME);

		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
	}

	@Test
	void newEpochWithoutInterruptionHasTheGroupReadAgain() {
		leadInPeace();
		this.epoch++;
		answered(ME);

		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
		refreshed(List.of(member(ME)), owned());
		this.now += SETTLE.toMillis();
		assertThat(next()).as("everything is where it shall be").isNull();
	}

	@Test
	void shardsFreeAtTheElectionWaitForTheSettleTime() {
		answered(ME);
		this.generation = 3;
		refreshed(List.of(member(ME)), new Ownership(SHARD, Phase.FREE, new Token(1), null, null, 3, 0, 0));

		assertThat(next()).isNull();
		this.now += SETTLE.toMillis();
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SHARD, 3, ME))));
	}

	@Test
	void leaderThatFindsLostWritesAssignsNothingForALease() {
		leadInPeace();
		this.generation++;
		answered(ME);
		refreshed(null, owned());
		this.membership++;
		answered(ME);
		assertThat(next()).isInstanceOf(ReadGroup.class);
		// It is free in the earlier history that the store has now.
		this.generation--;
		Ownership free = new Ownership(SHARD, Phase.FREE, new Token(1), null, null, this.generation, 0, 0);
		refreshed(List.of(member(ME)), free);
		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
		refreshed(List.of(member(ME)), free);

		assertAssignedALeaseFromNow();
	}

	@Test
	void quietShardIsAssignedWhenItsQuietPeriodEnds() {
		leadInPeace();
		this.generation++;
		answered(ME);
		refreshed(null, resting(STORE_START + this.now + 700));
		assertThat(next()).isNull();
		assertThat(this.leadership.wakeAt()).isEqualTo(at(this.now + 701));

		this.now += 701;
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SHARD, this.generation, ME))));
	}

	@Test
	void quietPeriodDoesNotDelayAJoin() {
		leadInPeace();
		this.generation++;
		this.membership++;
		answered(ME);
		refreshed(null, resting(STORE_START + this.now + 60_000));
		assertThat(next()).isNull();
		this.membership++;
		answered(ME);
		refreshed(List.of(member(ME), member(OTHER)));

		assertThat(this.leadership.wakeAt()).isEqualTo(at(this.now + SETTLE.toMillis()));
	}

	@Test
	void nothingIsAssignedDuringTheClaimPeriod() {
		this.claimsUntil = STORE_START + LEASE;
		answered(ME);
		refreshed(List.of(member(ME)));
		this.now += SETTLE.toMillis();
		assertThat(next()).isNull();
		assertThat(this.leadership.wakeAt()).isEqualTo(at(LEASE));

		beatUntil(LEASE);
		endsClaims();
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SHARD, 0, ME))));
	}

	private void endsClaims() {
		assertThat(next()).isEqualTo(new EndClaims(this.epoch, this.claimsUntil));
		this.leadership.on(new EndClaimsAnswered(EndClaimsReply.ENDED), time());
	}

	@Test
	void claimPeriodLastsAWholeLeaseAfterAClockStep() {
		this.claimsUntil = STORE_START - 60_000;
		answered(ME);
		refreshed(List.of(member(ME)));
		beatUntil(LEASE - 1);
		assertThat(next()).isNull();

		beatUntil(LEASE);
		endsClaims();
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Assign(SHARD, 0, ME))));
	}

	@Test
	void claimPeriodSteppedOverByTheClockLastsAWholeLease() {
		leadInPeace();
		this.jump = 60_000;
		this.claimsUntil = STORE_START + this.now + LEASE;
		answered(ME);
		long seenAt = this.now;
		beatUntil(seenAt + LEASE - 1);
		assertThat(next()).isNull();

		beatUntil(seenAt + LEASE);
		assertThat(this.leadership.next(time())).isEqualTo(new EndClaims(this.epoch, this.claimsUntil));
	}

	@Test
	void claimPeriodRestartsWhenTheStoreWasUnavailable() {
		this.claimsUntil = STORE_START + LEASE;
		answered(ME);
		refreshed(List.of(member(ME)));
		this.now = LEASE;
		assertThat(next()).as("perhaps no member can claim").isNull();
		assertThat(this.leadership.wakeAt()).isNotEqualTo(at(LEASE));

		this.now = 3 * LEASE;
		answered(ME);
		beatUntil(4 * LEASE - 1);
		assertThat(next()).isNull();
		beatUntil(4 * LEASE);
		endsClaims();
	}

	@Test
	void gapExtendsTheClaimPeriodByItsLength() {
		this.claimsUntil = STORE_START + LEASE;
		answered(ME);
		refreshed(List.of(member(ME)));
		beatUntil(1_000);
		this.now += 1_200;
		answered(ME);
		beatUntil(LEASE + 1_200 - 1);
		assertThat(next()).isNull();

		beatUntil(LEASE + 1_200);
		endsClaims();
	}

	private void beatUntil(long end) {
		while (this.now < end) {
			beatAfter(Math.min(500, end - this.now));
		}
	}

	@Test
	void restartedClaimPeriodIsMeasuredAgain() {
		this.claimsUntil = STORE_START + LEASE;
		answered(ME);
		refreshed(List.of(member(ME)));
		beatUntil(LEASE);
		assertThat(next()).isInstanceOf(EndClaims.class);
		this.leadership.on(new EndClaimsAnswered(EndClaimsReply.OPEN), time());
		assertThat(next()).isNull();

		this.claimsUntil = STORE_START + LEASE + LEASE;
		answered(ME);
		assertThat(next()).isNull();
		beatUntil(LEASE + LEASE);
		endsClaims();
	}

	@Test
	@Promise("One consumer")
	void clockSetForwardDoesNotEndTheClaimPeriod() {
		this.claimsUntil = STORE_START + LEASE;
		answered(ME);
		refreshed(List.of(member(ME)));
		this.now += SETTLE.toMillis();
		this.jump = 60_000;
		answered(ME);
		assertThat(next()).isNull();
		this.leadership.on(new SessionLost(), time());
		this.epoch++;
		answered(ME);
		refreshed(List.of(member(ME)));
		beatUntil(LEASE + SETTLE.toMillis() - 1);
		assertThat(next()).as("in a new session, too").isNull();

		this.now += 1;
		endsClaims();
		assertThat(next()).isEqualTo(new ApplyPlan(this.epoch, List.of(new Assign(SHARD, 0, ME))));
	}

	@Test
	void heldBackMovesFollowWhenOthersHaveArrived() {
		this.ownTopics = Map.of("orders", TopicShards.count(4));
		answered(ME);
		this.generation = 4;
		List<Ownership> mine = new ArrayList<>();
		for (int shard = 0; shard < 4; shard++) {
			mine.add(of(shard, Phase.OWNED, ME, null, shard + 1));
		}
		refreshed(List.of(member(ME), member(OTHER)), mine.toArray(new Ownership[0]));
		this.now += SETTLE.toMillis();
		assertThat(next()).isInstanceOfSatisfying(ApplyPlan.class, (plan) -> assertThat(plan.transitions()).hasSize(1));

		this.generation = 5;
		answered(ME);
		refreshed(null, of(3, Phase.REVOKING, ME, OTHER, 5));
		assertThat(next()).isNull();
		this.generation = 6;
		answered(ME);
		refreshed(null, of(3, Phase.OWNED, OTHER, null, 6));
		assertThat(next()).isInstanceOfSatisfying(ApplyPlan.class, (plan) -> assertThat(plan.transitions()).hasSize(1));
	}

	@Test
	void unattendedShardIsReportedWithTheReason() {
		this.ownTopics = Map.of("orders", TopicShards.count(4));
		answered(ME);
		this.generation = 4;
		refreshed(List.of(member(ME), member(OTHER)), of(0, Phase.OWNED, ME, null, 1), of(1, Phase.FREE, null, null, 2),
				of(2, Phase.REVOKING, OTHER, ME, 3), new Ownership(ShardId.of("payments", 0), Phase.QUIET, new Token(4),
						null, null, 4, STORE_START, STORE_START + 10_000));

		assertThat(overdueAfter(LEASE)).isEmpty();
		assertThat(overdueAfter(LEASE + 1)).containsOnlyKeys(ShardId.of("orders", 1), ShardId.of("orders", 3))
			.containsEntry(ShardId.of("orders", 1), "Nobody owns it: it could not be assigned yet");
		assertThat(overdueAfter(10_000 + LEASE)).doesNotContainKey(ShardId.of("payments", 0));
		assertThat(overdueAfter(10_001 + LEASE)).containsEntry(ShardId.of("payments", 0),
				"Its quiet period is over, but nobody owns it: no instance of the group consumes its topic");
		assertThat(overdueAfter(HANDOVER.toMillis())).doesNotContainKey(ShardId.of("orders", 2));
		assertThat(overdueAfter(HANDOVER.toMillis() + 1).get(ShardId.of("orders", 2)))
			.contains(OTHER + " was asked to release it");
	}

	@Test
	void shardOwnedByANonMemberIsReportedAfterALease() {
		answered(ME);
		this.generation = 2;
		refreshed(List.of(member(ME)), of(0, Phase.OWNED, OTHER, null, 1), of(1, Phase.REVOKING, OTHER, ME, 2));
		this.now += 10;
		this.membership++;
		answered(ME);
		refreshed(List.of(member(ME)));

		assertThat(overdueAfter(LEASE)).isEmpty();
		assertThat(overdueAfter(LEASE + 1)).containsOnlyKeys(ShardId.of("orders", 0), ShardId.of("orders", 1))
			.allSatisfy((shard, problem) -> assertThat(problem).contains(OTHER + " is not a member"));
		this.membership++;
		answered(ME);
		refreshed(List.of(member(ME), member(OTHER)));
		assertThat(overdueAfter(LEASE + 1)).isEmpty();
	}

	@Test
	void textAboutUnattendedShardsStaysTheSame() {
		this.ownTopics = Map.of("orders", TopicShards.count(12));
		answered(ME);
		refreshed(List.of(member(ME)));

		assertThat(this.leadership.view().unattended().problems(at(LEASE))).isEmpty();
		List<GroupProblem> problems = this.leadership.view().unattended().problems(at(LEASE + 1));
		assertThat(problems).singleElement().satisfies((problem) -> {
			assertThat(problem.serious()).isTrue();
			assertThat(problem.concerned()).startsWith("orders/0, orders/1, ")
				.endsWith("orders/9 and 2 more, since "
						+ Instant.ofEpochMilli(STORE_START).truncatedTo(ChronoUnit.SECONDS));
		});
		assertThat(this.leadership.view().unattended().problems(at(3_600_000))).isEqualTo(problems);
	}

	@Test
	void topicWithoutConsumersIsAProblemThenADetail() {
		answered(ME);
		this.generation = 3;
		refreshed(List.of(member(ME)), of(0, Phase.OWNED, ME, null, 1),
				new Ownership(ShardId.of("old", 0), Phase.FREE, new Token(1), null, null, 2, STORE_START, 0),
				new Ownership(ShardId.of("old", 1), Phase.FREE, new Token(1), null, null, 3, STORE_START, 0));
		UnattendedShards unattended = this.leadership.view().unattended();
		long bound = UnattendedShards.RETIRED_AFTER.toMillis();

		assertThat(unattended.problems(at(bound))).singleElement().satisfies((problem) -> {
			assertThat(problem.serious()).isTrue();
			assertThat(problem.kind()).isEqualTo("unattended");
		});
		assertThat(unattended.problems(at(bound + 1))).singleElement().satisfies((problem) -> {
			assertThat(problem.serious()).isFalse();
			assertThat(problem.kind()).isEqualTo("retired");
			assertThat(problem.sentence()).contains("RetiredTopics.forget");
			assertThat(problem.concerned()).startsWith("'old': old/0, old/1, since ");
		});
	}

	@Test
	void forgottenShardsAreNotUnattended() {
		answered(ME);
		this.generation = 3;
		refreshed(List.of(member(ME)), owned(), retired(0), retired(1));
		assertThat(overdueAfter(60_000)).hasSize(2);

		this.leadership.on(new GroupRead(new GroupChanges(ME, this.epoch, ++this.generation, ++this.membership, true,
				List.of(member(ME)), List.of(owned()), Map.of())), at(0));

		assertThat(overdueAfter(60_000)).isEmpty();
		assertThat(this.leadership.view().unattended().problems(at(100_000_000))).isEmpty();
	}

	private static Ownership retired(int shard) {
		return new Ownership(ShardId.of("retired", shard), Phase.FREE, new Token(1), null, null, 1, STORE_START, 0);
	}

	@Test
	void memberWithoutComparableVersionThatOwnsNothingIsReported() {
		MemberDescription versioned = new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(1))),
				new ApplicationVersion("1.4"));
		answered(ME);
		this.generation = 1;
		refreshed(List.of(new GroupMember(ME, versioned, false), member(OTHER)), owned());
		assertThat(this.leadership.view().withoutComparableVersion()).containsExactly(OTHER);

		this.membership++;
		refreshed(List.of(member(ME), member(OTHER)));
		assertThat(this.leadership.view().withoutComparableVersion()).as("no member has a version").isEmpty();
	}

	@Test
	void onlyALeaderReportsUnattendedShards() {
		answered(ME);
		refreshed(List.of(member(ME)));
		assertThat(overdueAfter(60_000)).isNotEmpty();
		answered(OTHER);

		assertThat(overdueAfter(60_000)).isEmpty();
	}

	private Map<ShardId, String> overdueAfter(long millis) {
		return this.leadership.view().unattended().overdue(at(millis));
	}

	private static Ownership of(int shard, Phase phase, MemberId owner, MemberId target, long generation) {
		return new Ownership(ShardId.of("orders", shard), phase, new Token(generation), owner, target, generation,
				STORE_START, 0);
	}

	private Ownership resting(long until) {
		return new Ownership(SHARD, Phase.QUIET, new Token(1), null, ME, this.generation, STORE_START, until);
	}

	/** Elected, alone, and the only shard has no owner yet. */
	private void leadWithAPlanDue() {
		answered(ME);
		refreshed(List.of(member(ME)));
		this.now += SETTLE.toMillis();
	}

	/** Elected, alone, owner of the only shard, and nothing left to do. */
	private void leadInPeace() {
		answered(ME);
		this.generation = 1;
		refreshed(List.of(member(ME)), owned());
		this.now += SETTLE.toMillis();
		assertThat(next()).isNull();
	}

	private Ownership owned() {
		return new Ownership(SHARD, Phase.OWNED, new Token(1), ME, null, this.generation, 0, 0);
	}

	private void beatAfter(long millis) {
		this.now += millis;
		answered(ME);
	}

	/** Returns the request it would send if a member were late now. */
	private long steadySince() {
		this.leadership.on(new HeartbeatAnswered(alive(ME, this.now - 1), ME, time()), time());
		LeaderAction action = next();
		if (action instanceof ReadGroup) {
			refreshed(List.of(member(ME)), owned());
			action = next();
		}
		assertThat(action).isInstanceOf(ReapDeadMembers.class);
		return ((ReapDeadMembers) action).steady().sinceMillis();
	}

	private void answered(MemberId leader) {
		if (!this.leadership.view().leads()) {
			this.leadership.on(new ShardsChanged(this.ownTopics), time());
		}
		this.leadership.on(new HeartbeatAnswered(alive(leader, this.now + LEASE), ME, time()), time());
	}

	private HeartbeatReply.Alive alive(MemberId leader, long earliestLeaseEnd) {
		long serverTime = STORE_START + this.now + this.jump;
		long earliest = STORE_START + earliestLeaseEnd + this.jump;
		return new HeartbeatReply.Alive(serverTime, leader, this.epoch, serverTime + LEASE, earliest, this.generation,
				this.membership, this.generation, List.of(), this.history, false, true, this.claimsUntil, 0,
				this.setBacks, this.ownLeaseEnd, GroupStatus.NONE);
	}

	private void refreshed(List<GroupMember> members, Ownership... ownerships) {
		this.leadership.on(new GroupRead(
				new GroupChanges(ME, this.epoch, this.generation, this.membership, members, List.of(ownerships))),
				time());
	}

	private static GroupMember member(MemberId id) {
		return new GroupMember(id, new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(1))),
				ApplicationVersion.UNKNOWN), false);
	}

	/** Returns the actions that are due; hides a strategy that replies at once. */
	private LeaderAction next() {
		LeaderAction action = this.leadership.next(time());
		if (action instanceof ComputeAssignment compute) {
			this.leadership.on(
					new AssignmentComputed(compute.request(), new StickyAssignment().assign(compute.request())),
					time());
			action = this.leadership.next(time());
		}
		return action;
	}

	private MonotonicTime time() {
		return at(this.now);
	}

	private static MonotonicTime at(long millis) {
		return new MonotonicTime(millis * 1_000_000);
	}

}
