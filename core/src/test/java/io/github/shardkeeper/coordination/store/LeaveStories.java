package io.github.shardkeeper.coordination.store;

import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Members that leave: the announcement comes first, the end of the session last.
 */
interface LeaveStories extends GroupStories {

	@Test
	default void memberThatAnnouncedItsLeaveIsListedAsLeaving() {
		TestMember a = group().join("a");
		TestMember b = group().join("b");
		long membership = group().all().membership();

		b.announceLeave();

		assertThat(group().all().members()).containsExactlyInAnyOrder(a.entry(false), b.entry(true));
		assertThat(group().all().membership()).isGreaterThan(membership);
	}

	@Test
	default void memberThatAnnouncedItsLeaveKeepsItsShards() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, b);

		b.announceLeave();
		b.announceLeave();

		assertThat(b.news()).containsExactly(owned);
		assertThat(group().shard(FIRST)).isEqualTo(owned);
		a.revoke(FIRST, a);
		assertThat(b.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);
		assertThat(group().shard(FIRST).owner()).isEqualTo(a.id());
	}

	@Test
	default void leaveEndsTheSession() {
		TestMember a = group().join("a");
		TestMember b = group().join("b");
		long membership = group().all().membership();

		b.leave();

		b.assertExpired();
		assertThat(group().all().members()).containsExactly(a.entry(false));
		assertThat(group().all().membership()).isGreaterThan(membership);
	}

	@Test
	default void shardsOfALeavingMemberAreFree() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, b);
		a.assign(SECOND, b);
		a.revoke(SECOND, null);
		Ownership others = a.assign(THIRD, a);

		b.leave();

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
		assertThat(group().shard(FIRST).owner()).isNull();
		assertThat(group().shard(FIRST).token()).isEqualTo(owned.token());
		assertThat(group().shard(SECOND).phase()).isEqualTo(Phase.FREE);
		assertThat(group().shard(THIRD)).isEqualTo(others);
		assertThat(b.release(owned, Token.NONE)).isEqualTo(ReleaseReply.STALE);
	}

	@Test
	default void revokedShardOfALeavingMemberGoesToItsTarget() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		a.assign(FIRST, b);
		Ownership revoking = a.revoke(FIRST, c);

		b.leave();

		Ownership moved = group().shard(FIRST);
		assertThat(moved.phase()).isEqualTo(Phase.OWNED);
		assertThat(moved.owner()).isEqualTo(c.id());
		assertThat(moved.token()).isGreaterThan(revoking.token());
		assertThat(c.news()).containsExactly(moved);
	}

	@Test
	default void shardWithALeavingTargetIsFree() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		a.revoke(FIRST, b);

		b.leave();

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
	}

	@Test
	default void leaveCanBeRepeatedAndIgnoresUnknownMembers() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);
		TestMember b = group().join("b");
		b.leave();
		GroupChanges before = group().all();

		b.leave();
		b.announceLeave();
		TestMember stranger = group().stranger("c");
		stranger.announceLeave();
		stranger.leave();

		assertThat(group().all()).isEqualTo(before);
	}

	@Test
	default void leaderFreesTheRemainingShardsOfALeavingMember() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.plan(IntStream.range(0, 1_200)
			.mapToObj((i) -> new Transition.Assign(ShardId.of("many", i), 0, b.id()))
			.toArray(Transition[]::new));

		b.leave();

		b.assertExpired();
		assertThat(group().all().members()).containsExactly(a.entry(false));
		assertThat(countFree()).isBetween(1L, 1_199L);
		assertThat(a.beat().earliestLeaseEndMillis()).as("to look at once").isZero();
		a.reapToTheEnd();
		assertThat(countFree()).isEqualTo(1_200);
		assertThat(a.beat().earliestLeaseEndMillis()).isPositive();
	}

	private long countFree() {
		return group().all().ownerships().stream().filter((shard) -> shard.phase() == Phase.FREE).count();
	}

	@Test
	default void lastMemberLeavesOnlyFreeShards() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);

		a.leave();

		GroupChanges all = group().all();
		assertThat(all.leader()).isNull();
		assertThat(all.members()).isEmpty();
		assertThat(all.ownerships()).extracting(Ownership::phase).containsExactly(Phase.FREE);
		TestMember next = group().join("b").lead();
		assertThat(next.epoch()).isEqualTo(2);
		assertThat(next.assign(FIRST, next).token()).isGreaterThan(all.ownerships().get(0).token());
	}

}
