package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.load.LoadMeasure;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.leader.LeaderEvent.AssignmentComputed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.GroupRead;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatFailed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.LoadsRead;
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
 * Times at which a leader reads load reports, and the results. Reads are ten seconds
 * apart.
 */
class LoadReportsTests {

	private static final MemberId ME = MemberId.of("me", "1");

	private static final MemberId OTHER = MemberId.of("other", "1");

	private static final ShardId FIRST = ShardId.of("orders", 0);

	private static final ShardId SECOND = ShardId.of("orders", 1);

	private TestLeadership leadership = leadership(LoadReporting.DEFAULT);

	private long now = 0;

	private long generation = 1;

	private long membership = 1;

	/** Number of reports that the store has received. */
	private long told = 0;

	private final List<AssignmentRequest> requests = new ArrayList<>();

	private final List<Long> reads = new ArrayList<>();

	private final Map<MemberId, LoadReport> stored = new TreeMap<>();

	private final Map<MemberId, Long> storedAt = new TreeMap<>();

	private final List<String> complaints = new ArrayList<>();

	private List<MemberId> members = List.of(ME, OTHER);

	private List<Ownership> changed = List.of(owned(FIRST, ME, 1), owned(SECOND, OTHER, 1));

	private static TestLeadership leadership(LoadReporting loads) {
		TestLeadership created = new TestLeadership(new Leadership(Duration.ofMillis(500), Duration.ofSeconds(3),
				Duration.ofMillis(100), HandoverRules.DEFAULT, loads));
		created.on(new ShardsChanged(Map.of("orders", TopicShards.count(2))), new MonotonicTime(0));
		return created;
	}

	@Test
	void loadsAreNotReadForAStrategyThatIgnoresThem() {
		this.leadership = leadership(null);
		report(OTHER, Map.of(SECOND, 300.0));
		pass(Duration.ofMinutes(1));

		assertThat(this.reads).isEmpty();
		assertThat(this.requests).hasSize(1);
		assertThat(this.requests.get(0).load(0)).isNaN();
	}

	@Test
	void loadsAreNotReadWithoutReports() {
		pass(Duration.ofMinutes(1));

		assertThat(this.reads).isEmpty();
		assertThat(this.requests).hasSize(1);
	}

	@Test
	void electedLeaderReadsLoadsBeforeItPlans() {
		report(OTHER, Map.of(SECOND, 300.0));
		pass(Duration.ofSeconds(5));

		assertThat(this.reads).containsExactly(0L);
		assertThat(lastLoads()).containsExactly(Double.NaN, 300);
		assertThat(this.requests).hasSize(1);
	}

	@Test
	void newReportsAreReadOncePerIntervalAndPlanned() {
		report(OTHER, Map.of(SECOND, 300.0));
		pass(Duration.ofSeconds(5));
		for (int i = 0; i < 20; i++) {
			report(ME, Map.of(FIRST, 10.0 * i));
			pass(Duration.ofMillis(500));
		}
		assertThat(this.reads.size()).isEqualTo(2);
		pass(Duration.ofSeconds(11));

		assertThat(this.reads.subList(0, 3)).startsWith(0L, 1L).hasSize(3);
		assertThat(lastLoads()).containsExactly(190, 300);
	}

	@Test
	void unchangedLoadsArePlannedOncePerInterval() {
		report(OTHER, Map.of(SECOND, 300.0));
		pass(Duration.ofSeconds(61));

		assertThat(this.reads).hasSize(1);
		assertThat(this.requests.size()).isBetween(6, 7);
	}

	@Test
	void movedShardKeepsItsLoadUntilItsNewOwnerReportsIt() {
		report(ME, Map.of(FIRST, 10.0));
		report(OTHER, Map.of(SECOND, 300.0));
		pass(Duration.ofSeconds(12));
		move(SECOND, ME);
		report(OTHER, Map.of());
		pass(Duration.ofSeconds(12));
		assertThat(lastLoads()).containsExactly(10, 300);

		report(ME, Map.of(FIRST, 10.0));
		pass(Duration.ofSeconds(12));
		assertThat(lastLoads()).containsExactly(10, 300);

		report(ME, Map.of(FIRST, 10.0, SECOND, 250.0));
		pass(Duration.ofSeconds(12));
		assertThat(lastLoads()).containsExactly(10, 250);
	}

	@Test
	void reportOfTheOwnerCounts() {
		report(ME, Map.of(FIRST, 500.0, SECOND, 500.0));
		report(OTHER, Map.of(SECOND, 300.0));
		pass(Duration.ofSeconds(1));

		assertThat(lastLoads()).containsExactly(500, 300);
	}

	@Test
	void shardKeepsTheLoadReportedByAMemberThatHasLeft() {
		report(ME, Map.of(FIRST, 10.0));
		report(OTHER, Map.of(SECOND, 300.0));
		pass(Duration.ofSeconds(12));
		this.stored.remove(OTHER);
		this.members = List.of(ME);
		this.membership++;
		move(SECOND, ME);
		pass(Duration.ofSeconds(12));

		assertThat(lastLoads()).containsExactly(10, 300);
	}

	@Test
	void unlistedShardHasTheAverageLoadOfTheOthers() {
		store(ME, new LoadReport("1|handler-time|4|orders:300=7"));
		pass(Duration.ofSeconds(1));

		assertThat(lastLoads()).containsExactly(4, Double.NaN);
	}

	@Test
	void unusableReportsAreIgnoredWithOneWarning() {
		report(ME, Map.of(FIRST, 10.0));
		for (int i = 0; i < 3; i++) {
			store(OTHER, new LoadReport("1|records||orders:300=1"));
			pass(Duration.ofSeconds(12));
		}
		assertThat(this.complaints).hasSize(1);
		assertThat(this.complaints.get(0)).contains("other~1 measures loads by 'records'",
				"shardkeeper.assignment.load.measure", "this leader by 'handler-time'",
				"Give all instances the same measure");
		assertThat(lastLoads()).containsExactly(10, Double.NaN);

		report(OTHER, Map.of(SECOND, 300.0));
		pass(Duration.ofSeconds(12));
		assertThat(lastLoads()).containsExactly(10, 300);

		// Readable reports are kept.
		for (int i = 0; i < 3; i++) {
			store(OTHER, new LoadReport("nonsense"));
			pass(Duration.ofSeconds(12));
		}
		assertThat(this.complaints).hasSize(2);
		assertThat(this.complaints.get(1)).contains("The load report of other~1 cannot be read", "'nonsense'");
		assertThat(lastLoads()).containsExactly(10, 300);
	}

	@Test
	void allReportsAreReadAgainWhenTheStoreHasLostSome() {
		report(ME, Map.of(FIRST, 10.0));
		report(OTHER, Map.of(SECOND, 300.0));
		pass(Duration.ofSeconds(12));
		this.told = 0;
		report(OTHER, Map.of(SECOND, 500.0));
		pass(Duration.ofSeconds(12));

		assertThat(this.reads).containsExactly(0L, 0L);
		assertThat(lastLoads()).containsExactly(10, 500);
	}

	@Test
	void allReportsAreReadAgainAfterAnUnansweredHeartbeat() {
		report(ME, Map.of(FIRST, 10.0));
		pass(Duration.ofSeconds(12));
		this.leadership.on(new HeartbeatFailed(), at());
		pass(Duration.ofSeconds(12));

		assertThat(this.reads).containsExactly(0L, 0L);
	}

	/** On its way since before the reports were read, it says nothing about later. */
	@Test
	void answerToAHeartbeatSentBeforeTheReadLosesNoReports() {
		report(ME, Map.of(FIRST, 10.0));
		report(OTHER, Map.of(SECOND, 300.0));
		pass(Duration.ofSeconds(12));
		MonotonicTime before = at();
		report(ME, Map.of(FIRST, 20.0));
		pass(Duration.ofSeconds(12));
		long read = this.reads.size();
		this.told = 2;
		this.leadership.on(new HeartbeatAnswered(alive(this.now + 3_000), ME, before), at());
		this.told = 3;
		pass(Duration.ofSeconds(12));
		assertThat(this.reads).as("nothing was lost").hasSize((int) read);

		this.told = 2;
		pass(Duration.ofSeconds(12));
		assertThat(this.reads).as("asked afterwards, it was").hasSizeGreaterThan((int) read).endsWith(0L);
	}

	@Test
	void readingReportsDoesNotBringADuePlanForward() {
		pass(Duration.ofSeconds(1));
		this.requests.clear();
		this.membership++;
		this.leadership.on(new HeartbeatAnswered(alive(this.now + 3_000), ME, at()), at());
		drive();
		// The settle time has begun.
		assertThat(this.requests).isEmpty();
		this.now += 50;
		this.leadership.on(new LoadsRead(new LoadChanges(0, new TreeMap<>())), at());
		drive();
		assertThat(this.requests).isEmpty();
		this.now += 50;
		drive();
		assertThat(this.requests).hasSize(1);

		this.leadership.on(new LoadsRead(new LoadChanges(0, new TreeMap<>())), at());
		drive();
		assertThat(this.requests).as("where none is due, there is one now").hasSize(2);
	}

	@Test
	void leaderWakesUpToReadLoads() {
		report(ME, Map.of(FIRST, 10.0));
		pass(Duration.ofSeconds(2));
		this.leadership.on(new HeartbeatAnswered(alive(10_000_000), ME, at()), at());

		assertThat(this.leadership.wakeAt()).isEqualTo(new MonotonicTime(Duration.ofSeconds(10).toNanos()));
	}

	private double[] lastLoads() {
		AssignmentRequest last = this.requests.get(this.requests.size() - 1);
		return new double[] { last.load(0), last.load(1) };
	}

	private void report(MemberId member, Map<ShardId, Double> loads) {
		store(member, LoadReport.of(LoadMeasure.HANDLER_TIME, loads));
	}

	private void store(MemberId member, LoadReport report) {
		this.stored.put(member, report);
		this.storedAt.put(member, ++this.told);
	}

	private void move(ShardId shard, MemberId to) {
		this.changed = List.of(owned(shard, to, ++this.generation));
	}

	/** Heartbeats twice per second, and whatever is due. */
	private void pass(Duration duration) {
		long end = this.now + duration.toMillis();
		while (this.now < end) {
			this.leadership.on(new HeartbeatAnswered(alive(this.now + 3_000), ME, at()), at());
			for (int i = 0; i < 5; i++) {
				drive();
				this.now += 100;
			}
		}
	}

	private void drive() {
		for (LeaderAction action = this.leadership.next(at()); action != null; action = this.leadership.next(at())) {
			if (action instanceof LeaderAction.ReadGroup) {
				this.leadership.on(new GroupRead(new GroupChanges(ME, 1, this.generation, this.membership,
						this.members.stream().map(LoadReportsTests::member).toList(), this.changed)), at());
			}
			else if (action instanceof LeaderAction.ReadLoads read) {
				this.reads.add(read.version());
				Map<MemberId, LoadReport> since = new TreeMap<>(this.stored);
				since.keySet().removeIf((member) -> this.storedAt.get(member) <= read.version());
				this.leadership.on(new LoadsRead(new LoadChanges(this.told, new TreeMap<>(since))), at());
			}
			else if (action instanceof LeaderAction.WarnOfLoadReport warn) {
				this.complaints.add(warn.text());
			}
			else if (action instanceof LeaderAction.ComputeAssignment compute) {
				this.requests.add(compute.request());
				this.leadership.on(
						new AssignmentComputed(compute.request(), new StickyAssignment().assign(compute.request())),
						at());
			}
			else if (action instanceof LeaderAction.ReapDeadMembers) {
				this.leadership.on(new ReapAnswered(new ReapReply.Looked(List.of(), List.of(), List.of(), 0)), at());
			}
			else if (action instanceof LeaderAction.ApplyPlan plan) {
				this.leadership.on(new PlanAnswered(new PlanReply.Applied(plan.transitions().size(), 0)), at());
			}
		}
	}

	private HeartbeatReply.Alive alive(long earliestLeaseEnd) {
		return new HeartbeatReply.Alive(this.now, ME, 1, this.now + 3_000, earliestLeaseEnd, this.generation,
				this.membership, this.generation, List.of(), 1, false, true, 0, this.told, 0, Long.MAX_VALUE,
				GroupStatus.NONE);
	}

	private MonotonicTime at() {
		return new MonotonicTime(this.now * 1_000_000);
	}

	private static Ownership owned(ShardId shard, MemberId owner, long generation) {
		return new Ownership(shard, Phase.OWNED, new Token(generation), owner, null, generation, 0, 0);
	}

	private static GroupMember member(MemberId id) {
		return new GroupMember(id, new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(2))),
				ApplicationVersion.UNKNOWN), false);
	}

}
