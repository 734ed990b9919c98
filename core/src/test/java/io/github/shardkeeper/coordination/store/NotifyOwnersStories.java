package io.github.shardkeeper.coordination.store;

import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.shard.ShardId;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Owners that are notified of requests in the data plane.
 */
interface NotifyOwnersStories extends GroupStories {

	@Test
	default void ownerReadsItsShardAgain() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();
		Ownership owned = a.assign(FIRST, b);
		a.assign(SECOND, b);
		b.news();
		b.assertNotified(2);

		nudge(FIRST);

		b.assertNotified();
		a.assertNotNotified();
		assertThat(b.news()).usingRecursiveFieldByFieldElementComparatorIgnoringFields("generation")
			.containsExactly(owned);
		assertThat(b.news()).as("once").isEmpty();
		assertThat(a.news()).isEmpty();
	}

	@Test
	default void ownerReadsItsShardWithTheNextHeartbeatWithoutNotification() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		b.news();
		b.disconnect();

		nudge(FIRST);

		assertThat(b.news()).extracting(Ownership::shard).containsExactly(FIRST);
	}

	@Test
	default void everyRequestIsReadAndConcurrentOnesOnce() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);
		a.news();
		nudge(FIRST);
		assertThat(a.news()).hasSize(1);

		nudge(FIRST);
		nudge(FIRST);

		assertThat(a.news()).hasSize(1);
		assertThat(a.news()).isEmpty();
	}

	@Test
	default void ownershipDoesNotChange() {
		TestMember a = group().join("a").lead();
		Ownership owned = a.assign(FIRST, a);
		long seen = group().all().generation();

		nudge(FIRST);

		assertThat(group().shard(FIRST)).isEqualTo(owned);
		assertThat(group().store().readChanges(seen, -1).ownerships()).isEmpty();
		assertThat(group().store().readChanges(seen, -1).generation()).isGreaterThan(seen);
	}

	@Test
	default void runningPlanIsNotDisturbed() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, b);
		b.news();
		Transition planned = new Transition.Revoke(FIRST, owned.generation(), a.id());

		nudge(FIRST);

		assertThat(a.plan(planned)).isEqualTo(new PlanReply.Applied(1, 0));
		assertThat(b.news()).containsExactly(group().shard(FIRST));
		assertThat(b.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);
		assertThat(b.news()).as("about its former shards").isEmpty();
		assertThat(group().shard(FIRST).owner()).isEqualTo(a.id());
	}

	@Test
	default void movingQuietOrCompletedShardIsIgnored() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		a.assign(SECOND, b);
		a.assign(THIRD, b);
		a.revoke(FIRST, a);
		b.release(SECOND, LONG);
		b.complete(THIRD);
		a.news();
		b.news();
		List<Ownership> before = group().all().ownerships();
		a.assertNotified(4);
		b.assertNotified(4);

		nudge(FIRST, SECOND, THIRD);

		assertThat(group().all().ownerships()).isEqualTo(before)
			.extracting(Ownership::phase)
			.containsExactlyInAnyOrder(Phase.REVOKING, Phase.QUIET, Phase.COMPLETED);
		a.assertNotNotified();
		b.assertNotNotified();
		assertThat(a.news()).isEmpty();
		assertThat(b.news()).isEmpty();
	}

	@Test
	default void freeOrUnknownShardIsIgnored() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);
		a.release(FIRST);
		a.news();
		long generation = group().all().generation();

		nudge(FIRST, SECOND);
		nudge();

		assertThat(group().all().generation()).isEqualTo(generation);
		assertThat(a.news()).isEmpty();
	}

	@Test
	default void notifiedShardOfALeavingMemberIsFreed() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		nudge(FIRST);

		b.leave();

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
		assertThat(group().join("b2").news()).isEmpty();
	}

	@Test
	default void manyOwnersAreNotifiedAtOnce() {
		TestMember a = group().join("a").lead();
		List<ShardId> shards = IntStream.range(0, 1_100).mapToObj((i) -> ShardId.of("many", i)).toList();
		a.plan(shards.stream().map((id) -> new Transition.Assign(id, 0, a.id())).toArray(Transition[]::new));
		a.news();

		group().store().notifyOwners(shards);

		assertThat(a.news()).extracting(Ownership::shard).containsExactlyElementsOf(shards);
	}

	private void nudge(ShardId... shards) {
		group().store().notifyOwners(List.of(shards));
	}

}
