package io.github.shardkeeper.coordination.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Load reports of members, as the leader reads them.
 */
interface LoadStories extends GroupStories {

	@Test
	default void reportIsKeptUntilTheNextOne() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		assertThat(a.beat().loads()).isZero();
		assertThat(loads(0)).isEmpty();

		assertThat(b.report("much").loads()).isOne();
		assertThat(b.beat().loads()).isOne();
		assertThat(a.beat().loads()).isOne();
		assertThat(a.report("little | of: it").loads()).isEqualTo(2);

		assertThat(loads(0)).isEqualTo(Map.of(a.id(), "little | of: it", b.id(), "much"));
		b.report("less");
		assertThat(loads(0)).isEqualTo(Map.of(a.id(), "little | of: it", b.id(), "less"));
	}

	@Test
	default void onlyLaterReportsAreReturned() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.report("a1");
		b.report("b1");
		a.report("a2");

		assertThat(group().store().readLoads(0).version()).isEqualTo(3);
		assertThat(loads(1)).isEqualTo(Map.of(a.id(), "a2", b.id(), "b1"));
		assertThat(loads(2)).isEqualTo(Map.of(a.id(), "a2"));
		assertThat(loads(3)).isEmpty();
		assertThat(group().store().readLoads(3).version()).isEqualTo(3);
	}

	@Test
	default void reportNotifiesNobody() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assertNotified();

		b.report("much");
		a.report("more");

		a.assertNotNotified();
		b.assertNotNotified();
	}

	@Test
	default void reportIsRemovedWithItsMember() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		TestMember c = group().join("c", TestGroup.SHORT, TestGroup.SHORT);
		List.of(a, b, c).forEach((member) -> member.report("of " + member.id()));

		b.leave();
		assertThat(loads(0)).containsOnlyKeys(a.id(), c.id());

		c.disconnect();
		group().advance(TestGroup.SHORT);
		a.reapDead();
		assertThat(loads(0)).containsOnlyKeys(a.id());
		assertThat(group().store().readLoads(0).version()).isEqualTo(3);
	}

	@Test
	default void repeatedJoinKeepsTheReport() {
		TestMember a = group().join("a").lead();
		a.report("much");
		a.join(TestGroup.LONG, TestGroup.LONG);

		assertThat(loads(0)).isEqualTo(Map.of(a.id(), "much"));
	}

	@Test
	default void reportOfAnUnknownMemberIsIgnored() {
		TestMember a = group().join("a").lead();
		TestMember stranger = group().stranger("nobody");
		group().store().heartbeat(stranger.id(), stranger.seen(), true, new LoadReport("much"));

		assertThat(a.beat().loads()).isZero();
		assertThat(loads(0)).isEmpty();
	}

	@Test
	default void reportsOfManyMembersAreReadCompletely() {
		TestMember a = group().join("a").lead();
		List<TestMember> members = new ArrayList<>();
		IntStream.range(0, 120).forEach((i) -> members.add(group().join("m" + i)));
		members.forEach((member) -> member.report("of " + member.id()));

		assertThat(loads(0)).hasSize(120).allSatisfy((id, load) -> assertThat(load).isEqualTo("of " + id));
		assertThat(loads(119)).hasSize(1);
		assertThat(loads(50)).hasSize(70);
		assertThat(a.beat().loads()).isEqualTo(120);
	}

	@Test
	default void lostReportsAreNoticedByTheirNumber() {
		TestMember a = group().join("a").lead();
		a.report("first");
		Object snapshot = group().server().snapshot();
		a.report("second");
		group().server().loseWritesSince(snapshot);

		assertThat(a.beat().loads()).isOne();
		assertThat(loads(0)).isEqualTo(Map.of(a.id(), "first"));
	}

	private Map<MemberId, String> loads(long afterVersion) {
		Map<MemberId, String> texts = new TreeMap<>();
		group().store().readLoads(afterVersion).reports().forEach((member, load) -> texts.put(member, load.text()));
		return texts;
	}

}
