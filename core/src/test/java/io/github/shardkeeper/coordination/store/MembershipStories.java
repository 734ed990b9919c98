package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership.Phase;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static io.github.shardkeeper.coordination.store.TestGroup.SHORT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Joins and heartbeats of known and unknown members.
 */
interface MembershipStories extends GroupStories {

	@Test
	default void usableStoreIsVerified() {
		assertThatNoException().isThrownBy(group().store()::verify);
	}

	@Test
	default void newGroupIsEmpty() {
		GroupChanges all = group().all();

		assertThat(all.leader()).isNull();
		assertThat(all.epoch()).isZero();
		assertThat(all.generation()).isZero();
		assertThat(all.members()).isEmpty();
		assertThat(all.ownerships()).isEmpty();
	}

	@Test
	default void memberIsListedWithItsDescription() {
		TestMember a = group().join("a");
		TestMember b = group().join("b");

		assertThat(group().all().members()).containsExactly(a.entry(false), b.entry(false));
	}

	@Test
	default void updatedDescriptionIsListed() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();
		b.announceLeave();
		a.assertNotified();
		MemberDescription changed = TestGroup.describe("changed");
		group().store().updateDescription(b.id(), changed);

		assertThat(group().all().members()).containsExactly(a.entry(false), new GroupMember(b.id(), changed, true));
		a.assertNotified();
		assertThat(a.beat().membership()).isEqualTo(group().all().membership());
	}

	@Test
	default void descriptionOfAnUnknownMemberIsIgnored() {
		TestMember a = group().join("a").lead();
		long membership = group().all().membership();
		group().store().updateDescription(group().stranger("b").id(), TestGroup.describe("b"));

		assertThat(group().all().members()).containsExactly(a.entry(false));
		assertThat(group().all().membership()).isEqualTo(membership);
		a.assertNotNotified();
	}

	@Test
	default void updatedDescriptionDoesNotRenewTheLease() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, SHORT);
		group().advance(SHORT);
		group().store().updateDescription(b.id(), TestGroup.describe("changed"));

		assertThat(a.reap().timedOut()).containsExactly(b.id());
	}

	@Test
	default void joinedMemberIsAlive() {
		TestMember a = group().join("a");

		HeartbeatReply.Alive reply = a.beat();

		assertThat(reply.leader()).isNull();
		assertThat(reply.leaderLeaseEndMillis()).isZero();
		assertThat(reply.epoch()).isZero();
		assertThat(reply.generation()).isZero();
		assertThat(reply.membership()).isEqualTo(group().all().membership());
		assertThat(reply.changes()).isEmpty();
		assertThat(reply.hasMore()).isFalse();
	}

	@Test
	default void unknownMemberIsExpired() {
		group().join("a");

		group().stranger("b").assertExpired();
	}

	@Test
	default void joinCanBeRepeated() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);

		a.join(LONG, LONG);

		assertThat(group().all().members()).containsExactly(a.entry(false));
		assertThat(a.beat().leader()).isEqualTo(a.id());
		assertThat(a.news()).containsExactly(group().shard(FIRST));
		a.leave();
		assertThat(group().shard(FIRST).phase()).isEqualTo(Phase.FREE);
	}

	@Test
	default void heartbeatRenewsTheLease() {
		TestMember a = group().join("a");
		HeartbeatReply.Alive before = a.beat();
		group().advance(SHORT);

		HeartbeatReply.Alive after = a.beat();

		assertThat(after.serverTimeMillis()).isGreaterThanOrEqualTo(before.serverTimeMillis() + SHORT.toMillis());
		assertThat(before.earliestLeaseEndMillis()).isEqualTo(before.serverTimeMillis() + LONG.toMillis());
		assertThat(after.earliestLeaseEndMillis()).isEqualTo(after.serverTimeMillis() + LONG.toMillis());
	}

	@Test
	default void heartbeatReturnsWhetherTheSubscriptionIsSeen() {
		TestMember a = group().join("a");
		TestMember b = group().join("b");
		assertThat(a.beat().subscribed()).isTrue();

		b.disconnect();

		// That a subscription was closed may take a moment to be known.
		for (int beats = 0; b.beat().subscribed() && beats < 5_000; beats++) {
			group().advance(Duration.ofMillis(1));
		}
		assertThat(b.beat().subscribed()).isFalse();
		assertThat(a.beat().subscribed()).isTrue();
	}

	@Test
	default void heartbeatReturnsTheEarliestLeaseEnd() {
		TestMember a = group().join("a");
		TestMember b = group().join("b", SHORT, LONG);

		long lastBeat = b.beat().serverTimeMillis();
		group().advance(SHORT);

		assertThat(a.beat().earliestLeaseEndMillis()).isEqualTo(lastBeat + SHORT.toMillis());
	}

	@Test
	default void silentMemberThatWasNotReapedResumesInPlace() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		long token = a.assign(FIRST, b).token().value();
		group().advance(SHORT.multipliedBy(2));

		assertThat(b.news()).singleElement().satisfies((shard) -> {
			assertThat(shard.phase()).isEqualTo(Phase.OWNED);
			assertThat(shard.token().value()).isEqualTo(token);
		});
	}

	@Test
	default void silentMemberIsReadWithTheEndOfItsLease() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, LONG);
		a.assign(FIRST, b);
		long lastBeat = b.beat().serverTimeMillis();
		long membership = group().all().membership();
		group().advance(SHORT);

		GroupChanges later = group().store().readChanges(group().all().generation(), membership);

		assertThat(later.silent()).containsExactly(Map.entry(b.id(), lastBeat + SHORT.toMillis()));
		assertThat(later.members()).as("unchanged").isNull();
		b.join(LONG, LONG);
		assertThat(group().all().silent()).isEmpty();
	}

	@Test
	default void memberWhoseSessionIsOverIsNotSilent() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b", SHORT, SHORT);
		a.assign(FIRST, b);
		group().advance(SHORT);
		assertThat(group().all().silent()).containsOnlyKeys(b.id());

		a.reap();

		assertThat(group().all().silent()).isEmpty();
	}

	@Test
	default void heartbeatReturnsOnlyUnseenChanges() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		assertThat(b.news()).containsExactly(group().shard(FIRST));
		assertThat(b.news()).isEmpty();

		a.assign(SECOND, b);
		a.assign(THIRD, a);
		a.revoke(FIRST, null);

		assertThat(b.news()).containsExactly(group().shard(SECOND), group().shard(FIRST));
		assertThat(b.news()).isEmpty();
	}

}
