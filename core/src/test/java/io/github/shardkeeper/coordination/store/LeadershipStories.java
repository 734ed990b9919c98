package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.testsupport.Concurrently;
import io.github.shardkeeper.testsupport.Promise;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static io.github.shardkeeper.coordination.store.TestGroup.SHORT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Elections and the ends of leaderships.
 */
interface LeadershipStories extends GroupStories {

	@Test
	default void firstCandidateLeads() {
		TestMember a = group().join("a");
		TestMember b = group().join("b");
		assertThat(a.beat(false).leader()).isNull();

		HeartbeatReply.Alive elected = b.beat(true);

		assertThat(elected.leader()).isEqualTo(b.id());
		assertThat(elected.epoch()).isEqualTo(1);
		assertThat(elected.leaderLeaseEndMillis()).isEqualTo(elected.serverTimeMillis() + LONG.toMillis());
		assertThat(group().all().leader()).isEqualTo(b.id());
		assertThat(group().all().epoch()).isEqualTo(1);
	}

	@Test
	default void secondCandidateFollows() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");

		HeartbeatReply.Alive reply = b.beat(true);

		assertThat(reply.leader()).isEqualTo(a.id());
		assertThat(reply.epoch()).isEqualTo(a.epoch());
		assertThat(reply.leaderLeaseEndMillis()).isPositive().isLessThanOrEqualTo(reply.earliestLeaseEndMillis());
	}

	@Test
	default void leaderKeepsItsEpoch() {
		TestMember a = group().join("a").lead();

		assertThat(a.lead().epoch()).isEqualTo(1);
	}

	@Test
	@Promise("Automatic recovery")
	default void unfitLeaderResigns() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");

		HeartbeatReply.Alive reply = a.resign();

		assertThat(reply.leader()).isNull();
		assertThat(reply.leaderLeaseEndMillis()).isZero();
		assertThat(reply.epoch()).isEqualTo(1);
		assertThat(group().all().leader()).isNull();
		assertThat(a.plan()).isEqualTo(new PlanReply.Deposed());
		assertThat(b.lead().epoch()).isEqualTo(2);
	}

	@Test
	default void formerLeaderCanLeadInAnotherEpoch() {
		TestMember a = group().join("a").lead();
		a.resign();

		assertThat(a.lead().epoch()).isEqualTo(2);
	}

	@Test
	default void leadershipPassesAtTheEndOfTheLeadersLease() {
		TestMember a = group().join("a", SHORT, LONG).lead();
		TestMember b = group().join("b");
		group().advance(SHORT);

		assertThat(b.lead().epoch()).isEqualTo(2);

		assertThat(a.plan()).isEqualTo(new PlanReply.Deposed());
		assertThat(a.beat(true).leader()).isEqualTo(b.id());
		assertThat(b.plan()).isEqualTo(new PlanReply.Applied(0, 0));
	}

	@Test
	default void lateLeaderWithTheFirstHeartbeatStartsANewEpoch() {
		TestMember a = group().join("a", SHORT, LONG).lead();
		group().join("b");
		group().advance(SHORT.multipliedBy(2));

		assertThat(a.lead().epoch()).isEqualTo(2);
		assertThat(group().store().reapMembers(a.id(), 1, TestMember.STEADY, Duration.ZERO))
			.as("what it decided before its silence")
			.isEqualTo(new ReapReply.Deposed());
	}

	@Test
	default void leaderWithoutALeaseDecidesNothing() {
		TestMember a = group().join("a", SHORT, LONG).lead();
		group().join("b");
		group().advance(SHORT.multipliedBy(2));

		assertThat(group().store().applyPlan(a.id(), 1, List.of())).isEqualTo(new PlanReply.Deposed());
		assertThat(group().store().reapMembers(a.id(), 1, TestMember.STEADY, Duration.ZERO))
			.isEqualTo(new ReapReply.Deposed());
	}

	@Test
	default void nobodyLeadsWithoutAFitMember() {
		TestMember a = group().join("a", SHORT, LONG).lead();
		TestMember b = group().join("b");
		group().advance(SHORT);

		HeartbeatReply.Alive reply = b.beat(false);

		assertThat(reply.leader()).isNull();
		assertThat(reply.leaderLeaseEndMillis()).isZero();
		assertThat(reply.epoch()).isEqualTo(a.epoch());
	}

	@Test
	default void leavingLeaderHandsOverLeadership() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");

		a.leave();

		assertThat(group().all().leader()).isNull();
		assertThat(a.plan()).isEqualTo(new PlanReply.Deposed());
		assertThat(b.lead().epoch()).isEqualTo(2);
	}

	@Test
	default void leaderThatAnnouncedItsLeaveKeepsLeading() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");

		a.announceLeave();

		assertThat(b.beat(true).leader()).isEqualTo(a.id());
		assertThat(a.assign(FIRST, b).owner()).isEqualTo(b.id());
	}

	@Test
	default void onlyTheLeaderOfTheEpochDecides() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		CoordinationStore store = group().store();

		assertThat(store.applyPlan(b.id(), a.epoch(), List.of())).isEqualTo(new PlanReply.Deposed());
		assertThat(store.applyPlan(a.id(), a.epoch() - 1, List.of())).isEqualTo(new PlanReply.Deposed());
		assertThat(store.applyPlan(a.id(), a.epoch() + 1, List.of())).isEqualTo(new PlanReply.Deposed());
		assertThat(store.reapMembers(b.id(), a.epoch(), TestMember.STEADY, Duration.ZERO))
			.isEqualTo(new ReapReply.Deposed());
		assertThat(store.reapMembers(a.id(), a.epoch() - 1, TestMember.STEADY, Duration.ZERO))
			.isEqualTo(new ReapReply.Deposed());
	}

	@Test
	default void oneOfManyConcurrentCandidatesLeads() {
		List<TestMember> members = IntStream.range(0, 16).mapToObj((i) -> group().join("m" + i)).toList();

		List<HeartbeatReply.Alive> replies = Concurrently.map(members, (member) -> member.beat(true));

		assertThat(replies.stream().map(HeartbeatReply.Alive::leader).distinct()).hasSize(1);
		assertThat(group().all().epoch()).isEqualTo(1);
	}

}
