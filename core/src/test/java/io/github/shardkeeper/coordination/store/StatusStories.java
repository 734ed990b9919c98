package io.github.shardkeeper.coordination.store;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.testsupport.Promise;

import static io.github.shardkeeper.coordination.store.TestGroup.LONG;
import static io.github.shardkeeper.coordination.store.TestGroup.SHORT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Problems of a group, which the leader publishes and every member reads.
 */
@Promise("Automatic recovery")
interface StatusStories extends GroupStories {

	GroupProblems PROBLEMS = GroupProblems
		.of(List.of(new GroupProblem(true, "unattended", "Nobody owns it: nobody wants it", "orders/0, orders/1")));

	@Test
	default void everyMemberReadsPublishedProblems() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		assertThat(b.beat().status()).isEqualTo(GroupStatus.NONE);

		assertThat(group().store().publishProblems(a.id(), a.epoch(), PROBLEMS)).isTrue();

		GroupStatus told = new GroupStatus(a.epoch(), PROBLEMS);
		assertThat(a.beat().status()).isEqualTo(told);
		assertThat(b.beat().status()).isEqualTo(told);
		assertThat(group().store().publishProblems(a.id(), a.epoch(), GroupProblems.NONE)).isTrue();
		assertThat(b.beat().status()).isEqualTo(new GroupStatus(a.epoch(), GroupProblems.NONE));
	}

	@Test
	default void onlyTheLeaderOfTheEpochPublishes() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		CoordinationStore store = group().store();

		assertThat(store.publishProblems(b.id(), a.epoch(), PROBLEMS)).isFalse();
		assertThat(store.publishProblems(a.id(), a.epoch() - 1, PROBLEMS)).isFalse();
		assertThat(store.publishProblems(a.id(), a.epoch() + 1, PROBLEMS)).isFalse();
		assertThat(b.beat().status()).isEqualTo(GroupStatus.NONE);
	}

	@Test
	default void leaderWithoutALeasePublishesNothing() {
		TestMember a = group().join("a", SHORT, LONG).lead();
		TestMember b = group().join("b");
		group().advance(SHORT.multipliedBy(2));

		assertThat(group().store().publishProblems(a.id(), 1, PROBLEMS)).isFalse();
		assertThat(b.beat().status()).isEqualTo(GroupStatus.NONE);
	}

	@Test
	default void publishedProblemsStayUntilTheNextLeaderPublishes() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		group().store().publishProblems(a.id(), a.epoch(), PROBLEMS);

		a.leave();

		assertThat(b.beat(true).status()).isEqualTo(new GroupStatus(1, PROBLEMS));
		b.lead();
		assertThat(group().store().publishProblems(b.id(), b.epoch(), GroupProblems.NONE)).isTrue();
		assertThat(b.beat().status()).isEqualTo(new GroupStatus(2, GroupProblems.NONE));
	}

	/**
	 * Members that are gone, but own something still, are no members without a session.
	 */
	@Test
	default void groupIsCompleteWhileMembersComeAndGo() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, b);
		a.assign(SECOND, a);
		b.announceLeave();
		assertThat(a.beat().status()).isEqualTo(GroupStatus.NONE);
		b.leave();
		group().join("c", SHORT, SHORT).disconnect();
		group().advance(SHORT.multipliedBy(2));
		assertThat(a.beat().status()).isEqualTo(GroupStatus.NONE);
		a.reapDead();
		assertThat(a.beat().status()).isEqualTo(GroupStatus.NONE);
	}

}
