package io.github.shardkeeper.coordination.store;

import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.ClaimReply;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static io.github.shardkeeper.coordination.store.TestGroup.SHORT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Shards that members present whose leases have ended before the store lost its data.
 */
@Promise("State exactly once")
interface PresentStories extends GroupStories {

	@Test
	default void memberTakesBackItsShardAfterItsLeaseEnded() {
		TestMember a = group().join("a").lead();
		Ownership held = a.assign(FIRST, a);
		group().server().empty();
		TestMember b = group().join("b");

		assertThat(b.present(held)).isEqualTo(new ClaimReply(Set.of(FIRST), Set.of()));

		Ownership kept = group().shard(FIRST);
		assertThat(kept.phase()).isEqualTo(Phase.OWNED);
		assertThat(kept.owner()).isEqualTo(b.id());
		assertThat(kept.token()).isEqualTo(held.token());
		assertThat(b.news()).containsExactly(kept);
		assertThat(b.beat().claimsUntilMillis()).isPositive();
	}

	@Test
	default void presentationCanBeRepeated() {
		TestMember a = group().join("a").lead();
		Ownership held = a.assign(FIRST, a);
		group().server().empty();
		TestMember b = group().join("b");
		b.present(held);
		long generation = group().all().generation();
		long until = b.beat().claimsUntilMillis();
		group().advance(SHORT);

		assertThat(b.present(held).granted()).containsExactly(FIRST);

		assertThat(group().all().generation()).isEqualTo(generation);
		assertThat(b.beat().claimsUntilMillis()).isEqualTo(until);
	}

	@Test
	default void highestPresentedTokenWins() {
		TestMember a = group().join("a").lead();
		Ownership older = a.assign(FIRST, a);
		Ownership newer = withToken(older, older.token().value() + 1);
		group().server().empty();
		group().advance(SHORT);
		a.join(LONG, LONG);
		TestMember b = group().join("b");
		assertThat(a.present(older).granted()).containsExactly(FIRST);
		a.news();

		assertThat(b.present(newer).granted()).containsExactly(FIRST);

		assertThat(group().shard(FIRST).owner()).isEqualTo(b.id());
		assertThat(a.news()).as("is told").containsExactly(group().shard(FIRST));
		assertThat(a.present(older)).as("had moved on before").isEqualTo(ClaimReply.NONE);
	}

	@Test
	default void everyPresentationRestartsTheTimeForClaims() {
		TestMember a = group().join("a").lead();
		Ownership first = a.assign(FIRST, a);
		Ownership second = a.assign(SECOND, a);
		group().server().empty();
		TestMember b = group().join("b");
		b.present(first);
		long until = b.beat().claimsUntilMillis();
		group().advance(SHORT);

		group().join("c").present(second);

		assertThat(b.beat().claimsUntilMillis()).isGreaterThanOrEqualTo(until + SHORT.toMillis());
	}

	@Test
	default void shardAssignedToAnotherMemberSinceIsSuperseded() {
		TestMember a = group().join("a").lead();
		Ownership held = a.assign(FIRST, a);
		group().server().empty();
		group().advance(SHORT);
		TestMember heir = group().join("heir", SHORT, LONG);
		group().advance(SHORT);
		heir.lead();
		Ownership now = heir.assign(FIRST, heir);
		TestMember b = group().join("b");

		assertThat(b.present(held)).isEqualTo(new ClaimReply(Set.of(), Set.of(FIRST)));
		assertThat(b.claim(held)).as("also under a lease").isEmpty();

		assertThat(group().shard(FIRST)).isEqualTo(now);
	}

	@Test
	default void nothingIsTakenFromAMemberThatPresentedInTime() {
		TestMember a = group().join("a").lead();
		Ownership older = a.assign(FIRST, a);
		Ownership newer = withToken(older, older.token().value() + 1);
		group().server().empty();
		group().advance(SHORT);
		TestMember b = group().join("b", SHORT, LONG);
		b.present(older);
		group().advance(SHORT);
		b.lead();
		Ownership kept = group().shard(FIRST);
		TestMember c = group().join("c", SHORT, LONG);

		assertThat(c.present(newer)).isEqualTo(new ClaimReply(Set.of(), Set.of(FIRST)));

		assertThat(group().shard(FIRST)).isEqualTo(kept);
	}

	@Test
	default void nothingIsTakenBackThatAnotherMemberHasReleased() {
		TestMember a = group().join("a").lead();
		Ownership older = a.assign(FIRST, a);
		Ownership newer = withToken(older, older.token().value() + 1);
		group().server().empty();
		group().advance(SHORT);
		TestMember b = group().join("b", SHORT, LONG);
		b.present(older);
		group().advance(SHORT);
		b.lead();
		b.release(FIRST);
		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);

		assertThat(group().join("c", SHORT, LONG).present(newer)).isEqualTo(new ClaimReply(Set.of(), Set.of(FIRST)));
	}

	@Test
	default void memberWhoseSessionEndsBeforeItConsumesCanPresentAgain() {
		TestMember a = group().join("a").lead();
		Ownership held = a.assign(FIRST, a);
		group().server().empty();
		group().advance(SHORT);
		TestMember b = group().join("b");
		b.present(held);
		b.leave();
		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.QUIET);
		TestMember c = group().join("c");

		assertThat(c.present(held).granted()).containsExactly(FIRST);
		assertThat(c.news()).containsExactly(group().shard(FIRST));
	}

	@Test
	default void shardReapedInThisHistoryIsNotTakenBack() {
		TestMember a = group().join("a").lead();
		Ownership held = a.assign(FIRST, a);
		Ownership rests = a.assign(SECOND, a);
		Ownership completed = a.assign(THIRD, a);
		a.release(SECOND, LONG);
		a.complete(THIRD);
		a.leave();
		TestMember b = group().join("b");

		assertThat(b.present(held, rests, completed)).isEqualTo(ClaimReply.NONE);
		assertThat(b.news()).isEmpty();
	}

	/** Only a limited number of shards is freed at once. */
	@Test
	default void shardBeingReapedIsNotTakenBack() {
		TestMember a = group().join("a").lead();
		a.plan(IntStream.range(0, 200)
			.mapToObj((i) -> new Transition.Assign(ShardId.of("many", i), 0, a.id()))
			.toArray(Transition[]::new));
		Ownership[] held = group().all().ownerships().toArray(Ownership[]::new);
		assertThat(held).hasSize(200);
		a.leave();
		assertThat(group().all().ownerships()).anyMatch((shard) -> a.id().equals(shard.owner()));

		assertThat(group().join("b").present(held)).isEqualTo(ClaimReply.NONE);
	}

	@Test
	default void completedShardIsNotTakenBackInANewHistory() {
		TestMember a = group().join("a").lead();
		Ownership held = a.assign(FIRST, a);
		group().server().empty();
		group().advance(SHORT);
		TestMember b = group().join("b");
		b.present(held);
		b.complete(FIRST);

		assertThat(group().join("c").present(held, withToken(held, held.token().value() + 1)))
			.isEqualTo(ClaimReply.NONE);
	}

	@Test
	default void unknownMemberTakesNothingBack() {
		TestMember a = group().join("a").lead();
		Ownership held = a.assign(FIRST, a);
		group().server().empty();
		group().join("b");

		assertThat(a.present(held)).isEqualTo(ClaimReply.NONE);
		assertThat(group().all().ownerships()).isEmpty();
	}

	@Test
	default void nextTokenIsAbovePresentedTokens() {
		TestMember a = group().join("a", SHORT, LONG).lead();
		Ownership held = new Ownership(FIRST, Phase.OWNED,
				new Token(a.assign(FIRST, a).token().value() + 1_000_000_000_000L), MemberId.of("a", "1"), null, 0, 0,
				0);
		a.present(held);
		group().advance(SHORT);
		a.lead();

		assertThat(a.assign(SECOND, a).token()).isGreaterThan(held.token());
	}

	private static Ownership withToken(Ownership shard, long token) {
		return new Ownership(shard.shard(), shard.phase(), new Token(token), shard.owner(), shard.target(),
				shard.generation(), shard.sinceMillis(), shard.untilMillis());
	}

}
