package io.github.shardkeeper.coordination.store;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Topics that no member consumes any more.
 */
@Promise("Automatic recovery")
interface ForgetStories extends GroupStories {

	String TOPIC = THIRD.topic();

	@Test
	default void unusedTopicIsForgottenCompletely() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);
		Ownership past = a.assign(THIRD, a);
		a.assign(ShardId.of(TOPIC, 2), a);
		a.complete(ShardId.of(TOPIC, 2));
		a.release(THIRD);
		a.news();

		ForgetReply reply = forget();

		assertThat(reply.forgotten()).isEqualTo(2);
		assertThat(reply.users()).isEmpty();
		assertThat(reply.newest()).isGreaterThanOrEqualTo(past.token());
		assertThat(group().all().ownerships()).containsExactly(group().shard(FIRST));
		assertThat(a.news()).isEmpty();
		assertThat(a.beat(new Seen(a.seen().history(), 0), true).changes()).extracting(Ownership::shard)
			.containsExactly(FIRST);
		assertThat(forget()).isEqualTo(new ForgetReply(0, reply.newest(), new TreeSet<>()));
	}

	/** Its owner may not have claimed them yet. */
	@Test
	default void nothingIsForgottenDuringClaims() {
		group().server().empty();
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this::forget);
		TestMember a = group().join("a");

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this::forget)
			.withMessageContaining(TOPIC)
			.withMessageContaining("claim");

		Ownership held = new Ownership(THIRD, Phase.OWNED, new Token(1), a.id(), null, 0, 0, 0);
		assertThat(a.claim(held)).containsExactly(THIRD);
	}

	@Test
	default void leaderIsNotifiedAndReadsEverythingAgain() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();
		a.assign(FIRST, b);
		a.assign(THIRD, b);
		b.assertNotified(2);
		b.release(THIRD);
		a.assertNotified();
		GroupChanges before = group().all();

		forget();

		a.assertNotified();
		b.assertNotNotified();
		GroupChanges after = group().store().readChanges(before.generation(), before.membership());
		assertThat(after.whole()).isTrue();
		assertThat(after.generation()).isGreaterThan(before.generation());
		assertThat(after.membership()).isGreaterThan(before.membership());
		assertThat(after.ownerships()).containsExactly(group().shard(FIRST));
		assertThat(after.members()).isEqualTo(before.members());
		GroupChanges next = group().store().readChanges(after.generation(), after.membership());
		assertThat(next.whole()).isFalse();
		assertThat(next.ownerships()).isEmpty();
	}

	@Test
	default void consumedTopicIsKept() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.release(FIRST);
		GroupChanges before = group().all();

		assertUsed(group().store().forgetShards(FIRST.topic()), a, b);
		assertUsed(group().store().forgetShards("topic-of-b"), b);

		assertThat(group().all()).isEqualTo(before);
		a.leave();
		b.announceLeave();
		assertUsed(group().store().forgetShards(FIRST.topic()), b);
		b.leave();
		assertThat(group().store().forgetShards(FIRST.topic()).forgotten()).isOne();
		assertThat(group().all().ownerships()).isEmpty();
	}

	@Test
	default void shardWithAnOwnerOrTargetKeepsItsTopic() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		a.assign(THIRD, b);
		assertUsed(forget(), b);

		a.revoke(THIRD, c);
		assertUsed(forget(), b, c);

		b.release(THIRD, LONG);
		assertUsed(forget(), c);

		a.retarget(THIRD, null);
		assertThat(group().shard(THIRD).phase()).isEqualTo(Phase.QUIET);
		assertThat(forget().forgotten()).isOne();
		assertThat(group().all().ownerships()).isEmpty();
		assertThat(c.news()).isEmpty();
	}

	@Test
	default void shardsOfAFormerMemberAreForgotten() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		List<ShardId> shards = many();
		a.plan(shards.stream().map((id) -> new Transition.Assign(id, 0, b.id())).toArray(Transition[]::new));
		b.leave();
		assertThat(group().all().ownerships()).extracting(Ownership::owner).contains(b.id());

		assertThat(group().store().forgetShards("many").forgotten()).isEqualTo(shards.size());

		assertThat(group().all().ownerships()).isEmpty();
		a.beat();
		a.reapToTheEnd();
		a.beat();
		assertThat(group().all().ownerships()).isEmpty();
	}

	@Test
	default void topicConsumedAgainHasNewShardsWithHigherTokens() {
		TestMember a = group().join("a").lead();
		Ownership past = a.assign(THIRD, a);
		a.release(THIRD);
		Token newest = forget().newest();

		Ownership now = a.assign(THIRD, a);

		assertThat(now.token()).isGreaterThan(past.token()).isGreaterThan(newest);
		assertThat(now.phase()).isEqualTo(Phase.OWNED);
		assertThat(a.news()).contains(now);
	}

	@Test
	default void earlierPlanDoesNotChangeForgottenShards() {
		TestMember a = group().join("a").lead();
		a.assign(THIRD, a);
		a.release(THIRD);
		Transition planned = new Transition.Assign(THIRD, group().generationOf(THIRD), a.id());

		forget();

		assertThat(a.plan(planned)).isEqualTo(new PlanReply.Applied(0, 1));
		assertThat(group().all().ownerships()).isEmpty();
	}

	@Test
	default void replacedOwnerNoLongerReadsForgottenShards() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c");
		Ownership owned = a.assign(THIRD, b);
		c.claim(new Ownership(THIRD, Phase.OWNED, new Token(owned.token().value() + 1), c.id(), null, 0, 0, 0));
		assertThat(group().shard(THIRD).owner()).isEqualTo(c.id());
		c.complete(THIRD);
		b.news();
		a.lead().endsClaims();

		assertThat(forget().forgotten()).isOne();

		assertThat(b.beat(new Seen(b.seen().history(), 0), false).changes()).isEmpty();
		assertThat(group().all().ownerships()).isEmpty();
	}

	@Test
	default void unknownTopicIsForgotten() {
		TestMember a = group().join("a").lead();
		GroupChanges before = group().all();

		assertThat(forget().forgotten()).isZero();

		assertThat(group().all()).isEqualTo(before);
		a.assertNotNotified();
	}

	@Test
	default void manyShardsAreForgotten() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		List<ShardId> shards = many();
		a.plan(shards.stream().map((id) -> new Transition.Assign(id, 0, b.id())).toArray(Transition[]::new));
		a.assign(FIRST, b);
		b.leave();
		a.reapToTheEnd();

		assertThat(group().store().forgetShards("many").forgotten()).isEqualTo(shards.size());

		assertThat(group().all().ownerships()).extracting(Ownership::shard).containsExactly(FIRST);
	}

	private static List<ShardId> many() {
		return IntStream.range(0, 120).mapToObj((i) -> ShardId.of("many", i)).toList();
	}

	private static void assertUsed(ForgetReply reply, TestMember... users) {
		Set<MemberId> expected = new TreeSet<>();
		for (TestMember user : users) {
			expected.add(user.id());
		}
		assertThat(reply).isEqualTo(new ForgetReply(0, Token.NONE, new TreeSet<>(expected)));
	}

	private ForgetReply forget() {
		return group().store().forgetShards(TOPIC);
	}

}
