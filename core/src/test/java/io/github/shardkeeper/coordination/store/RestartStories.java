package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Instances that leave for a restart: their shards are kept for their next session.
 */
@Promise("Restarts in place")
interface RestartStories extends GroupStories {

	Duration AWAY = Duration.ofMinutes(10);

	@Test
	default void memberThatAnnouncedARestartIsListedAsRestartingAndGetsNothing() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		long membership = group().all().membership();

		b.announceRestart();
		b.announceRestart();

		assertThat(group().all().members()).containsExactlyInAnyOrder(a.entry(false), b.restartingEntry());
		assertThat(group().all().membership()).isGreaterThan(membership);
		assertThat(a.plan(new Transition.Assign(FIRST, 0, b.id()))).isEqualTo(new PlanReply.Applied(0, 1));
	}

	@Test
	default void shardsOfARestartingMemberAreKeptOnceItReleasesThem() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, b);
		Ownership running = a.assign(SECOND, b);
		a.news();
		b.news();

		b.announceRestart();
		assertThat(group().shard(FIRST)).isEqualTo(owned);
		assertThat(b.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);

		Ownership kept = group().shard(FIRST);
		assertThat(kept.phase()).isEqualTo(Phase.QUIET);
		assertThat(kept.owner()).isNull();
		assertThat(kept.token()).isEqualTo(owned.token());
		assertThat(RestartingInstance.keptFor(kept)).isEqualTo("b");
		assertThat(group().shard(SECOND)).as("not saved yet").isEqualTo(running);
		assertThat(b.news()).as("nobody is told of it").isEmpty();
		assertThat(b.release(owned, Token.NONE)).isEqualTo(ReleaseReply.STALE);
	}

	@Test
	default void shardThatIsBeingMovedIsNotKept() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		a.revoke(FIRST, a);

		b.announceRestart();
		b.release(FIRST);

		assertThat(group().shard(FIRST).owner()).isEqualTo(a.id());
	}

	@Test
	default void completedShardIsNotKept() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);

		b.announceRestart();
		b.complete(FIRST);

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.COMPLETED);
	}

	@Test
	default void instanceThatLeftForARestartIsAwayUntilItsNextSession() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership before = a.assign(FIRST, b);
		b.announceRestart();
		b.release(FIRST);

		b.leaveForRestart(AWAY);
		b.leaveForRestart(AWAY);

		b.assertExpired();
		GroupChanges all = group().all();
		assertThat(all.members()).containsExactly(a.entry(false));
		assertThat(all.away()).singleElement().satisfies((away) -> {
			assertThat(away.instance()).isEqualTo("b");
			assertThat(away.description()).isEqualTo(b.description());
			assertThat(away.untilMillis() - away.sinceMillis()).isEqualTo(AWAY.toMillis());
		});
		assertThat(group().store().readChanges(all.generation(), all.membership()).away()).as("nothing new").isEmpty();

		TestMember again = group().stranger("b", "2");
		again.join(TestGroup.LONG, TestGroup.LONG);
		assertThat(group().all().away()).isEmpty();
		Ownership returned = a.assign(FIRST, again);
		assertThat(returned.phase()).isEqualTo(Phase.OWNED);
		assertThat(returned.token()).isGreaterThan(before.token());
		assertThat(again.news()).containsExactly(returned);
	}

	@Test
	default void severalInstancesAreAwayAtOnce() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		for (TestMember one : List.of(c, b)) {
			one.announceRestart();
			one.leaveForRestart(AWAY);
		}
		assertThat(group().all().away()).extracting(RestartingInstance::instance).containsExactly("b", "c");

		group().stranger("b", "2").join(TestGroup.LONG, TestGroup.LONG);

		assertThat(group().all().away()).extracting(RestartingInstance::instance).containsExactly("c");
		a.announceRestart();
		a.leaveForRestart(AWAY);
		assertThat(group().all().away()).extracting(RestartingInstance::instance).containsExactly("a", "c");
	}

	@Test
	default void keptShardCanBeGivenToAnotherMemberAtOnce() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		b.announceRestart();
		b.release(FIRST);
		b.leaveForRestart(AWAY);

		assertThat(a.assign(FIRST, a).owner()).isEqualTo(a.id());
	}

	@Test
	default void keptShardRestsForTheQuietPeriod() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		b.announceRestart();
		b.release(FIRST, TestGroup.LONG);
		b.leaveForRestart(AWAY);

		assertThat(a.plan(new Transition.Assign(FIRST, group().shard(FIRST).generation(), a.id())))
			.isEqualTo(new PlanReply.Applied(0, 1));
		assertThat(RestartingInstance.keptFor(group().shard(FIRST))).isEqualTo("b");
	}

	@Test
	default void instanceIsNoLongerAwayWhenItsTimeIsOver() {
		group().join("a").lead();
		TestMember b = group().join("b");
		b.announceRestart();
		b.leaveForRestart(TestGroup.SHORT);

		group().advance(TestGroup.SHORT);

		assertThat(group().all().away()).isEmpty();
		TestMember c = group().join("c");
		c.announceRestart();
		c.leaveForRestart(AWAY);
		assertThat(group().all().away()).extracting(RestartingInstance::instance).containsExactly("c");
	}

	@Test
	default void withoutAnAnnouncementNothingIsKept() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);

		b.leaveForRestart(AWAY);

		assertThat(group().all().away()).isEmpty();
		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
	}

	@Test
	default void ordinaryLeaveAfterAnAnnouncedRestartKeepsNothing() {
		group().join("a").lead();
		TestMember b = group().join("b");
		b.announceRestart();

		b.leave();

		assertThat(group().all().away()).isEmpty();
	}

	@Test
	default void instanceThatDiesWhileItLeavesIsNotAway() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", TestGroup.SHORT, TestGroup.LONG);
		Ownership unsaved = a.assign(FIRST, b);
		a.assign(SECOND, b);
		b.announceRestart();
		b.release(SECOND);
		b.disconnect();
		group().advance(TestGroup.SHORT);

		assertThat(a.reapDead().dead()).containsExactly(b.id());

		assertThat(group().all().away()).isEmpty();
		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
		assertThat(a.assign(FIRST, a).token()).isGreaterThan(unsaved.token());
		assertThat(a.assign(SECOND, a).owner()).isEqualTo(a.id());
	}

	@Test
	default void leaderThatRestartsResignsWhenItHasLeft() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");

		a.announceRestart();
		assertThat(b.beat().leader()).isEqualTo(a.id());
		a.leaveForRestart(AWAY);

		assertThat(b.elected().epoch()).isGreaterThan(a.epoch());
	}

	@Test
	default void firstToReturnLeadsAGroupOfWhichAllWereAway() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);
		a.announceRestart();
		a.release(FIRST);
		a.leaveForRestart(AWAY);
		assertThat(group().all().leader()).isNull();

		TestMember again = group().stranger("a", "2");
		again.join(TestGroup.LONG, TestGroup.LONG);

		assertThat(again.lead().assign(FIRST, again).owner()).isEqualTo(again.id());
	}

	@Test
	default void leaderIsNotifiedOfKeptShardsAndOfTheReturn() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();
		a.assign(FIRST, b);
		b.assertNotified();

		b.announceRestart();
		a.assertNotified();
		b.release(FIRST);
		a.assertNotified();
		b.leaveForRestart(AWAY);
		a.assertNotified();
		group().stranger("b", "2").join(TestGroup.LONG, TestGroup.LONG);
		a.assertNotified();
	}

	@Test
	default void topicOfAnInstanceThatIsAwayIsNotForgotten() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		b.announceRestart();
		b.leaveForRestart(AWAY);

		ForgetReply reply = group().store().forgetShards("topic-of-b");

		assertThat(reply.users()).containsExactly(RestartingInstance.idOf("b"));
		assertThat(group().store().forgetShards("topic-of-c").users()).isEmpty();
		assertThat(a.beat().leader()).isEqualTo(a.id());
	}

	@Test
	default void secondProcessUnderAnInstanceIdIsRefusedWhileTheFirstRuns() {
		TestMember a = group().join("a");
		TestMember second = group().stranger("a", "2");
		GroupChanges before = group().all();

		assertThatExceptionOfType(InstanceInUseException.class).isThrownBy(() -> second.joinAlone(TestGroup.LONG))
			.withMessageContaining("'a' is in use by another running process, the member " + a.id());

		assertThat(group().all()).isEqualTo(before);
		assertThatNoException().isThrownBy(() -> group().stranger("a.b", "3").joinAlone(TestGroup.LONG));
		a.leave();
		assertThatNoException().isThrownBy(() -> second.joinAlone(TestGroup.LONG));
		assertThatNoException().as("repeated").isThrownBy(() -> second.joinAlone(TestGroup.LONG));
	}

	@Test
	default void processThatDiedDoesNotKeepItsInstanceIdInUse() {
		TestMember a = group().join("a");
		TestMember second = group().stranger("a", "2");

		a.disconnect();

		for (int attempt = 0; attempt < 5_000; attempt++) {
			try {
				second.joinAlone(TestGroup.LONG);
				break;
			}
			catch (InstanceInUseException ex) {
				// That the subscription was closed may take a moment to be known.
				group().advance(Duration.ofMillis(1));
			}
		}
		assertThat(group().all().members()).containsExactlyInAnyOrder(a.entry(false), second.entry(false));
	}

	@Test
	default void silentProcessDoesNotKeepItsInstanceIdInUse() {
		group().join("a", TestGroup.SHORT, TestGroup.LONG);
		TestMember second = group().stranger("a", "2");

		group().advance(TestGroup.SHORT);

		assertThatNoException().isThrownBy(() -> second.joinAlone(TestGroup.LONG));
	}

}
