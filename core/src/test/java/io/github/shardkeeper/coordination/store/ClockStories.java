package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.testsupport.Promise;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The store's clock is set back: periods start again, and do not wait for the clock to
 * reach their old ends.
 */
public interface ClockStories extends GroupStories {

	Duration DAY = Duration.ofDays(1);

	/**
	 * Sets the store's clock back.
	 * @param duration how far
	 */
	void turnClockBack(Duration duration);

	@Test
	default void deadLeaderIsReplacedAfterASetBack() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		turnClockBack(DAY);

		HeartbeatReply.Alive reply = b.beat(true);
		assertThat(reply.leader()).isEqualTo(a.id());
		assertThat(reply.leaderLeaseEndMillis()).isEqualTo(reply.serverTimeMillis() + LONG.toMillis());
		assertThat(reply.earliestLeaseEndMillis()).isEqualTo(reply.leaderLeaseEndMillis());
		group().advance(LONG);

		assertThat(b.lead().epoch()).isEqualTo(2);
	}

	@Test
	default void deadMemberIsReapedAfterASetBack() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		b.disconnect();
		turnClockBack(DAY);
		a.beat();
		group().advance(LONG.dividedBy(2));
		a.beat();
		group().advance(LONG.dividedBy(2));

		assertThat(a.reapDead().dead()).containsExactly(b.id());
	}

	/** Also who has seen nothing of it, because it was put forward again meanwhile. */
	@Test
	default void everyMemberReadsTheSetBack() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		long before = a.beat().setBacks();
		turnClockBack(DAY);
		b.beat();
		turnClockBack(DAY.negated());

		assertThat(a.beat().setBacks()).isEqualTo(before + 1);
		assertThat(b.beat().setBacks()).isEqualTo(before + 1);
	}

	/**
	 * The only trace of a step back that is shorter than the time since the last
	 * heartbeat.
	 */
	@Test
	@Promise("One consumer")
	default void memberThatKnowsALaterTimeReportsTheSetBack() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		HeartbeatReply.Alive before = a.beat();
		group().advance(LONG.dividedBy(4));
		long known = before.serverTimeMillis() + LONG.dividedBy(4).toMillis();
		assertThat(b.beat(b.seen().withClock(known), false).setBacks()).isEqualTo(before.setBacks());
		turnClockBack(LONG.dividedBy(8));

		assertThat(b.beat(b.seen().withClock(known), false).setBacks()).isEqualTo(before.setBacks() + 1);
		assertThat(a.beat().setBacks()).isEqualTo(before.setBacks() + 1);
	}

	@Test
	@Promise("One consumer")
	default void clockAheadOfTheLeadersReapsNobody() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		b.disconnect();
		group().advance(LONG.dividedBy(2));
		long now = a.beat().serverTimeMillis();
		turnClockBack(LONG.dividedBy(2).plusMillis(1).negated());
		SteadyTime steady = new SteadyTime(0, now, a.beat().setBacks());

		ReapReply.Looked reply = a.reap(steady);

		assertThat(reply.dead()).isEmpty();
		assertThat(reply.timedOut()).isEmpty();
	}

	@Test
	@Promise("One consumer")
	default void nobodyIsReapedUntilTheLeaderHasReadTheSetBack() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		long setBacks = a.beat().setBacks();
		turnClockBack(DAY);
		b.beat();
		b.disconnect();
		turnClockBack(DAY.negated());
		a.lead();
		c.beat();

		ReapReply.Looked reply = a.reap(new SteadyTime(0, Long.MAX_VALUE, setBacks));

		assertThat(reply).isEqualTo(new ReapReply.Looked(List.of(), List.of(), List.of(), 0));
		assertThat(a.reapDead().dead()).containsExactly(b.id());
	}

	@Test
	default void quietPeriodStartsAgain() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.revoke(FIRST, b);
		a.release(FIRST, LONG.dividedBy(2));
		Ownership before = group().shard(FIRST);
		turnClockBack(DAY);
		long now = a.beat().serverTimeMillis();

		assertThat(a.plan(new Transition.Assign(FIRST, before.generation(), b.id())))
			.isEqualTo(new PlanReply.Applied(0, 1));

		Ownership after = group().shard(FIRST);
		assertThat(after.phase()).isEqualTo(Phase.QUIET);
		assertThat(after.target()).isEqualTo(b.id());
		assertThat(after.sinceMillis()).isEqualTo(now);
		assertThat(after.untilMillis()).isEqualTo(now + LONG.dividedBy(2).toMillis());
		assertThat(a.plan(new Transition.Assign(FIRST, after.generation(), b.id())))
			.isEqualTo(new PlanReply.Applied(0, 1));
		assertThat(group().shard(FIRST)).isEqualTo(after);
		group().advance(LONG.dividedBy(2));
		assertThat(a.assign(FIRST, b).owner()).isEqualTo(b.id());
	}

	/** A leader that has not heard of the clock yet gives it another target meanwhile. */
	@Test
	default void quietPeriodStartsAgainWithAnotherTarget() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.revoke(FIRST, b);
		a.release(FIRST, LONG.dividedBy(2));
		turnClockBack(DAY);
		long now = b.beat().serverTimeMillis();

		assertThat(a.plan(new Transition.Retarget(FIRST, group().generationOf(FIRST), a.id())))
			.isEqualTo(new PlanReply.Applied(1, 0));

		Ownership after = group().shard(FIRST);
		assertThat(after.target()).isEqualTo(a.id());
		assertThat(after.sinceMillis()).isEqualTo(now);
		assertThat(after.untilMillis()).isEqualTo(now + LONG.dividedBy(2).toMillis());
	}

	@Test
	default void restartedQuietPeriodLosesATargetThatIsGone() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.revoke(FIRST, b);
		a.release(FIRST, LONG);
		b.leave();
		turnClockBack(DAY);
		a.beat();

		a.plan(new Transition.Assign(FIRST, group().generationOf(FIRST), a.id()));

		assertThat(group().shard(FIRST).target()).isNull();
	}

	@Test
	default void timeForClaimsStartsAgain() {
		group().server().empty();
		TestMember a = group().join("a").lead();
		turnClockBack(DAY);

		HeartbeatReply.Alive reply = a.beat();

		assertThat(reply.claimsUntilMillis()).isEqualTo(reply.serverTimeMillis() + LONG.toMillis());
		group().advance(LONG);
		a.lead();
		assertThat(a.assign(FIRST, a).owner()).isEqualTo(a.id());
	}

	@Test
	default void endedTimeForClaimsDoesNotReturn() {
		TestMember a = group().join("a").lead();
		turnClockBack(DAY);

		assertThat(a.beat().claimsUntilMillis()).isZero();
	}

	@Test
	@Promise("Tokens never repeat")
	default void tokensAndHistoriesIncrease() {
		TestMember a = group().join("a").lead();
		Ownership first = a.assign(FIRST, a);
		Object before = group().server().snapshot();
		a.assign(SECOND, a);
		a.news();
		long history = a.seen().history();
		turnClockBack(DAY);
		a.beat();

		assertThat(a.assign(THIRD, a).token()).isGreaterThan(first.token());
		group().server().loseWritesSince(before);
		assertThat(a.beat().history()).isEqualTo(history + 1);
	}

}
