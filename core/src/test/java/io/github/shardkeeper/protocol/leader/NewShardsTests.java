package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.Transition.Assign;
import io.github.shardkeeper.protocol.Transition.Cancel;
import io.github.shardkeeper.protocol.Transition.Revoke;
import io.github.shardkeeper.protocol.leader.LeaderEvent.AssignmentComputed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.GroupRead;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatFailed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ListedShards;
import io.github.shardkeeper.protocol.leader.LeaderEvent.OpenShardsListed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ShardsChanged;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reactions of a leader to shards that are added, split, merged and completed. Loads are
 * balanced by count.
 */
class NewShardsTests {

	private static final MemberId ME = MemberId.of("me", "1");

	private static final MemberId OTHER = MemberId.of("other", "1");

	private static final Duration LEASE = Duration.ofSeconds(3);

	private final TestLeadership leadership = new TestLeadership(
			new Leadership(Duration.ofMillis(500), LEASE, Duration.ofMillis(100), HandoverRules.DEFAULT, null));

	private TopicShards own = TopicShards.count(2);

	private TopicShards others = TopicShards.count(2);

	private final Map<ShardId, Ownership> store = new TreeMap<>();

	private final List<Ownership> changed = new ArrayList<>();

	private final List<AssignmentRequest> requests = new ArrayList<>();

	private long generation = 0;

	private long membership = 1;

	private long seenMembership = -1;

	private long now = 0;

	@Test
	void addedShardsAreAssignedInOneRound() {
		begin();
		this.own = TopicShards.count(4);
		this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());

		assertThat(drive()).extracting(Transition::shard).containsExactly(shard(2), shard(3));
		assertThat(drive()).isEmpty();
		assertThat(owners()).containsExactly(ME, OTHER, ME, OTHER);
	}

	@Test
	void leaderWithAnOutdatedSourcePlansShardsKnownToOtherMembers() {
		begin();
		this.others = TopicShards.count(3);
		this.membership++;
		beat();

		assertThat(settle()).extracting(Transition::shard).containsExactly(shard(2));
	}

	@Test
	void sourceThatReportsFewerShardsRemovesNone() {
		begin();
		this.own = TopicShards.count(1);
		this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());

		assertThat(drive()).isEmpty();
		assertThat(lastRequest().shards().size()).isEqualTo(2);
	}

	@Test
	void childrenAreAssignedOnlyAfterTheirParentIsCompleted() {
		begin();
		this.own = TopicShards.count(2).with("2", "0").with("3", "0");
		this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());
		assertThat(drive()).isEmpty();
		assertThat(lastRequest().shards().asList()).containsExactly(shard(0), shard(1));

		completed(shard(0));
		assertThat(drive()).hasOnlyElementsOfType(Assign.class)
			.extracting(Transition::shard)
			.containsExactly(shard(2), shard(3));
		assertThat(lastRequest().shards().asList()).containsExactly(shard(1), shard(2), shard(3));
	}

	@Test
	void cyclesOfParentsAreReported() {
		begin();
		this.own = TopicShards.count(2).with("2", "0").with("7", "9").with("8", "7").with("9", "8").with("10", "9");
		this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());
		assertThat(drive()).isEmpty();

		Map<ShardId, String> overdue = this.leadership.view().unattended().overdue(later(LEASE.plusMillis(1)));
		assertThat(overdue).containsOnlyKeys(shard(7), shard(8), shard(9), shard(10));
		assertThat(overdue.get(shard(8))).contains("waits for its parents 7", "form a cycle");
	}

	@Test
	void shardThatTheExactListLeavesOutIsTakenFromItsOwner() {
		beginExactly();
		list(TopicShards.count(1), TopicShards.count(1));

		assertThat(drive()).containsExactly(new Revoke(shard(1), 2, null));
		assertThat(lastRequest().shards().asList()).containsExactly(shard(0));
		assertThat(this.store.get(shard(1)).phase()).isEqualTo(Phase.REVOKING);
		assertThat(settle()).as("nothing else while its owner drains it").isEmpty();
		release(shard(1));
		assertThat(settle()).as("nobody gets it").isEmpty();
		assertThat(this.leadership.view().unattended().overdue(later(Duration.ofDays(1)))).isEmpty();
	}

	@Test
	void shardIsConsumedAsLongAsOneMemberListsIt() {
		beginExactly();
		list(TopicShards.count(1), TopicShards.count(2));
		assertThat(settle()).isEmpty();
		list(TopicShards.count(1), TopicShards.count(1));
		assertThat(settle()).hasSize(1);
	}

	@Test
	void nothingIsTakenWhileAMemberDoesNotKnowTheList() {
		beginExactly();
		this.own = TopicShards.count(1).exactly();
		this.others = TopicShards.NONE;
		changeMembers();

		assertThat(settle()).isEmpty();
	}

	@Test
	void shardThatIsListedAgainGetsAnOwnerAgain() {
		beginExactly();
		list(TopicShards.count(1), TopicShards.count(1));
		settle();
		release(shard(1));
		settle();
		list(TopicShards.count(2), TopicShards.count(1));

		assertThat(settle()).containsExactly(new Assign(shard(1), this.store.get(shard(0)).generation() + 3, OTHER));
	}

	@Test
	void shardThatIsListedAgainWhileItIsDrainedStays() {
		beginExactly();
		list(TopicShards.count(1), TopicShards.count(1));
		settle();
		long revoked = this.store.get(shard(1)).generation();
		list(TopicShards.count(2), TopicShards.count(1));

		assertThat(settle()).containsExactly(new Cancel(shard(1), revoked));
	}

	/** A new leader finds it in the store. */
	@Test
	void shardThatNobodyListsIsNotAssignedByANewLeader() {
		write(shard(0), Phase.OWNED, ME);
		write(shard(1), Phase.FREE, null);
		write(shard(2), Phase.OWNED, OTHER);
		this.own = TopicShards.count(1).exactly();
		this.others = TopicShards.count(1).exactly();
		beat();

		assertThat(settle()).containsExactly(new Revoke(shard(2), 3, null));
	}

	private void beginExactly() {
		this.own = TopicShards.count(2).exactly();
		this.others = TopicShards.count(2).exactly();
		begin();
	}

	private void list(TopicShards mine, TopicShards theirs) {
		this.own = mine.exactly();
		this.others = theirs.exactly();
		changeMembers();
	}

	private void changeMembers() {
		this.membership++;
		this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());
		beat();
	}

	private void release(ShardId shard) {
		write(shard, Phase.FREE, null);
		beat();
	}

	@Test
	void mergedShardWaitsForBothParents() {
		begin();
		this.own = TopicShards.count(2).with("2", "0", "1");
		this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());
		completed(shard(0));
		assertThat(drive()).isEmpty();

		completed(shard(1));
		assertThat(drive()).extracting(Transition::shard).containsExactly(shard(2));
	}

	@Test
	void grandchildrenWaitForChildren() {
		begin();
		this.own = TopicShards.count(2).with("2", "0").with("3", "2");
		this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());
		assertThat(drive()).isEmpty();
		completed(shard(0));
		assertThat(drive()).extracting(Transition::shard).containsExactly(shard(2));
		completed(shard(1));
		assertThat(drive()).isEmpty();
		completed(shard(2));
		assertThat(drive()).extracting(Transition::shard).containsExactly(shard(3));
	}

	@Test
	void childKnownToAnotherMemberOnlyHasItsParentsFromThatMember() {
		begin();
		this.others = TopicShards.count(2).with("2", "0");
		this.own = TopicShards.count(3);
		this.membership++;
		beat();
		assertThat(settle()).isEmpty();

		completed(shard(0));
		assertThat(drive()).extracting(Transition::shard).containsExactly(shard(2));
	}

	@Test
	void parentUnknownToAllSourcesBlocksNothing() {
		this.own = TopicShards.of(Map.of("7", List.of("3")));
		this.others = this.own;
		beat();

		assertThat(settle()).extracting(Transition::shard).containsExactly(shard(7));
	}

	@Test
	void parentKnownToTheStoreOnlyIsAwaited() {
		this.own = TopicShards.of(Map.of("7", List.of("3")));
		this.others = this.own;
		write(shard(3), Phase.FREE, null);
		beat();
		assertThat(settle()).extracting(Transition::shard).containsExactly(shard(3));

		completed(shard(3));
		assertThat(drive()).extracting(Transition::shard).containsExactly(shard(7));
	}

	/** The next leader reads it from the store, even after a restart of all members. */
	@Test
	void completedShardsStayCompletedForTheNextLeader() {
		write(shard(0), Phase.COMPLETED, null);
		write(shard(1), Phase.FREE, null);
		this.own = TopicShards.count(2).with("2", "0");
		beat();

		assertThat(settle()).extracting(Transition::shard).containsExactly(shard(1), shard(2));
	}

	/**
	 * amazon-kinesis-client#54: finished parents counted, and one worker had no live
	 * shard.
	 */
	@Test
	void completedShardsDoNotCountAsLoad() {
		this.own = TopicShards.count(4);
		for (int i = 0; i < 4; i++) {
			write(shard(i), Phase.OWNED, (i % 2 == 0) ? ME : OTHER);
		}
		beat();
		assertThat(settle()).isEmpty();
		completed(shard(1));
		completed(shard(3));

		assertThat(drive()).hasOnlyElementsOfType(Revoke.class)
			.singleElement()
			.isInstanceOfSatisfying(Revoke.class, (revoke) -> assertThat(revoke.target()).isEqualTo(OTHER));
	}

	@Test
	void waitingChildrenAreNotReported() {
		begin();
		this.own = TopicShards.count(2).with("2", "0");
		this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());
		drive();
		this.now += 3_600_000;
		beat();
		drive();

		assertThat(this.leadership.view().unattended().overdue(at())).isEmpty();
	}

	@Test
	void completedShardThatALaterListShowsAsOpenIsReported() {
		begin();
		completed(shard(1));
		drive();
		this.now += 59_999;
		listed(at(), "0", "1");
		assertThat(overdue()).as("its list may be outdated").isEmpty();
		this.now++;
		listed(at(), "0", "1");
		assertThat(overdue()).containsOnlyKeys(shard(1));
		assertThat(overdue().get(shard(1))).contains("completed, but its source lists it as open")
			.contains("RetiredTopics.forgetWithData");

		this.now += 10_000;
		beat();
		drive();
		assertThat(overdue()).as("as long as no other list comes").containsOnlyKeys(shard(1));
		listed(at(), "0");
		assertThat(overdue()).isEmpty();
	}

	@Test
	void completedShardIsNotReportedByAListOfBefore() {
		begin();
		MonotonicTime before = at();
		completed(shard(1));
		drive();
		this.now += 3_600_000;
		beat();
		listed(before, "0", "1");
		drive();

		assertThat(overdue()).isEmpty();
	}

	private void listed(MonotonicTime requestedAt, String... open) {
		this.leadership.on(new OpenShardsListed(Map.of("orders", new ListedShards(Set.of(open), requestedAt))), at());
	}

	private Map<ShardId, String> overdue() {
		return this.leadership.view().unattended().overdue(at());
	}

	@Test
	void addedShardIsNotOverdueUnderALongLeadership() {
		begin();
		this.now += 3_600_000;
		beat();
		this.own = TopicShards.count(3);
		this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());
		// It is read, but nothing is planned yet.
		assertThat(this.leadership.next(at())).isInstanceOf(LeaderAction.ReadGroup.class);
		refresh();
		assertThat(this.leadership.view().unattended().overdue(later(LEASE))).isEmpty();
		assertThat(this.leadership.view().unattended().overdue(later(LEASE.plusMillis(1)))).containsOnlyKeys(shard(2));
	}

	@Test
	void readingTheGroupAgainKeepsTheWaitingTimeOfShards() {
		begin();
		this.now += 3_600_000;
		beat();
		this.own = TopicShards.count(3);
		this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());
		this.leadership.next(at());
		refresh();
		this.leadership.on(new HeartbeatFailed(), at());
		this.now += 1_000;
		beat();
		this.seenMembership = -1;
		this.changed.addAll(this.store.values());
		refresh();

		assertThat(this.leadership.view().unattended().overdue(later(LEASE.minusSeconds(1)))).isEmpty();
		assertThat(this.leadership.view().unattended().overdue(later(LEASE))).containsOnlyKeys(shard(2));
	}

	/** A reply of a strategy names members and shards, not their reports. */
	@Test
	void reportOfKnownShardsDoesNotOutdateAnAnswer() {
		GroupPicture picture = new GroupPicture();
		picture.apply(changes());
		picture.update(Map.of("orders", this.own));
		GroupPicture.Roster roster = picture.roster();
		this.others = TopicShards.count(1);
		this.seenMembership = -1;
		picture.apply(changes());
		picture.update(Map.of("orders", this.own));

		assertThat(picture.roster()).isSameAs(roster);
	}

	/** Both members own one shard each. */
	private void begin() {
		beat();
		assertThat(settle()).hasSize(2);
		assertThat(owners()).containsExactly(ME, OTHER);
	}

	private List<MemberId> owners() {
		return this.store.values().stream().map(Ownership::owner).toList();
	}

	private AssignmentRequest lastRequest() {
		return this.requests.get(this.requests.size() - 1);
	}

	private void completed(ShardId shard) {
		write(shard, Phase.COMPLETED, null);
		beat();
	}

	private void write(ShardId shard, Phase phase, MemberId owner) {
		this.generation++;
		Ownership written = new Ownership(shard, phase, new Token(this.generation), owner, null, this.generation,
				this.now, 0);
		this.store.put(shard, written);
		this.changed.add(written);
	}

	private void beat() {
		if (!this.leadership.view().leads()) {
			this.leadership.on(new ShardsChanged(Map.of("orders", this.own)), at());
		}
		this.leadership.on(new HeartbeatAnswered(new HeartbeatReply.Alive(this.now, ME, 1, this.now + 3_000,
				this.now + 100_000_000, this.generation, this.membership, this.generation, List.of(), 1, false, true, 0,
				0, 0, Long.MAX_VALUE, GroupStatus.NONE), ME, at()), at());
	}

	/** Returns the plan at the end of the settle time. */
	private List<Transition> settle() {
		List<Transition> planned = new ArrayList<>(drive());
		this.now += 100;
		planned.addAll(drive());
		return planned;
	}

	/** Applies the due actions, as a store would. */
	private List<Transition> drive() {
		List<Transition> planned = new ArrayList<>();
		for (LeaderAction action = this.leadership.next(at()); action != null; action = this.leadership.next(at())) {
			if (action instanceof LeaderAction.ReadGroup) {
				refresh();
			}
			else if (action instanceof LeaderAction.ComputeAssignment compute) {
				this.requests.add(compute.request());
				this.leadership.on(
						new AssignmentComputed(compute.request(), new StickyAssignment().assign(compute.request())),
						at());
			}
			else if (action instanceof LeaderAction.ApplyPlan plan) {
				planned.addAll(plan.transitions());
				plan.transitions().forEach(this::apply);
				this.leadership.on(new PlanAnswered(new PlanReply.Applied(plan.transitions().size(), 0)), at());
			}
			else {
				throw new AssertionError(action);
			}
		}
		return planned;
	}

	private void apply(Transition transition) {
		if (transition instanceof Assign assign) {
			Ownership before = this.store.get(assign.shard());
			assertThat((before != null) ? before.generation() : 0).isEqualTo(assign.expectedGeneration());
			write(assign.shard(), Phase.OWNED, assign.owner());
		}
		else if (transition instanceof Revoke revoke && revoke.target() == null) {
			write(revoke.shard(), Phase.REVOKING, this.store.get(revoke.shard()).owner());
		}
	}

	private void refresh() {
		this.leadership.on(new GroupRead(changes()), at());
	}

	private GroupChanges changes() {
		List<GroupMember> members = (this.seenMembership == this.membership) ? null
				: List.of(member(ME, this.own), member(OTHER, this.others));
		this.seenMembership = this.membership;
		GroupChanges changes = new GroupChanges(ME, 1, this.generation, this.membership, members,
				List.copyOf(this.changed));
		this.changed.clear();
		return changes;
	}

	private MonotonicTime at() {
		return later(Duration.ZERO);
	}

	private MonotonicTime later(Duration duration) {
		return new MonotonicTime(this.now * 1_000_000).plus(duration);
	}

	private static ShardId shard(int number) {
		return ShardId.of("orders", number);
	}

	private static GroupMember member(MemberId id, TopicShards shards) {
		return new GroupMember(id,
				new MemberDescription(new TreeMap<>(Map.of("orders", shards)), ApplicationVersion.UNKNOWN), false);
	}

}
