package io.github.shardkeeper.coordination.store;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Plans of the leader, applied to a group that may have changed.
 */
interface PlanStories extends GroupStories {

	PlanReply APPLIED = new PlanReply.Applied(1, 0);

	PlanReply CONFLICT = new PlanReply.Applied(0, 1);

	@Test
	default void newShardGetsItsFirstOwner() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		long before = a.beat().serverTimeMillis();

		assertThat(a.plan(new Transition.Assign(FIRST, 0, b.id()))).isEqualTo(APPLIED);

		long after = a.beat().serverTimeMillis();
		Ownership shard = group().shard(FIRST);
		assertThat(shard.phase()).isEqualTo(Phase.OWNED);
		assertThat(shard.owner()).isEqualTo(b.id());
		assertThat(shard.target()).isNull();
		assertThat(shard.generation()).isEqualTo(1);
		assertThat(shard.sinceMillis()).isBetween(before, after);
		assertThat(shard.token().value()).isBetween(before * 1000, after * 1000 + 999);
		assertThat(b.news()).containsExactly(shard);
		assertThat(a.news()).isEmpty();
	}

	@Test
	@Promise("One consumer")
	default void onlyAFreeShardIsAssigned() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");

		Ownership owned = a.assign(FIRST, b);
		assertThat(a.plan(new Transition.Assign(FIRST, owned.generation(), a.id()))).isEqualTo(CONFLICT);
		assertThat(group().shard(FIRST)).isEqualTo(owned);

		Ownership revoking = a.revoke(FIRST, null);
		assertThat(a.plan(new Transition.Assign(FIRST, revoking.generation(), a.id()))).isEqualTo(CONFLICT);
		assertThat(group().shard(FIRST)).isEqualTo(revoking);

		b.release(FIRST);
		assertThat(a.assign(FIRST, a).owner()).isEqualTo(a.id());
	}

	@Test
	default void revokedShardKeepsItsToken() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, b);
		b.news();

		Ownership revoking = a.revoke(FIRST, a);

		assertThat(revoking.phase()).isEqualTo(Phase.REVOKING);
		assertThat(revoking.owner()).isEqualTo(b.id());
		assertThat(revoking.target()).isEqualTo(a.id());
		assertThat(revoking.token()).isEqualTo(owned.token());
		assertThat(revoking.generation()).isEqualTo(owned.generation() + 1);
		assertThat(b.news()).containsExactly(revoking);
		assertThat(a.news()).as("the planned change").containsExactly(revoking);
	}

	@Test
	default void onlyAnOwnedShardIsRevoked() {
		TestMember a = group().join("a").lead();
		assertThat(a.plan(new Transition.Revoke(FIRST, 0, a.id()))).isEqualTo(CONFLICT);
		assertThat(group().all().ownerships()).isEmpty();

		a.assign(FIRST, a);
		Ownership revoking = a.revoke(FIRST, null);
		assertThat(a.plan(new Transition.Revoke(FIRST, revoking.generation(), null))).isEqualTo(CONFLICT);

		a.release(FIRST);
		Ownership free = group().shard(FIRST);
		assertThat(a.plan(new Transition.Revoke(FIRST, free.generation(), null))).isEqualTo(CONFLICT);
		assertThat(group().shard(FIRST)).isEqualTo(free);
	}

	@Test
	default void runningMoveCanGetAnotherTarget() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		a.assign(FIRST, a);
		a.revoke(FIRST, b);

		assertThat(a.plan(new Transition.Retarget(FIRST, group().generationOf(FIRST), c.id()))).isEqualTo(APPLIED);
		assertThat(group().shard(FIRST).target()).isEqualTo(c.id());
		assertThat(a.news()).containsExactly(group().shard(FIRST));

		assertThat(a.plan(new Transition.Retarget(FIRST, group().generationOf(FIRST), null))).isEqualTo(APPLIED);
		assertThat(group().shard(FIRST).target()).isNull();
		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.REVOKING);
	}

	@Test
	default void onlyARunningMoveIsRetargeted() {
		TestMember a = group().join("a").lead();
		assertThat(a.plan(new Transition.Retarget(FIRST, 0, a.id()))).isEqualTo(CONFLICT);

		Ownership owned = a.assign(FIRST, a);
		assertThat(a.plan(new Transition.Retarget(FIRST, owned.generation(), a.id()))).isEqualTo(CONFLICT);

		a.release(FIRST);
		Ownership free = group().shard(FIRST);
		assertThat(a.plan(new Transition.Retarget(FIRST, free.generation(), a.id()))).isEqualTo(CONFLICT);
		assertThat(group().shard(FIRST)).isEqualTo(free);
	}

	@Test
	default void changedShardIsNotPlanned() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		assertThat(a.plan(new Transition.Assign(FIRST, 1, a.id()))).as("expected known").isEqualTo(CONFLICT);
		Ownership owned = a.assign(FIRST, a);
		assertThat(a.plan(new Transition.Revoke(FIRST, 0, b.id()))).as("expected new").isEqualTo(CONFLICT);
		Ownership revoking = a.revoke(FIRST, b);

		assertThat(a.plan(new Transition.Retarget(FIRST, owned.generation(), null))).isEqualTo(CONFLICT);
		assertThat(group().shard(FIRST)).isEqualTo(revoking);

		a.release(FIRST);
		Ownership released = group().shard(FIRST);
		assertThat(a.plan(new Transition.Revoke(FIRST, owned.generation(), a.id()))).isEqualTo(CONFLICT);
		assertThat(group().shard(FIRST)).isEqualTo(released);
	}

	@Test
	default void unknownMemberGetsNoShard() {
		TestMember a = group().join("a").lead();
		MemberId unknown = group().stranger("b").id();

		assertThat(a.plan(new Transition.Assign(FIRST, 0, unknown))).isEqualTo(CONFLICT);
		Ownership owned = a.assign(FIRST, a);
		assertThat(a.plan(new Transition.Revoke(FIRST, owned.generation(), unknown))).isEqualTo(CONFLICT);
		Ownership revoking = a.revoke(FIRST, null);
		assertThat(a.plan(new Transition.Retarget(FIRST, revoking.generation(), unknown))).isEqualTo(CONFLICT);

		assertThat(group().shard(FIRST)).isEqualTo(revoking);
		assertThat(group().all().generation()).isEqualTo(revoking.generation());
	}

	@Test
	default void leavingMemberGetsNoShard() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		b.announceLeave();

		assertThat(a.plan(new Transition.Assign(FIRST, 0, b.id()))).isEqualTo(CONFLICT);
		Ownership owned = a.assign(FIRST, a);
		assertThat(a.plan(new Transition.Revoke(FIRST, owned.generation(), b.id()))).isEqualTo(CONFLICT);
		Ownership revoking = a.revoke(FIRST, null);
		assertThat(a.plan(new Transition.Retarget(FIRST, revoking.generation(), b.id()))).isEqualTo(CONFLICT);

		assertThat(group().shard(FIRST)).isEqualTo(revoking);
	}

	@Test
	default void conflictDoesNotAffectOtherTransitions() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");

		PlanReply reply = a.plan(new Transition.Assign(FIRST, 0, a.id()), new Transition.Assign(FIRST, 0, b.id()),
				new Transition.Assign(SECOND, 7, b.id()), new Transition.Assign(THIRD, 0, b.id()));

		assertThat(reply).isEqualTo(new PlanReply.Applied(2, 2));
		assertThat(group().shard(FIRST).owner()).isEqualTo(a.id());
		assertThat(group().shard(THIRD).owner()).isEqualTo(b.id());
		assertThat(group().all().ownerships()).hasSize(2);
	}

	@Test
	default void planCanBeRepeated() {
		TestMember a = group().join("a").lead();
		Transition[] plan = { new Transition.Assign(FIRST, 0, a.id()), new Transition.Assign(SECOND, 0, a.id()) };
		a.plan(plan);
		List<Ownership> once = group().all().ownerships();

		assertThat(a.plan(plan)).isEqualTo(new PlanReply.Applied(0, 2));

		assertThat(group().all().ownerships()).isEqualTo(once);
	}

	@Test
	default void deposedLeaderChangesNothing() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.resign();
		b.lead();

		assertThat(a.plan(new Transition.Assign(SECOND, 0, a.id()))).isEqualTo(new PlanReply.Deposed());

		assertThat(group().all().ownerships()).containsExactly(group().shard(FIRST));
	}

	@Test
	default void everyChangeIncreasesTheGeneration() {
		TestMember a = group().join("a").lead();
		assertThat(group().all().generation()).isZero();

		assertThat(a.assign(FIRST, a).generation()).isEqualTo(1);
		assertThat(a.assign(SECOND, a).generation()).isEqualTo(2);
		assertThat(a.revoke(FIRST, null).generation()).isEqualTo(3);
		a.release(FIRST);
		assertThat(group().shard(FIRST).generation()).isEqualTo(4);
		assertThat(group().all().generation()).isEqualTo(4);
		assertThat(a.beat().generation()).isEqualTo(4);
	}

	@Test
	@Promise("Tokens never repeat")
	default void tokensAlwaysIncrease() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Token first = a.assign(FIRST, a).token();
		Token second = a.assign(SECOND, b).token();
		a.revoke(FIRST, b);
		a.release(FIRST);
		Token third = group().shard(FIRST).token();
		a.revoke(SECOND, a);
		b.leave();
		Token fourth = group().shard(SECOND).token();
		Token fifth = a.assign(FIRST, a).token();

		assertThat(List.of(first, second, third, fourth, fifth)).isSorted().doesNotHaveDuplicates();
		assertThat(first).isGreaterThan(Token.NONE);
	}

	@Test
	default void concurrentTransitionsAreSerialized() {
		TestMember a = group().join("a").lead();
		int rounds = 100;
		List<CompletableFuture<List<Token>>> threads = Stream.of(FIRST, SECOND, THIRD)
			.map((shard) -> CompletableFuture.supplyAsync(
					() -> IntStream.range(0, rounds).mapToObj((i) -> assignAndRelease(a, shard)).toList(),
					(task) -> new Thread(task).start()))
			.toList();

		List<Token> tokens = threads.stream().flatMap((thread) -> thread.join().stream()).toList();

		assertThat(tokens).doesNotHaveDuplicates().hasSize(3 * rounds);
		assertThat(group().all().generation()).isEqualTo(2 * 3 * rounds);
		assertThat(group().all().ownerships()).hasSize(3);
		assertThat(a.news()).isEmpty();
	}

	private static Token assignAndRelease(TestMember member, ShardId shard) {
		Token token = member.assign(shard, member).token();
		assertThat(member.release(shard)).isEqualTo(ReleaseReply.RELEASED);
		return token;
	}

	@Test
	default void largePlanIsAppliedCompletely() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		List<ShardId> shards = IntStream.range(0, 2_500).mapToObj((i) -> ShardId.of("many", i)).toList();

		PlanReply reply = a
			.plan(shards.stream().map((id) -> new Transition.Assign(id, 0, b.id())).toArray(Transition[]::new));

		assertThat(reply).isEqualTo(new PlanReply.Applied(2_500, 0));
		List<Ownership> news = b.news();
		assertThat(news).extracting(Ownership::shard).containsExactlyElementsOf(shards);
		assertThat(news).extracting(Ownership::token).isSorted().doesNotHaveDuplicates();
		assertThat(group().all().ownerships()).isEqualTo(news);
	}

}
