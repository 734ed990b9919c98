package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Concurrently;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Releases, and the next owners of the shards.
 */
interface ReleaseStories extends GroupStories {

	@Test
	default void releasedShardGoesToItsTarget() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		a.assign(FIRST, b);
		b.news();
		Ownership revoking = a.revoke(FIRST, c);
		assertThat(b.news()).containsExactly(revoking);
		assertThat(c.news()).containsExactly(revoking);

		assertThat(b.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);

		Ownership moved = group().shard(FIRST);
		assertThat(moved.phase()).isEqualTo(Phase.OWNED);
		assertThat(moved.owner()).isEqualTo(c.id());
		assertThat(moved.target()).isNull();
		assertThat(moved.token()).isGreaterThan(revoking.token());
		assertThat(moved.generation()).isEqualTo(revoking.generation() + 1);
		assertThat(b.news()).isEmpty();
		assertThat(c.news()).containsExactly(moved);
	}

	@Test
	default void releasedShardWithoutTargetIsFree() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		Ownership revoking = a.revoke(FIRST, null);

		assertThat(b.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);

		Ownership free = group().shard(FIRST);
		assertThat(free.phase()).isEqualTo(Phase.FREE);
		assertThat(free.owner()).isNull();
		assertThat(free.target()).isNull();
		assertThat(free.token()).isEqualTo(revoking.token());
		assertThat(free.generation()).isEqualTo(revoking.generation() + 1);
		assertThat(a.assign(FIRST, b).token()).isGreaterThan(free.token());
	}

	@Test
	default void ownerCanReleaseWithoutRevocation() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);

		assertThat(a.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
	}

	@Test
	default void shardCanReturnToItsOwner() {
		TestMember a = group().join("a").lead();
		Token before = a.assign(FIRST, a).token();
		a.revoke(FIRST, a);

		assertThat(a.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);

		Ownership back = group().shard(FIRST);
		assertThat(back.phase()).isEqualTo(Phase.OWNED);
		assertThat(back.owner()).isEqualTo(a.id());
		assertThat(back.token()).isGreaterThan(before);
		assertThat(a.news()).containsExactly(back);
	}

	@Test
	default void releaseCanBeRepeated() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, b);
		a.revoke(FIRST, a);
		b.release(owned, Token.NONE);
		Ownership moved = group().shard(FIRST);

		assertThat(b.release(owned, Token.NONE)).isEqualTo(ReleaseReply.STALE);

		assertThat(group().shard(FIRST)).isEqualTo(moved);
		assertThat(a.news()).containsExactly(moved);
	}

	@Test
	default void releaseOfAnEarlierOwnershipIsStale() {
		TestMember a = group().join("a").lead();
		Ownership earlier = a.assign(FIRST, a);
		a.release(FIRST);
		Ownership later = a.assign(FIRST, a);

		assertThat(a.release(earlier, Token.NONE)).isEqualTo(ReleaseReply.STALE);

		assertThat(group().shard(FIRST)).isEqualTo(later);
	}

	@Test
	default void onlyTheOwnerCanRelease() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, a);

		assertThat(b.release(owned, Token.NONE)).isEqualTo(ReleaseReply.STALE);
		assertThat(
				group().store()
					.releaseShards(a.id(), List
						.of(new HoldingAction.Release(ShardId.of("unknown", 1), owned.token(), Token.NONE, false)),
							Duration.ZERO))
			.containsExactly(ReleaseReply.STALE);

		a.revoke(FIRST, b);
		assertThat(b.release(FIRST)).as("by the target").isEqualTo(ReleaseReply.STALE);
		assertThat(group().shard(FIRST).owner()).isEqualTo(a.id());
	}

	@Test
	default void targetThatIsGoneGetsNothing() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.revoke(FIRST, b);
		b.leave();

		assertThat(a.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
		assertThat(group().shard(FIRST).target()).isNull();
	}

	@Test
	default void leavingTargetGetsNothing() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.revoke(FIRST, b);
		b.announceLeave();

		assertThat(a.release(FIRST)).isEqualTo(ReleaseReply.RELEASED);

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
		assertThat(b.news()).isEmpty();
	}

	@Test
	@Promise("Tokens never repeat")
	default void tokenOfTheTargetIsAboveTheFloor() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, a);
		a.revoke(FIRST, b);
		Token floor = ahead(owned.token());

		a.release(owned, floor);

		assertThat(group().shard(FIRST).token()).isGreaterThan(floor);
		assertThat(a.assign(SECOND, a).token()).isGreaterThan(group().shard(FIRST).token());
	}

	@Test
	default void nextTokenOfAFreeShardIsAboveTheFloor() {
		TestMember a = group().join("a").lead();
		Ownership owned = a.assign(FIRST, a);
		Token floor = ahead(owned.token());

		a.release(owned, floor);

		assertThat(a.assign(FIRST, a).token()).isGreaterThan(floor);
	}

	@Test
	default void lowerFloorChangesNothing() {
		TestMember a = group().join("a").lead();
		Ownership owned = a.assign(FIRST, a);
		Token later = a.assign(SECOND, a).token();

		a.release(owned, owned.token());

		assertThat(a.assign(FIRST, a).token()).isGreaterThan(later);
	}

	@Test
	default void oneOfManyConcurrentReleasesCounts() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership owned = a.assign(FIRST, a);
		a.revoke(FIRST, b);
		long generation = group().all().generation();

		List<ReleaseReply> replies = Concurrently.map(IntStream.range(0, 32).boxed().toList(),
				(i) -> a.release(owned, Token.NONE));

		assertThat(replies).containsOnlyOnce(ReleaseReply.RELEASED);
		assertThat(group().all().generation()).isEqualTo(generation + 1);
	}

	/** A token that a store with a clock well ahead might have given. */
	private static Token ahead(Token token) {
		return new Token(token.value() + 1_000_000_000_000L);
	}

}
