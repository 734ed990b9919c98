package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static io.github.shardkeeper.coordination.store.TestGroup.SHORT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Dead members are reaped, slow ones are kept.
 */
interface ReapStories extends GroupStories {

	ReapReply NOBODY_IS_LATE = new ReapReply.Looked(List.of(), List.of(), List.of(), 0);

	@Test
	@Promise("One consumer")
	default void noMemberIsReapedBeforeItsLeaseEnds() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", LONG, LONG);
		a.assign(FIRST, b);
		b.disconnect();
		group().advance(SHORT);

		assertThat(a.reap()).isEqualTo(NOBODY_IS_LATE);

		assertThat(b.news()).containsExactly(group().shard(FIRST));
	}

	@Test
	default void deadMemberIsReapedAtTheEndOfItsLease() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		long membership = group().all().membership();
		b.disconnect();
		group().advance(SHORT);

		ReapReply.Looked reply = a.reapDead();

		assertThat(reply.dead()).containsExactly(b.id());
		assertThat(reply.timedOut()).isEmpty();
		assertThat(reply.slow()).isEmpty();
		assertThat(reply.nextLookMillis()).isZero();
		b.assertExpired();
		assertThat(group().all().members()).containsExactly(a.entry(false));
		assertThat(group().all().membership()).isGreaterThan(membership);
		assertThat(a.reap()).isEqualTo(NOBODY_IS_LATE);
	}

	@Test
	default void shardsOfADeadMemberAreFree() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		Ownership owned = a.assign(FIRST, b);
		a.assign(SECOND, b);
		a.revoke(SECOND, null);
		Ownership others = a.assign(THIRD, a);
		b.disconnect();
		group().advance(SHORT);

		a.reapDead();

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
		assertThat(group().shard(FIRST).owner()).isNull();
		assertThat(group().shard(SECOND).phase()).isEqualTo(Phase.FREE);
		assertThat(group().shard(THIRD)).isEqualTo(others);
		assertThat(b.release(owned, Token.NONE)).isEqualTo(ReleaseReply.STALE);
		assertThat(a.assign(FIRST, a).token()).isGreaterThan(owned.token());
	}

	@Test
	default void revokedShardOfADeadMemberGoesToItsTarget() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		TestMember c = group().join("c");
		a.assign(FIRST, b);
		Ownership revoking = a.revoke(FIRST, c);
		b.disconnect();
		group().advance(SHORT);

		a.reapDead();

		Ownership moved = group().shard(FIRST);
		assertThat(moved.phase()).isEqualTo(Phase.OWNED);
		assertThat(moved.owner()).isEqualTo(c.id());
		assertThat(moved.token()).isGreaterThan(revoking.token());
		assertThat(c.news()).containsExactly(moved);
	}

	@Test
	default void shardWithADeadTargetIsFreeOnRelease() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		a.assign(FIRST, a);
		a.revoke(FIRST, b);
		b.disconnect();
		group().advance(SHORT);
		a.reapDead();

		assertThat(a.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
	}

	@Test
	default void shardIsFreeWhenOwnerAndTargetHaveTimedOut() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, SHORT);
		TestMember c = group().join("c", SHORT, SHORT);
		a.assign(FIRST, b);
		a.revoke(FIRST, c);
		a.assign(SECOND, c);
		a.revoke(SECOND, b);
		group().advance(SHORT);

		assertThat(a.reap().timedOut()).containsExactlyInAnyOrder(b.id(), c.id());

		assertThat(group().all().ownerships()).hasSize(2).allSatisfy((shard) -> {
			assertThat(shard.phase()).isEqualTo(Phase.FREE);
			assertThat(shard.owner()).isNull();
		});
		assertThat(a.reap()).isEqualTo(NOBODY_IS_LATE);
	}

	/** Behind a proxy that hides subscriptions, slow members have none. */
	@Test
	@Promise("Automatic recovery")
	default void memberWithAHiddenSubscriptionIsNotDead() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, SHORT.multipliedBy(2));
		a.assign(FIRST, b);
		b.describeSubscriptionAsHidden();
		b.disconnect();
		group().advance(SHORT);

		assertThat(a.reap().slow()).containsExactly(b.id());

		group().advance(SHORT);
		assertThat(a.reap().timedOut()).containsExactly(b.id());
		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
	}

	@Test
	default void memberWhoseSubscriptionIsNoLongerHiddenCanBeDead() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		b.describeSubscriptionAsHidden();
		b.describeAsBefore();
		b.disconnect();
		group().advance(SHORT);

		assertThat(a.reapDead().dead()).containsExactly(b.id());
	}

	@Test
	default void slowMemberIsKeptUntilItsTimeout() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		Ownership owned = a.assign(FIRST, b);
		long lastBeat = b.beat().serverTimeMillis();
		group().advance(SHORT);

		ReapReply.Looked reply = a.reap();

		assertThat(reply.slow()).containsExactly(b.id());
		assertThat(reply.dead()).isEmpty();
		assertThat(reply.timedOut()).isEmpty();
		assertThat(reply.nextLookMillis()).isEqualTo(lastBeat + LONG.toMillis());
		assertThat(b.news()).containsExactly(owned);
	}

	@Test
	default void slowMemberIsReapedAtItsTimeout() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, SHORT.multipliedBy(2));
		a.assign(FIRST, b);
		group().advance(SHORT.multipliedBy(2));

		ReapReply.Looked reply = a.reap();

		assertThat(reply.timedOut()).containsExactly(b.id());
		assertThat(reply.dead()).isEmpty();
		assertThat(reply.slow()).isEmpty();
		assertThat(reply.nextLookMillis()).isZero();
		b.assertExpired();
		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
	}

	@Test
	default void nextSearchIsDueAtTheTimeoutOfASlowMember() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, Duration.ofSeconds(2));
		group().advance(SHORT);
		ReapReply.Looked first = a.reap();
		assertThat(first.slow()).containsExactly(b.id());

		group().advance(Duration.ofMillis(first.nextLookMillis() - a.beat().serverTimeMillis()));

		assertThat(a.reap().timedOut()).containsExactly(b.id());
	}

	@Test
	default void slowMemberThatDiesIsReapedAtOnce() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		group().advance(SHORT);
		assertThat(a.reap().slow()).containsExactly(b.id());

		b.disconnect();

		assertThat(a.reapDead().dead()).containsExactly(b.id());
	}

	@Test
	default void heartbeatMakesASlowMemberAlive() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", Duration.ofSeconds(2), LONG);
		group().advance(Duration.ofSeconds(2));
		assertThat(a.reap().slow()).containsExactly(b.id());

		b.beat();

		assertThat(a.reap()).isEqualTo(NOBODY_IS_LATE);
	}

	@Test
	default void oneOfSeveralSubscriptionsProvesLife() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		CoordinationStore.Subscription second = group().store().subscribe(b.id(), () -> {
		});
		b.disconnect();
		group().advance(SHORT);
		assertThat(a.reap().slow()).containsExactly(b.id());

		second.close();

		assertThat(a.reapDead().dead()).containsExactly(b.id());
	}

	@Test
	default void silenceBeforeTheLeaderWasAnsweredIsNoCrash() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		b.disconnect();
		group().advance(SHORT);
		long steadySince = a.beat().serverTimeMillis() + LONG.toMillis();

		ReapReply.Looked reply = a.reap(steadySince);

		assertThat(reply.dead()).isEmpty();
		assertThat(reply.timedOut()).isEmpty();
		assertThat(reply.nextLookMillis()).isEqualTo(steadySince + SHORT.toMillis());
		assertThat(a.reapDead().dead()).containsExactly(b.id());
	}

	@Test
	default void silenceBeforeTheLeaderWasAnsweredIsNoTimeout() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", Duration.ofMillis(1), SHORT);
		group().advance(SHORT);
		long now = a.beat().serverTimeMillis();
		long steadySince = now + LONG.toMillis();

		ReapReply.Looked reply = a.reap(steadySince);

		assertThat(reply.timedOut()).isEmpty();
		assertThat(reply.nextLookMillis()).isEqualTo(steadySince + 1);
		assertThat(a.reap(now - SHORT.toMillis()).timedOut()).containsExactly(b.id());
	}

	@Test
	default void timeoutCountsFromTheLeadersFirstAnswer() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		group().advance(SHORT);
		long steadySince = a.beat().serverTimeMillis();
		group().advance(SHORT);

		ReapReply.Looked reply = a.reap(steadySince);

		assertThat(reply.slow()).containsExactly(b.id());
		assertThat(reply.nextLookMillis()).isEqualTo(steadySince + LONG.toMillis());
	}

	@Test
	default void nextSearchIsForTheMemberThatIsDueFirst() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG.multipliedBy(2));
		TestMember c = group().join("c", SHORT, LONG);
		TestMember d = group().join("d", SHORT, LONG.multipliedBy(3));
		b.beat();
		long lastBeat = c.beat().serverTimeMillis();
		d.beat();
		group().advance(SHORT);

		ReapReply.Looked reply = a.reap();

		assertThat(reply.slow()).containsExactlyInAnyOrder(b.id(), c.id(), d.id());
		assertThat(reply.nextLookMillis()).isEqualTo(lastBeat + LONG.toMillis());
	}

	@Test
	default void newLeaderReapsItsPredecessor() {
		TestMember a = group().join("a", SHORT, LONG).lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.disconnect();
		group().advance(SHORT);
		b.lead();

		assertThat(b.reapDead().dead()).containsExactly(a.id());

		assertThat(b.beat().leader()).isEqualTo(b.id());
		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
	}

	@Test
	default void manyShardsTakeSeveralSearches() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, SHORT);
		TestMember c = group().join("c", SHORT, SHORT);
		a.plan(IntStream.range(0, 1_200)
			.mapToObj((i) -> new Transition.Assign(ShardId.of("many", i), 0, (i % 2 == 0) ? b.id() : c.id()))
			.toArray(Transition[]::new));
		group().advance(SHORT);

		ReapReply.Looked first = a.reap();

		assertThat(first.timedOut()).containsExactly(b.id());
		assertThat(first.nextLookMillis()).isPositive().isLessThanOrEqualTo(a.beat().serverTimeMillis());
		b.assertExpired();
		assertThat(a.reapToTheEnd()).containsExactly(c.id());
		assertThat(group().all().ownerships()).hasSize(1_200).allMatch((shard) -> shard.phase() == Phase.FREE);
	}

	@Test
	default void deposedLeaderReapsNobody() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, SHORT);
		group().advance(SHORT);
		a.resign();

		assertThat(group().store().reapMembers(a.id(), a.epoch(), TestMember.STEADY, Duration.ZERO))
			.isEqualTo(new ReapReply.Deposed());

		assertThat(group().all().members()).contains(b.entry(false));
	}

}
