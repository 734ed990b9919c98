package io.github.shardkeeper.coordination.store;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.Token;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static io.github.shardkeeper.coordination.store.TestGroup.SHORT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Quiet periods, cancelled moves and completed shards.
 */
interface QuietStories extends GroupStories {

	PlanReply DONE = new PlanReply.Applied(1, 0);

	PlanReply REFUSED = new PlanReply.Applied(0, 1);

	@Test
	default void releasedShardHasAQuietPeriod() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		a.assign(FIRST, b);
		Ownership revoking = a.revoke(FIRST, c);
		b.news();

		assertThat(b.release(FIRST, LONG)).isEqualTo(ReleaseReply.RELEASED);

		Ownership quiet = group().shard(FIRST);
		assertThat(quiet.phase()).isEqualTo(Phase.QUIET);
		assertThat(quiet.owner()).isNull();
		assertThat(quiet.target()).isEqualTo(c.id());
		assertThat(quiet.destination()).isEqualTo(c.id());
		assertThat(quiet.token()).isEqualTo(revoking.token());
		assertThat(quiet.generation()).isEqualTo(revoking.generation() + 1);
		assertThat(quiet.untilMillis()).isEqualTo(quiet.sinceMillis() + LONG.toMillis());
		assertThat(c.news()).containsExactly(quiet);
		assertThat(b.news()).isEmpty();
		assertThat(a.plan(new Transition.Assign(FIRST, quiet.generation(), c.id()))).isEqualTo(REFUSED);
		assertThat(group().shard(FIRST)).isEqualTo(quiet);
	}

	@Test
	default void shardGetsAnOwnerAfterItsQuietPeriod() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, a);
		a.revoke(FIRST, b);
		a.release(FIRST, SHORT);
		group().advance(SHORT);

		Ownership next = a.assign(FIRST, b);

		assertThat(next.phase()).isEqualTo(Phase.OWNED);
		assertThat(next.token()).isGreaterThan(owned.token());
		assertThat(next.target()).isNull();
		assertThat(next.untilMillis()).isZero();
		assertThat(b.news()).containsExactly(next);
	}

	@Test
	default void shardWithoutTargetHasAQuietPeriod() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);

		a.release(FIRST, LONG);

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.QUIET);
		assertThat(group().shard(FIRST).target()).isNull();
	}

	@Test
	default void shardMayGoToAnotherMemberAfterItsQuietPeriod() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.revoke(FIRST, b);
		a.release(FIRST, SHORT);
		group().advance(SHORT);

		a.assign(FIRST, a);

		assertThat(b.news()).isEmpty();
		assertThat(a.news()).containsExactly(group().shard(FIRST));
	}

	@Test
	default void newTargetDoesNotEndTheQuietPeriod() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		a.assign(FIRST, a);
		a.revoke(FIRST, b);
		a.release(FIRST, LONG);
		Ownership before = group().shard(FIRST);

		assertThat(a.retarget(FIRST, c)).isEqualTo(DONE);

		Ownership after = group().shard(FIRST);
		assertThat(after.phase()).isEqualTo(Phase.QUIET);
		assertThat(after.target()).isEqualTo(c.id());
		assertThat(after.untilMillis()).isEqualTo(before.untilMillis());
		assertThat(after.token()).isEqualTo(before.token());
		assertThat(b.news()).isEmpty();
		assertThat(c.news()).containsExactly(after);

		assertThat(a.retarget(FIRST, null)).isEqualTo(DONE);
		assertThat(group().shard(FIRST).target()).isNull();
		assertThat(group().shard(FIRST).untilMillis()).isEqualTo(before.untilMillis());
		assertThat(c.news()).isEmpty();
	}

	@Test
	default void quietShardCanOnlyBeRetargeted() {
		TestMember a = group().join("a").lead();
		Ownership owned = a.assign(FIRST, a);
		a.release(FIRST, LONG);
		Ownership quiet = group().shard(FIRST);

		assertThat(a.plan(new Transition.Revoke(FIRST, quiet.generation(), a.id()))).isEqualTo(REFUSED);
		assertThat(a.cancel(FIRST)).isEqualTo(REFUSED);
		assertThat(a.release(owned, Token.NONE)).isEqualTo(ReleaseReply.STALE);
		assertThat(group().shard(FIRST)).isEqualTo(quiet);
	}

	@Test
	default void quietShardLosesATargetThatIsGone() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.revoke(FIRST, b);
		b.leave();

		a.release(FIRST, LONG);

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.QUIET);
		assertThat(group().shard(FIRST).target()).isNull();
	}

	@Test
	default void leavingTargetDoesNotChangeAQuietShard() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.revoke(FIRST, b);
		a.release(FIRST, LONG);
		Ownership quiet = group().shard(FIRST);

		b.leave();

		assertThat(group().shard(FIRST)).isEqualTo(quiet);
		assertThat(a.retarget(FIRST, a)).isEqualTo(DONE);
	}

	@Test
	default void shardsOfALeavingMemberHaveAQuietPeriod() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		a.assign(SECOND, b);
		a.revoke(SECOND, a);

		b.leave(LONG);

		assertThat(group().all().ownerships()).extracting(Ownership::phase).containsExactly(Phase.QUIET, Phase.QUIET);
		assertThat(group().shard(FIRST).target()).isNull();
		assertThat(group().shard(SECOND).target()).isEqualTo(a.id());
	}

	@Test
	default void shardsOfADeadMemberHaveTheCrashQuietPeriod() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, SHORT);
		a.assign(FIRST, b);
		a.assign(SECOND, a);
		a.revoke(SECOND, b);
		Ownership others = group().shard(SECOND);
		group().advance(SHORT);

		assertThat(a.reapWithQuietPeriod(LONG).timedOut()).containsExactly(b.id());

		Ownership quiet = group().shard(FIRST);
		assertThat(quiet.phase()).isEqualTo(Phase.QUIET);
		assertThat(quiet.untilMillis()).isEqualTo(quiet.sinceMillis() + LONG.toMillis());
		assertThat(group().shard(SECOND)).as("its planned shard").isEqualTo(others);
	}

	@Test
	default void revocationCanBeCancelled() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		Ownership owned = a.assign(FIRST, b);
		Ownership revoking = a.revoke(FIRST, c);

		assertThat(a.cancel(FIRST)).isEqualTo(DONE);

		Ownership back = group().shard(FIRST);
		assertThat(back.phase()).isEqualTo(Phase.OWNED);
		assertThat(back.owner()).isEqualTo(b.id());
		assertThat(back.target()).isNull();
		assertThat(back.token()).isEqualTo(owned.token());
		assertThat(back.generation()).isEqualTo(revoking.generation() + 1);
		assertThat(b.news()).containsExactly(back);
		assertThat(c.news()).isEmpty();
		assertThat(b.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);
	}

	@Test
	default void onlyARevocationCanBeCancelled() {
		TestMember a = group().join("a").lead();
		assertThat(a.cancel(FIRST)).isEqualTo(REFUSED);
		Ownership owned = a.assign(FIRST, a);
		assertThat(a.cancel(FIRST)).isEqualTo(REFUSED);
		Ownership revoking = a.revoke(FIRST, null);
		assertThat(a.plan(new Transition.Cancel(FIRST, owned.generation()))).isEqualTo(REFUSED);
		assertThat(group().shard(FIRST)).isEqualTo(revoking);
		a.release(FIRST);
		assertThat(a.cancel(FIRST)).isEqualTo(REFUSED);
	}

	@Test
	default void completedShardNeverHasAnOwnerAgain() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, a);
		a.revoke(FIRST, b);

		assertThat(a.complete(FIRST)).isEqualTo(ReleaseReply.RELEASED);

		Ownership completed = group().shard(FIRST);
		assertThat(completed.phase()).isEqualTo(Phase.COMPLETED);
		assertThat(completed.owner()).isNull();
		assertThat(completed.target()).isNull();
		assertThat(completed.destination()).isNull();
		assertThat(completed.token()).isEqualTo(owned.token());
		assertThat(a.plan(new Transition.Assign(FIRST, completed.generation(), a.id()),
				new Transition.Revoke(FIRST, completed.generation(), a.id()),
				new Transition.Retarget(FIRST, completed.generation(), a.id()),
				new Transition.Cancel(FIRST, completed.generation())))
			.isEqualTo(new PlanReply.Applied(0, 4));
		assertThat(a.release(owned, Token.NONE)).isEqualTo(ReleaseReply.STALE);
		assertThat(
				b.claim(new Ownership(FIRST, Phase.OWNED, new Token(owned.token().value() + 1), b.id(), null, 0, 0, 0)))
			.isEmpty();
		assertThat(group().shard(FIRST)).isEqualTo(completed);
		assertThat(a.news()).isEmpty();
		assertThat(b.news()).isEmpty();
	}

	@Test
	default void completedShardHasNoQuietPeriod() {
		TestMember a = group().join("a").lead();
		Ownership owned = a.assign(FIRST, a);

		a.release(new HoldingAction.Release(FIRST, owned.token(), Token.NONE, true), LONG);

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.COMPLETED);
	}

}
