package io.github.shardkeeper.shard;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class TopicShardsTests {

	@Test
	void countMeansNumberedShardsWithoutParents() {
		TopicShards three = TopicShards.count(3);

		assertThat(ids(three)).containsExactly("0", "1", "2");
		assertThat(three.size()).isEqualTo(3);
		assertThat(three.contains("2")).isTrue();
		assertThat(three.contains("3")).isFalse();
		assertThat(three.contains("02")).isFalse();
		assertThat(three.parents("2")).isEmpty();
		assertThat(TopicShards.count(0)).isSameAs(TopicShards.NONE);
		assertThatIllegalArgumentException().isThrownBy(() -> TopicShards.count(-1));
	}

	@Test
	void otherShardsHaveIdsAndParents() {
		TopicShards split = TopicShards.count(2).with("2", "1").with("3", "1").with("spare");

		assertThat(ids(split)).containsExactly("0", "1", "2", "3", "spare");
		assertThat(split.size()).isEqualTo(5);
		assertThat(split.count()).isEqualTo(2);
		assertThat(split.parents("3")).containsExactly("1");
		assertThat(split.parents("spare")).isEmpty();
		assertThat(split.contains("spare")).isTrue();
	}

	@Test
	void shardsOfIdsHaveNoParents() {
		TopicShards shards = TopicShards.ids(List.of("berlin", "0", "1"));

		assertThat(shards).isEqualTo(TopicShards.count(2).with("berlin"));
		assertThat(shards.parents("berlin")).isEmpty();
		assertThat(TopicShards.ids(List.of())).isEqualTo(TopicShards.NONE);
	}

	@Test
	void consecutiveNumbersBecomeACount() {
		assertThat(TopicShards.of(Map.of("2", Set.of(), "0", Set.of(), "1", Set.of()))).isEqualTo(TopicShards.count(3));
		assertThat(TopicShards.count(2).with("3").with("2")).isEqualTo(TopicShards.count(4));
		assertThat(TopicShards.of(Map.of("01", Set.of(), "00", Set.of())).count()).isZero();
		assertThat(TopicShards.of(Map.of("1", Set.of(), "2", Set.of())).others()).containsOnlyKeys("1", "2");
	}

	@Test
	void unionKnowsAllShardsOfBoth() {
		TopicShards behind = TopicShards.count(4);
		TopicShards ahead = TopicShards.count(2).with("2", "0").with("3", "0").with("spare");

		TopicShards both = behind.and(ahead);
		assertThat(both).isEqualTo(ahead.and(behind));
		assertThat(ids(both)).containsExactlyInAnyOrder("0", "1", "2", "3", "spare");
		assertThat(both.parents("3")).as("the member that knows parents is ahead").containsExactly("0");
		assertThat(both.size()).isEqualTo(5);
		assertThat(behind.and(TopicShards.count(3))).isSameAs(behind);
		assertThat(TopicShards.count(3).and(behind)).isEqualTo(behind);
	}

	@Test
	void unionOfExactListsIsExact() {
		TopicShards one = TopicShards.NONE.with("a").with("b").exactly();
		TopicShards other = TopicShards.NONE.with("b").with("c").exactly();

		assertThat(one.and(other)).isEqualTo(TopicShards.NONE.with("a").with("b").with("c").exactly());
		assertThat(one.and(TopicShards.NONE.exactly())).isSameAs(one);
		assertThat(one.and(TopicShards.NONE)).as("of a member that does not know the list")
			.isEqualTo(TopicShards.NONE.with("a").with("b"));
		assertThat(TopicShards.NONE.and(one)).isEqualTo(TopicShards.NONE.with("a").with("b"));
		assertThat(TopicShards.count(3).and(TopicShards.count(2).exactly()).isExact()).isFalse();
		assertThat(TopicShards.count(3).exactly().and(TopicShards.count(5).exactly()))
			.isEqualTo(TopicShards.count(5).exactly());
	}

	@Test
	void exactListStaysExact() {
		TopicShards exact = TopicShards.count(1).exactly();

		assertThat(exact.isExact()).isTrue();
		assertThat(exact.exactly()).isSameAs(exact);
		assertThat(exact).isNotEqualTo(TopicShards.count(1));
		assertThat(exact.with("a").isExact()).isTrue();
		assertThat(exact.with("a", "0").withoutParents()).isEqualTo(TopicShards.count(1).with("a").exactly());
		assertThat(TopicShards.NONE.isExact()).isFalse();
	}

	@Test
	void invalidShardIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> TopicShards.NONE.with("a b"));
		assertThatIllegalArgumentException().isThrownBy(() -> TopicShards.NONE.with("a", "{b}"));
		assertThatIllegalArgumentException().isThrownBy(() -> TopicShards.NONE.with("a", "a"))
			.withMessageContaining("own parent");
	}

	@Test
	void equalShardsAreEqual() {
		TopicShards one = TopicShards.count(1).with("a", "0", "b");

		assertThat(one).isEqualTo(TopicShards.count(1).with(Map.of("a", List.of("b", "0"))))
			.hasSameHashCodeAs(TopicShards.count(1).with("a", "b", "0"))
			.hasToString("1 and {a=[0, b]}");
		assertThat(one).isNotEqualTo(TopicShards.count(1).with("a", "0"));
	}

	private static List<String> ids(TopicShards shards) {
		List<String> ids = new ArrayList<>();
		shards.forEach("orders", (shard) -> ids.add(shard.id()));
		return ids;
	}

}
