package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.Transition.Revoke;
import io.github.shardkeeper.protocol.leader.LeaderAction.ApplyPlan;
import io.github.shardkeeper.protocol.leader.LeaderAction.CompleteRequests;
import io.github.shardkeeper.protocol.leader.LeaderAction.ComputeAssignment;
import io.github.shardkeeper.protocol.leader.LeaderAction.ReadGroup;
import io.github.shardkeeper.protocol.leader.LeaderEvent.AssignmentComputed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.DirectivesRead;
import io.github.shardkeeper.protocol.leader.LeaderEvent.GroupRead;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.Leaving;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.RequestsCompleted;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ShardsChanged;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a leader does about the wishes of operators. It leads a group of two members, each
 * of which owns one of two shards.
 */
class DirectivesReadTests {

	private static final MemberId ME = MemberId.of("me", "1");

	private static final MemberId OTHER = MemberId.of("other", "1");

	private static final ShardId MINE = ShardId.of("orders", 0);

	private static final ShardId OTHERS = ShardId.of("orders", 1);

	private static final Duration SETTLE = Duration.ofMillis(100);

	private static final long STORE_START = 1_000_000;

	private static final long LEASE = 3_000;

	private static final Directive MOVE = Directive.of(Kind.MOVE, MINE.toString(), "other", "anna", "test")
		.stored(1, 1);

	private static final Directive REBALANCE = Directive.of(Kind.REBALANCE, "", null, "anna", "").stored(1, 1);

	private final Leadership machine = new Leadership(Duration.ofMillis(500), Duration.ofMillis(LEASE), SETTLE,
			new HandoverRules(Duration.ofSeconds(50), HandoverRules.OnTimeout.HOLD, Duration.ZERO, Duration.ZERO, 0),
			null);

	private final TestLeadership leadership = new TestLeadership(this.machine);

	private final List<GroupMember> members = List.of(member(ME), member(OTHER));

	private long now;

	private long generation = 2;

	@BeforeEach
	void lead() {
		this.leadership.on(new ShardsChanged(Map.of("orders", TopicShards.count(2))), time());
		answered(ME);
		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
		refreshed(this.members, owned(MINE, ME, 1), owned(OTHERS, OTHER, 2));
		this.now += SETTLE.toMillis();
		assertThat(next()).isNull();
	}

	@Test
	void newDirectivesArePlannedAtOnce() {
		read(Directive.of(Kind.DRAIN, "other", null, "anna", "disk").stored(1, 1));

		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Revoke(OTHERS, 2, ME))));
		assertThat(this.machine.asked(OTHERS)).extracting(Directive::by).isEqualTo("anna");
		assertThat(this.machine.asked(MINE)).isNull();
	}

	@Test
	void drainThatIsClearedIsPlannedAtOnce() {
		read(Directive.of(Kind.DRAIN, "other", null, "anna", "").stored(1, 1));
		applied(next());
		refreshed(null, owned(OTHERS, ME, 3));
		assertThat(next()).isNull();

		read();

		assertThat(planned(next())).hasSize(1);
	}

	@Test
	void drainIsKnownToAPictureThatIsReadAgain() {
		read(Directive.of(Kind.DRAIN, "other", null, "anna", "").stored(1, 1));
		for (int conflicts = 1; conflicts < 3; conflicts++) {
			applied(next(), 1);
			assertThat(next()).isInstanceOf(ReadGroup.class);
			refreshed(null);
			this.now += 100;
		}
		applied(next(), 1);

		assertThat(next()).as("everything is read after conflicts in a row").isEqualTo(new ReadGroup(0, -1));
		refreshed(this.members, owned(MINE, ME, 1), owned(OTHERS, OTHER, 2));
		this.now += SETTLE.toMillis();
		assertThat(next()).isEqualTo(new ApplyPlan(1, List.of(new Revoke(OTHERS, 2, ME))));
	}

	@Test
	void memberThatDoesNotLeadOnlyRemembersDirectives() {
		this.leadership.on(new RequestsCompleted(false), time());
		read(MOVE);
		assertThat(this.machine.view().leads()).isFalse();
		assertThat(next()).isNull();

		answered(ME);
		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
		refreshed(this.members, owned(MINE, ME, 1), owned(OTHERS, OTHER, 2));
		this.now += SETTLE.toMillis();
		assertThat(planned(next())).contains(new Revoke(MINE, 1, OTHER));
	}

	@Test
	void requestIsRemovedOnceItsMoveIsPlanned() {
		read(MOVE);
		applied(next());
		refreshed(null, revoking(MINE, ME, OTHER, 3));

		assertThat(next()).isEqualTo(new CompleteRequests(1, List.of(MOVE)));
		this.leadership.on(new RequestsCompleted(true), time());
		assertThat(next()).isNull();
	}

	/** Another request may have come since. */
	@Test
	void requestThatWasReplacedMeanwhileIsKept() {
		read(MOVE);
		applied(next());
		refreshed(null, revoking(MINE, ME, OTHER, 3));
		assertThat(next()).isInstanceOf(CompleteRequests.class);
		Directive back = Directive.of(Kind.MOVE, MINE.toString(), "me", "ben", "").stored(2, 2);
		read(back);

		this.leadership.on(new RequestsCompleted(true), time());
		LeaderAction planned = next();

		assertThat(planned).isEqualTo(new ApplyPlan(1, List.of(new Transition.Cancel(MINE, 3))));
		assertThat(this.machine.asked(MINE)).isEqualTo(back);
	}

	@Test
	void requestThatChangesNothingIsRemovedToo() {
		Directive stay = Directive.of(Kind.MOVE, MINE.toString(), "me", "anna", "").stored(1, 1);
		read(stay);

		assertThat(next()).isEqualTo(new CompleteRequests(1, List.of(stay)));
		this.leadership.on(new RequestsCompleted(true), time());
		assertThat(next()).isNull();
	}

	/** The plan may not have been made. */
	@Test
	void requestIsFollowedAgainAfterAConflict() {
		read(MOVE);
		applied(next(), 1);
		assertThat(next()).isInstanceOf(ReadGroup.class);
		refreshed(null);
		this.now += 100;

		assertThat(planned(next())).contains(new Revoke(MINE, 1, OTHER));
	}

	@Test
	void leaderThatIsDeposedWhenRequestsAreRemovedEndsItsLeadership() {
		read(MOVE);
		applied(next());
		refreshed(null, revoking(MINE, ME, OTHER, 3));
		assertThat(next()).isInstanceOf(CompleteRequests.class);

		this.leadership.on(new RequestsCompleted(false), time());

		assertThat(this.machine.view().leads()).isFalse();
		assertThat(this.machine.asked(MINE)).isNull();
		assertThat(next()).isNull();
	}

	@Test
	void rebalanceReadsTheWholeGroupAndIsRemoved() {
		read(REBALANCE);

		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
		refreshed(this.members, owned(MINE, ME, 1), owned(OTHERS, OTHER, 2));
		assertThat(next()).isEqualTo(new CompleteRequests(1, List.of(REBALANCE)));
		this.leadership.on(new RequestsCompleted(true), time());
		assertThat(next()).isNull();
	}

	@Test
	void sameRebalanceIsNotReadForTwice() {
		read(REBALANCE);
		assertThat(next()).isEqualTo(new ReadGroup(0, -1));
		refreshed(this.members, owned(MINE, ME, 1), owned(OTHERS, OTHER, 2));
		assertThat(next()).isInstanceOf(CompleteRequests.class);

		read(REBALANCE);

		assertThat(next()).isNotInstanceOf(ReadGroup.class);
	}

	@Test
	void leaderThatLeavesReadsItsLastMoves() {
		List<LeaderAction> actions = this.machine.handle(new Leaving(), time()).actions();
		assertThat(actions).containsExactly(new ReadGroup(2, 1));

		this.generation++;
		refreshed(null, owned(MINE, OTHER, 3));

		assertThat(this.leadership.moves()).singleElement()
			.extracting(ShardMove::shard, ShardMove::from, ShardMove::to)
			.containsExactly(MINE, ME, OTHER);
	}

	@Test
	void memberThatDoesNotLeadLeavesWithoutReading() {
		answered(OTHER);

		assertThat(this.machine.handle(new Leaving(), time()).actions()).isEmpty();
	}

	@Test
	void moveThatWasAskedForHasItsCauseAndPerson() {
		read(MOVE);
		ApplyPlan plan = (ApplyPlan) next();
		this.leadership.on(
				new LeaderEvent.MovesPlanned(MoveReason.of(plan.transitions(), this.machine.view().assignment())),
				time());
		applied(plan);
		refreshed(null, revoking(MINE, ME, OTHER, 3));
		this.generation++;
		refreshed(null, owned(MINE, OTHER, 4));

		assertThat(this.leadership.moves()).singleElement()
			.extracting(ShardMove::cause, ShardMove::by)
			.containsExactly(MoveCause.MANUAL, "anna");
	}

	private void read(Directive... directives) {
		this.leadership.on(new DirectivesRead(new Directives(1, Arrays.asList(directives), List.of())), time());
	}

	private static List<Transition> planned(@Nullable LeaderAction action) {
		assertThat(action).isInstanceOf(ApplyPlan.class);
		return ((ApplyPlan) action).transitions();
	}

	private void applied(LeaderAction plan) {
		applied(plan, 0);
	}

	private void applied(LeaderAction plan, int conflicts) {
		assertThat(plan).isInstanceOf(ApplyPlan.class);
		this.leadership.on(new PlanAnswered(new PlanReply.Applied(1, conflicts)), time());
		this.generation += (conflicts == 0) ? 1 : 0;
		if (conflicts == 0) {
			assertThat(next()).isInstanceOf(ReadGroup.class);
		}
	}

	private void answered(MemberId leader) {
		long serverTime = STORE_START + this.now;
		this.leadership.on(new HeartbeatAnswered(
				new HeartbeatReply.Alive(serverTime, leader, 1, serverTime + LEASE, serverTime + LEASE, this.generation,
						1, this.generation, List.of(), 1, false, true, 0, 0, 0, Long.MAX_VALUE, GroupStatus.NONE),
				ME, time()), time());
	}

	private void refreshed(@Nullable List<GroupMember> read, Ownership... ownerships) {
		this.leadership.on(new GroupRead(new GroupChanges(ME, 1, this.generation, 1, read, List.of(ownerships))),
				time());
	}

	/** The first two changes are old: a new leader does not take them for moves. */
	private static Ownership owned(ShardId shard, MemberId owner, long changedAt) {
		return new Ownership(shard, Phase.OWNED, new Token(changedAt), owner, null, changedAt,
				(changedAt <= 2) ? STORE_START - 100_000 : STORE_START, 0);
	}

	private static Ownership revoking(ShardId shard, MemberId owner, MemberId target, long changedAt) {
		return new Ownership(shard, Phase.REVOKING, new Token(1), owner, target, changedAt, STORE_START, 0);
	}

	private static GroupMember member(MemberId id) {
		return new GroupMember(id, new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(2))),
				ApplicationVersion.UNKNOWN), false);
	}

	/** Returns the actions that are due; hides a strategy that replies at once. */
	private @Nullable LeaderAction next() {
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
		return new MonotonicTime(this.now * 1_000_000);
	}

}
