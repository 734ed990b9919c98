package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static io.github.shardkeeper.coordination.store.TestGroup.SHORT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Failovers that lose writes which members have seen.
 */
interface LostWritesStories extends GroupStories {

	@Test
	default void memberThatSawLostWritesStartsANewHistory() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership first = a.assign(FIRST, b);
		Object before = group().server().snapshot();
		a.assign(SECOND, b);
		b.news();
		Seen seen = b.seen();
		group().server().loseWritesSince(before);

		HeartbeatReply.Alive reply = b.beat(false);

		assertThat(reply.lost()).isTrue();
		assertThat(reply.history()).isGreaterThan(seen.history());
		assertThat(reply.changes()).containsExactly(first);
		assertThat(reply.leader()).isNull();
		assertThat(reply.claimsUntilMillis()).isEqualTo(reply.serverTimeMillis() + LONG.toMillis());
		assertThat(a.plan()).isEqualTo(new PlanReply.Deposed());
		assertThat(a.lead().epoch()).isEqualTo(2);
	}

	@Test
	default void lossIsNoticedAlthoughAsMuchWasWrittenAgain() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Object before = group().server().snapshot();
		a.assign(FIRST, b);
		b.news();
		group().server().loseWritesSince(before);
		a.assign(SECOND, a);
		a.assign(THIRD, a);

		HeartbeatReply.Alive reply = b.beat(false);

		assertThat(reply.generation()).isGreaterThan(b.seen().generation());
		assertThat(reply.lost()).isTrue();
		assertThat(reply.changes()).isEmpty();
	}

	@Test
	default void firstMemberToNoticeTheLossMayLead() {
		TestMember a = group().join("a").lead();
		Object before = group().server().snapshot();
		a.assign(FIRST, a);
		a.news();
		group().server().loseWritesSince(before);

		HeartbeatReply.Alive reply = a.beat(true);

		assertThat(reply.lost()).isTrue();
		assertThat(reply.leader()).isEqualTo(a.id());
		assertThat(reply.epoch()).isEqualTo(2);
	}

	@Test
	default void everyMemberReadsEverythingOnce() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		Ownership first = a.assign(FIRST, c);
		c.news();
		Object before = group().server().snapshot();
		a.assign(SECOND, b);
		b.news();
		group().server().loseWritesSince(before);
		b.news();

		List<Ownership> news = new ArrayList<>();
		HeartbeatReply.Alive reply = c.hear(news);

		assertThat(reply.lost()).isTrue();
		assertThat(news).containsExactly(first);
		assertThat(reply.history()).isEqualTo(b.beat().history());
		assertThat(c.hear(news).lost()).isFalse();
		assertThat(news).containsExactly(first);
		assertThat(b.beat().lost()).isFalse();
	}

	@Test
	default void noShardIsAssignedDuringClaimsAndHoldersClaimTheirs() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Object before = group().server().snapshot();
		Ownership lost = a.assign(FIRST, b);
		b.news();
		group().server().loseWritesSince(before);
		b.news();
		a.lead();

		assertThat(a.plan(new Transition.Assign(FIRST, 0, a.id()))).isEqualTo(new PlanReply.Applied(0, 1));
		assertThat(b.claim(lost)).containsExactly(FIRST);

		assertThat(group().shard(FIRST).owner()).isEqualTo(b.id());
		assertThat(group().shard(FIRST).token()).isEqualTo(lost.token());
	}

	@Test
	default void heartbeatReturnsTheLeaseEndOfTheOneBefore() {
		TestMember a = group().join("a");
		long first = a.beat().serverTimeMillis();
		Object before = group().server().snapshot();
		group().advance(SHORT);
		assertThat(a.beat().ownLeaseEndMillis()).isEqualTo(first + LONG.toMillis());
		group().server().loseWritesSince(before);

		assertThat(a.beat().ownLeaseEndMillis()).as("the second one is forgotten").isEqualTo(first + LONG.toMillis());
	}

	@Test
	default void shardReleasedInLostWritesIsReturnedAgain() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, a);
		a.revoke(FIRST, b);
		a.news();
		Object before = group().server().snapshot();
		a.release(owned, Token.NONE);
		Ownership moved = group().shard(FIRST);
		b.news();
		group().server().loseWritesSince(before);

		b.news();
		assertThat(a.news()).containsExactly(group().shard(FIRST));
		assertThat(b.claim(moved)).containsExactly(FIRST);
		assertThat(a.release(owned, Token.NONE)).isEqualTo(ReleaseReply.STALE);
	}

	@Test
	default void memberThatJoinedInLostWritesIsExpired() {
		group().join("a").lead();
		Object before = group().server().snapshot();
		TestMember b = group().join("b");
		b.news();
		group().server().loseWritesSince(before);

		b.assertExpired();
	}

	@Test
	default void rereadingManyShardsTakesSeveralAnswersAndTheFirstReportsTheLoss() {
		TestMember a = group().join("a").lead();
		List<ShardId> shards = IntStream.range(0, 1_200).mapToObj((i) -> ShardId.of("many", i)).toList();
		a.plan(shards.stream().map((id) -> new Transition.Assign(id, 0, a.id())).toArray(Transition[]::new));
		Object before = group().server().snapshot();
		a.assign(FIRST, a);
		a.news();
		group().server().loseWritesSince(before);

		List<Ownership> news = new ArrayList<>();
		HeartbeatReply.Alive first = a.hear(news);
		HeartbeatReply.Alive last = first;
		while (last.hasMore()) {
			last = a.hear(news);
			assertThat(last.lost()).isFalse();
			assertThat(last.history()).isEqualTo(first.history());
		}

		assertThat(first.lost()).isTrue();
		assertThat(first.hasMore()).isTrue();
		assertThat(news).extracting(Ownership::shard).containsExactlyElementsOf(shards);
	}

	@Test
	default void readingEverythingAgainIsNoLoss() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);
		a.news();

		HeartbeatReply.Alive reply = a.beat(new Seen(a.seen().history(), 0), true);

		assertThat(reply.lost()).isFalse();
		assertThat(reply.changes()).containsExactly(group().shard(FIRST));
		assertThat(reply.history()).isEqualTo(a.seen().history());
		assertThat(a.beat().lost()).isFalse();
	}

	@Test
	default void lostAnswerIsNoLossOfWrites() {
		TestMember a = group().join("a").lead();
		a.news();
		a.assign(FIRST, a);
		a.beat();

		assertThat(a.beat().lost()).isFalse();
		assertThat(a.news()).containsExactly(group().shard(FIRST));
	}

	@Test
	default void newGroupHasALaterHistory() {
		TestMember a = group().join("a").lead();
		long history = a.beat().history();
		group().advance(Duration.ofMillis(1));
		group().server().empty();
		a.join(LONG, LONG);

		assertThat(a.beat(new Seen(history, 0), true).lost()).isTrue();
		assertThat(a.beat(Seen.NOTHING, true).history()).isGreaterThan(history);
	}

}
