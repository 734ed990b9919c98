package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.Token;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static io.github.shardkeeper.coordination.store.TestGroup.SHORT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Notifications: exactly the affected members are notified, each once.
 */
interface NotificationStories extends GroupStories {

	@Test
	default void leaderIsNotifiedOfJoinsAndLeaves() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();
		TestMember c = group().join("c");
		a.assertNotified();

		b.announceLeave();
		a.assertNotified();
		b.leave();
		a.assertNotified();

		b.assertNotNotified();
		c.assertNotNotified();
	}

	@Test
	default void nobodyIsNotifiedWithoutALeader() {
		TestMember a = group().join("a");
		TestMember b = group().join("b");
		b.announceLeave();
		b.leave();

		a.assertNotNotified();
		b.assertNotNotified();
	}

	@Test
	default void newOwnerIsNotified() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();

		a.assign(FIRST, b);

		b.assertNotified();
		a.assertNotNotified();
		assertThat(b.news()).containsExactly(group().shard(FIRST));
	}

	@Test
	default void planNotifiesEachMemberOnce() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();

		a.plan(new Transition.Assign(FIRST, 0, b.id()), new Transition.Assign(SECOND, 0, a.id()),
				new Transition.Assign(THIRD, 0, b.id()));

		a.assertNotified();
		b.assertNotified();
	}

	@Test
	default void ownerAndTargetAreNotifiedOfAMove() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		TestMember d = group().join("d");
		a.assertNotified(3);
		a.assign(FIRST, b);
		b.assertNotified();

		a.revoke(FIRST, c);
		b.assertNotified();
		c.assertNotified();
		a.retarget(FIRST, d);
		b.assertNotified();
		d.assertNotified();
		a.cancel(FIRST);
		b.assertNotified();

		a.assertNotNotified();
		c.assertNotNotified();
		d.assertNotNotified();
	}

	@Test
	default void leaderAndTargetAreNotifiedOfAQuietPeriod() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		TestMember d = group().join("d");
		a.assertNotified(3);
		a.assign(FIRST, b);
		a.revoke(FIRST, c);
		b.assertNotified(2);
		c.assertNotified();

		b.release(FIRST, LONG);
		a.assertNotified();
		c.assertNotified();
		a.retarget(FIRST, d);
		d.assertNotified();

		a.assertNotNotified();
		b.assertNotNotified();
		c.assertNotNotified();
	}

	@Test
	default void leaderIsNotifiedOfACompletedShard() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();
		a.assign(FIRST, b);
		b.assertNotified();

		b.complete(FIRST);

		a.assertNotified();
		b.assertNotNotified();
	}

	@Test
	default void memberWithTheNewestHeartbeatIsNotifiedWhenTheLeaderResigns() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		a.assertNotified(2);
		// So that the two beats are not at the same millisecond.
		group().advance(SHORT);
		b.beat();

		a.resign();

		b.assertNotified();
		a.assertNotNotified();
		c.assertNotNotified();
	}

	@Test
	default void targetIsNotifiedOfTheRelease() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		a.assertNotified(2);
		a.assign(FIRST, b);
		a.revoke(FIRST, c);
		b.assertNotified(2);
		c.assertNotified();

		b.release(FIRST);

		c.assertNotified();
		a.assertNotNotified();
		b.assertNotNotified();
		assertThat(c.news()).containsExactly(group().shard(FIRST));
	}

	@Test
	default void leaderIsNotifiedOfAFreeShard() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();
		a.assign(FIRST, b);
		b.assertNotified();

		b.release(FIRST);

		a.assertNotified();
		b.assertNotNotified();
	}

	@Test
	default void refusedTransitionNotifiesNobody() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();
		a.assign(FIRST, b);
		b.assertNotified();

		a.plan(new Transition.Assign(FIRST, 0, b.id()), new Transition.Revoke(FIRST, 99, a.id()));
		group().store().applyPlan(b.id(), a.epoch(), List.of(new Transition.Assign(SECOND, 0, a.id())));
		group().store()
			.releaseShards(b.id(), List.of(new HoldingAction.Release(FIRST, Token.NONE, Token.NONE, false)),
					Duration.ZERO);
		a.reap();
		a.beat();
		b.beat();

		a.assertNotNotified();
		b.assertNotNotified();
	}

	@Test
	default void memberWithTheNewestHeartbeatIsNotifiedWhenTheLeaderLeaves() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		a.assertNotified(2);
		// So that the two beats are not at the same millisecond.
		group().advance(SHORT);
		b.beat();

		a.leave();

		b.assertNotified();
		c.assertNotNotified();
		a.assertNotNotified();
		assertThat(b.lead().epoch()).isEqualTo(2);
	}

	@Test
	default void targetOfALeavingMembersShardIsNotified() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		a.assertNotified(2);
		a.assign(FIRST, b);
		a.assign(SECOND, b);
		a.revoke(FIRST, c);
		c.assertNotified();

		b.leave();

		c.assertNotified();
		a.assertNotified();
	}

	@Test
	default void targetOfAReapedMembersShardIsNotified() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, SHORT);
		TestMember c = group().join("c");
		a.assertNotified(2);
		a.assign(FIRST, b);
		a.assign(SECOND, b);
		a.revoke(FIRST, c);
		b.assertNotified(3);
		c.assertNotified();
		group().advance(SHORT);

		assertThat(a.reap().timedOut()).containsExactly(b.id());

		c.assertNotified();
		a.assertNotified();
		b.assertNotNotified();
	}

	@Test
	default void everySubscriptionIsNotified() {
		TestMember a = group().join("a").lead();
		CompletableFuture<Boolean> second = new CompletableFuture<>();
		group().store().subscribe(a.id(), () -> second.complete(true));

		group().join("b", LONG, LONG);

		a.assertNotified();
		assertThat(second).succeedsWithin(Duration.ofSeconds(10));
	}

	@Test
	default void closedSubscriptionIsNotNotified() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		b.disconnect();
		b.disconnect();

		a.assign(FIRST, b);

		b.assertNotNotified();
		assertThat(b.news()).containsExactly(group().shard(FIRST));
	}

}
