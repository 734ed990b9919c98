package io.github.shardkeeper.coordination.store;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static io.github.shardkeeper.coordination.store.TestGroup.SHORT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * New groups after the store was emptied, and claims of members that still hold shards.
 */
interface ClaimStories extends GroupStories {

	@Test
	default void newGroupAssignsNothingForALease() {
		group().server().empty();
		TestMember a = group().join("a").lead();
		long joined = a.beat().serverTimeMillis();

		assertThat(a.plan(new Transition.Assign(FIRST, 0, a.id()))).isEqualTo(new PlanReply.Applied(0, 1));

		assertThat(group().all().ownerships()).isEmpty();
		assertThat(a.beat().claimsUntilMillis()).isBetween(joined + LONG.toMillis() - SHORT.toMillis() * 100,
				joined + LONG.toMillis());
	}

	@Test
	default void shardsAreAssignedAfterTheTimeForClaims() {
		TestMember b = leaderOfAGroupThatHasBegunWithAShortLease();
		long until = b.beat().claimsUntilMillis();
		Transition assignment = new Transition.Assign(FIRST, 0, b.id());
		group().advance(SHORT);
		assertThat(b.plan(assignment)).as("the store's clock alone proves nothing")
			.isEqualTo(new PlanReply.Applied(0, 1));

		assertThat(b.endClaims(until)).isEqualTo(EndClaimsReply.ENDED);

		assertThat(b.endClaims(until)).as("repeated").isEqualTo(EndClaimsReply.ENDED);
		assertThat(b.beat().claimsUntilMillis()).isZero();
		assertThat(b.plan(assignment)).isEqualTo(new PlanReply.Applied(1, 0));
	}

	@Test
	default void onlyTheLeaderEndsTheTimeForClaims() {
		group().server().empty();
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		long until = a.beat().claimsUntilMillis();

		assertThat(b.endClaims(until)).isEqualTo(EndClaimsReply.DEPOSED);

		assertThat(a.beat().claimsUntilMillis()).isEqualTo(until);
	}

	@Test
	@Promise("One consumer")
	default void restartedTimeForClaimsIsNotEnded() {
		TestMember b = leaderOfAGroupThatHasBegunWithAShortLease();
		long until = b.beat().claimsUntilMillis();
		group().advance(SHORT);

		assertThat(b.claim(new Ownership(FIRST, Phase.OWNED, new Token(1), b.id(), null, 0, 0, 0)))
			.containsExactly(FIRST);

		assertLastsAnHour(b.beat());
		assertThat(b.endClaims(until)).isEqualTo(EndClaimsReply.OPEN);
		assertLastsAnHour(b.beat());
	}

	@Test
	default void shardFreedDuringClaimsIsQuiet() {
		TestMember b = leaderOfAGroupThatHasBegunWithAShortLease();
		b.claim(new Ownership(FIRST, Phase.OWNED, new Token(1), b.id(), null, 0, 0, 0));
		group().advance(SHORT);

		b.release(FIRST);

		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.QUIET);
	}

	private TestMember leaderOfAGroupThatHasBegunWithAShortLease() {
		group().server().empty();
		group().join("a", SHORT, LONG);
		return group().join("b").elected();
	}

	@Test
	default void onlyTheFirstJoinStartsTheTimeForClaims() {
		TestMember a = group().join("a").lead();

		assertThat(a.beat().claimsUntilMillis()).isZero();
	}

	@Test
	default void holderKeepsItsShardUnderItsToken() {
		TestMember a = group().join("a").lead();
		Ownership held = a.assign(FIRST, a);
		group().server().empty();
		a.assertExpired();
		TestMember b = group().join("b");

		assertThat(b.claim(held)).containsExactly(FIRST);

		Ownership kept = group().shard(FIRST);
		assertThat(kept.phase()).isEqualTo(Phase.OWNED);
		assertThat(kept.owner()).isEqualTo(b.id());
		assertThat(kept.token()).isEqualTo(held.token());
		assertThat(b.news()).containsExactly(kept);
	}

	@Test
	default void claimCanBeRepeated() {
		TestMember a = group().join("a").lead();
		Ownership owned = a.assign(FIRST, a);
		Ownership revoking = a.assign(SECOND, a);
		a.revoke(SECOND, null);
		long generation = group().all().generation();

		assertThat(a.claim(owned, revoking)).containsExactly(FIRST, SECOND);

		assertThat(group().all().generation()).isEqualTo(generation);
	}

	@Test
	default void claimReplacesAnOlderOwnership() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		Ownership old = a.assign(FIRST, b);
		a.revoke(FIRST, c);
		Ownership newer = withToken(old, old.token().value() + 1_000_000_000L);

		assertThat(a.claim(newer)).containsExactly(FIRST);

		assertThat(group().shard(FIRST).owner()).isEqualTo(a.id());
		assertThat(group().shard(FIRST).target()).isNull();
		assertThat(group().shard(FIRST).token()).isEqualTo(newer.token());
		assertThat(a.news()).containsExactly(group().shard(FIRST));
		assertThat(c.news()).isEmpty();
		assertThat(b.release(old, Token.NONE)).isEqualTo(ReleaseReply.STALE);
	}

	@Test
	@Promise("One consumer")
	default void replacedOwnerIsNotified() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership old = a.assign(FIRST, b);
		b.assertNotified();
		assertThat(b.news()).containsExactly(old);

		a.claim(withToken(old, old.token().value() + 1_000_000_000L));
		b.assertNotified();

		assertThat(b.news()).as("owned by another member now").containsExactly(group().shard(FIRST));
		assertThat(b.beat(new Seen(b.seen().history(), 0), false).changes()).as("also in a complete reply")
			.containsExactly(group().shard(FIRST));
	}

	@Test
	default void replacedOwnerThatGetsTheShardBackReadsItOnce() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership old = a.assign(FIRST, b);
		a.claim(withToken(old, old.token().value() + 1_000_000_000L));

		b.claim(withToken(old, old.token().value() + 2_000_000_000L));

		Ownership back = group().shard(FIRST);
		assertThat(back.owner()).isEqualTo(b.id());
		assertThat(b.news()).containsExactly(back);
		assertThat(a.news()).containsExactly(back);
		b.release(FIRST);
		assertThat(b.news()).as("no longer").isEmpty();
	}

	@Test
	default void replacedOwnerLeavesNothingBehind() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership old = a.assign(FIRST, b);
		a.claim(withToken(old, old.token().value() + 1_000_000_000L));
		Ownership claimed = group().shard(FIRST);

		b.leave();

		assertThat(group().shard(FIRST)).isEqualTo(claimed);
		b.join(LONG, LONG);
		assertThat(b.news()).isEmpty();
	}

	@Test
	@Promise("One consumer")
	default void claimDoesNotReplaceANewerOwnership() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership now = a.assign(FIRST, b);
		a.assign(SECOND, a);
		a.release(SECOND);
		Ownership free = group().shard(SECOND);

		assertThat(a.claim(now, withToken(now, now.token().value() - 1), free)).isEmpty();

		assertThat(group().shard(FIRST)).isEqualTo(now);
		assertThat(group().shard(SECOND)).isEqualTo(free);
	}

	@Test
	default void unknownMemberIsGrantedNothing() {
		TestMember a = group().join("a").lead();
		Ownership held = a.assign(FIRST, a);
		group().server().empty();
		group().join("b");

		assertThat(a.claim(held)).isEmpty();

		assertThat(group().all().ownerships()).isEmpty();
	}

	@Test
	@Promise("Tokens never repeat")
	default void nextTokenIsAboveClaimedTokens() {
		TestMember a = group().join("a", SHORT, LONG).lead();
		Ownership held = a.assign(FIRST, a);
		Ownership ahead = withToken(held, held.token().value() + 1_000_000_000_000L);
		group().join("b", SHORT, LONG).claim(ahead);
		group().advance(SHORT);
		a.lead();

		assertThat(a.assign(SECOND, a).token()).isGreaterThan(ahead.token());
	}

	/** Others may hold shards of which no more is known than of these. */
	@Test
	@Promise("One consumer")
	default void claimOfAnUnknownShardStartsTheTimeForClaims() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		assertThat(b.beat().claimsUntilMillis()).isZero();
		Ownership held = new Ownership(FIRST, Phase.OWNED, new Token(1), b.id(), null, 0, 0, 0);

		b.claim(held);
		long until = b.beat().claimsUntilMillis();
		assertThat(until).isPositive();
		assertThat(a.plan(new Transition.Assign(SECOND, 0, a.id()))).isEqualTo(new PlanReply.Applied(0, 1));

		group().advance(SHORT);
		b.claim(held);
		b.claim(withToken(held, 2));
		assertThat(b.beat().claimsUntilMillis()).as("once").isEqualTo(until);
	}

	/** A holder of a shard under it may not be heard before it ends. */
	@Test
	@Promise("One consumer")
	default void timeForClaimsLastsForTheLongestLease() {
		TestMember a = group().join("a", SHORT, LONG);
		group().join("b");
		Ownership held = new Ownership(FIRST, Phase.OWNED, new Token(1), a.id(), null, 0, 0, 0);

		a.claim(held);

		assertLastsAnHour(a.beat());
	}

	@Test
	default void newGroupWaitsForALongerLeaseThatItsFirstMemberKnows() {
		group().server().empty();
		TestMember a = group().stranger("a");
		a.join(SHORT, LONG, LONG);

		assertLastsAnHour(a.beat());
	}

	@Test
	default void newGroupWaitsForALongerLeaseThatALaterMemberKnows() {
		group().server().empty();
		TestMember a = group().join("a", LONG.dividedBy(2), LONG);
		assertThat(a.beat().longestLeaseMillis()).isEqualTo(LONG.toMillis() / 2);

		group().stranger("b").join(SHORT, LONG, LONG);

		assertLastsAnHour(a.beat());
		assertThat(a.beat().longestLeaseMillis()).isEqualTo(LONG.toMillis());
	}

	@Test
	default void memberThatNoticesLostWritesReportsLongerLeases() {
		TestMember a = group().join("a", LONG.dividedBy(2), LONG).lead();
		Object before = group().server().snapshot();
		group().join("b");
		a.assign(FIRST, a);
		a.news();
		assertThat(a.seen().longestLeaseMillis()).isEqualTo(LONG.toMillis());
		group().server().loseWritesSince(before);

		HeartbeatReply.Alive reply = a.beat();

		assertThat(reply.lost()).isTrue();
		assertLastsAnHour(reply);
	}

	@Test
	default void longLeaseIsForgottenWithItsMember() {
		TestMember b = group().join("b").lead();
		TestMember a = group().join("a", SHORT, LONG);
		assertThat(a.beat().longestLeaseMillis()).isEqualTo(LONG.toMillis());
		b.leave();

		group().join("c", SHORT, LONG);

		assertThat(a.beat().longestLeaseMillis()).isEqualTo(SHORT.toMillis());
	}

	private static void assertLastsAnHour(HeartbeatReply.Alive reply) {
		assertThat(reply.claimsUntilMillis() - reply.serverTimeMillis())
			.isBetween(LONG.toMillis() - SHORT.toMillis() * 100, LONG.toMillis());
	}

	@Test
	default void leaderIsNotifiedOfClaims() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();
		Ownership held = new Ownership(FIRST, Phase.OWNED, new Token(1), b.id(), null, 0, 0, 0);

		b.claim(held, withToken(held, 2));
		a.assertNotified();

		b.claim(held);
		a.assertNotNotified();
		b.assertNotNotified();
	}

	@Test
	default void shardReleasedDuringClaimsIsQuietUntilTheirEnd() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Ownership first = a.assign(FIRST, a);
		Ownership second = a.assign(SECOND, a);
		group().server().empty();
		a.join(LONG, LONG);
		b.join(LONG, LONG);
		a.claim(first, second);
		a.lead();
		a.revoke(FIRST, b);

		a.release(FIRST);
		a.release(second, Token.NONE);

		HeartbeatReply.Alive reply = a.beat();
		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.QUIET);
		assertThat(group().shard(FIRST).target()).isEqualTo(b.id());
		assertThat(group().shard(FIRST).untilMillis()).isEqualTo(reply.claimsUntilMillis()).isPositive();
		assertThat(group().shard(SECOND).phase()).isEqualTo(Phase.QUIET);
		assertThat(group().shard(SECOND).target()).isNull();
	}

	@Test
	default void manyShardsAreClaimedAndReleased() {
		TestMember a = group().join("a").lead();
		Map<ShardId, Token> held = new LinkedHashMap<>();
		IntStream.range(0, 1_200).forEach((i) -> held.put(ShardId.of("many", i), new Token(1 + i)));

		assertThat(group().store().claimShards(a.id(), held).granted()).containsExactlyElementsOf(held.keySet());

		assertThat(a.news()).extracting(Ownership::shard).containsExactlyElementsOf(held.keySet());
	}

	private static Ownership withToken(Ownership shard, long token) {
		return new Ownership(shard.shard(), shard.phase(), new Token(token), shard.owner(), shard.target(),
				shard.generation(), shard.sinceMillis(), shard.untilMillis());
	}

}
