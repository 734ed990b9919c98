package io.github.shardkeeper.sls;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import com.aliyun.openservices.log.common.Shard;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;

class LogstoreShardsTests {

	@Test
	void originalShardsAreACount() {
		assertThat(shards(open(0, "0", "8", 100), open(1, "8", "f", 100)).topicShards())
			.isEqualTo(TopicShards.count(2));
		assertThat(shards().topicShards()).isEqualTo(TopicShards.NONE);
	}

	@Test
	void childrenOfASplitHaveItAsParent() {
		LogstoreShards split = shards(closed(0, "0", "8", 100), open(1, "8", "f", 100), open(2, "0", "4", 200),
				open(3, "4", "8", 200));

		assertThat(split.topicShards()).isEqualTo(TopicShards.count(2).with("2", "0").with("3", "0"));
	}

	@Test
	void childOfAMergeHasBothAsParents() {
		LogstoreShards merged = shards(closed(0, "0", "8", 100), closed(1, "8", "f", 100), open(2, "0", "f", 200));

		assertThat(merged.topicShards()).isEqualTo(TopicShards.count(2).with("2", "0", "1"));
	}

	@Test
	void grandparentsAreNoParents() {
		LogstoreShards twice = shards(closed(0, "0", "8", 100), open(1, "8", "f", 100), closed(2, "0", "4", 200),
				closed(3, "4", "8", 200), open(4, "0", "8", 300));
		assertThat(twice.topicShards())
			.isEqualTo(TopicShards.count(2).with("2", "0").with("3", "0").with("4", "2", "3"));

		LogstoreShards deep = shards(closed(0, "0", "f", 100), closed(1, "0", "8", 200), open(2, "8", "f", 200),
				open(3, "0", "4", 300), open(4, "4", "8", 300));
		assertThat(deep.topicShards().others()).isEqualTo(TopicShards
			.of(Map.of("0", List.of(), "1", List.of("0"), "2", List.of("0"), "3", List.of("1"), "4", List.of("1")))
			.others());
	}

	@Test
	void idsTellTheOrderOfShardsOfOneSecond() {
		LogstoreShards fast = shards(closed(0, "0", "f", 100), closed(1, "0", "8", 100), open(2, "8", "f", 100),
				open(3, "0", "4", 100), open(4, "4", "8", 100));

		assertThat(fast.topicShards().parents("3")).containsExactly("1");
		assertThat(fast.topicShards().parents("2")).containsExactly("0");
	}

	@Test
	void shardThatCanBeWrittenToIsNoParent() {
		assertThat(shards(open(0, "0", "f", 100), open(1, "0", "8", 200)).topicShards())
			.isEqualTo(TopicShards.count(2));
	}

	@Test
	void expiredShardsKeepTheirNumbers() {
		LogstoreShards left = shards(open(1, "8", "f", 100), open(3, "0", "8", 200));

		assertThat(left.topicShards()).isEqualTo(TopicShards.count(4));
		assertThat(left.isGone(ShardId.of("t", 2))).isTrue();
		assertThat(left.isGone(ShardId.of("t", 1))).isFalse();
		assertThat(left.isGone(ShardId.of("t", 4))).as("may come").isFalse();
	}

	@Test
	void shardsThatCanBeWrittenToAreOpen() {
		assertThat(shards(closed(0, "0", "8", 100), open(1, "8", "f", 100), open(3, "0", "8", 200)).writable())
			.containsExactlyInAnyOrder("1", "3");
	}

	@Test
	void recordOfAnOpenShardIsRoutedToIt() {
		LogstoreShards two = shards(open(0, "0", "8", 100), open(1, "8", "f", 100));

		assertThat(two.hashKey(ShardId.of("t", 0), "any")).isEqualTo("0".repeat(32));
		assertThat(two.hashKey(ShardId.of("t", 1), null)).isEqualTo("8" + "0".repeat(31));
	}

	@Test
	void recordOfAClosedShardIsRoutedToOneOfItsDescendants() {
		LogstoreShards split = shards(closed(0, "0", "8", 100), open(1, "8", "f", 100), open(2, "0", "4", 200),
				closed(3, "4", "8", 200), open(4, "4", "6", 300), open(5, "6", "8", 300));
		ShardId closed = ShardId.of("t", 0);

		assertThat(Stream.iterate(0, (n) -> n + 1).limit(200).map((n) -> split.hashKey(closed, "key" + n)).distinct())
			.containsExactlyInAnyOrder("0".repeat(32), "4" + "0".repeat(31), "6" + "0".repeat(31));
		assertThat(split.hashKey(closed, "ann")).isEqualTo(split.hashKey(closed, "ann"));
		assertThat(split.hashKey(closed, null)).isEqualTo("0".repeat(32));
	}

	@Test
	void recordOfAnExpiredShardIsRoutedToAnyShard() {
		LogstoreShards left = shards(open(1, "8", "f", 100), open(2, "0", "8", 200));

		assertThat(Stream.iterate(0, (n) -> n + 1)
			.limit(100)
			.map((n) -> left.hashKey(ShardId.of("t", 0), "key" + n))
			.distinct()).hasSize(2);
		assertThat(shards(closed(0, "0", "f", 1)).hashKey(ShardId.of("t", 0), "key")).isNull();
	}

	private static LogstoreShards shards(Shard... shards) {
		return LogstoreShards.of(List.of(shards));
	}

	private static Shard open(int id, String begin, String end, int createTime) {
		return new Shard(id, "readwrite", key(begin), key(end), createTime);
	}

	private static Shard closed(int id, String begin, String end, int createTime) {
		return new Shard(id, "readonly", key(begin), key(end), createTime);
	}

	/** The first digit of a key; the highest key for f. */
	private static String key(String digit) {
		return digit.equals("f") ? "f".repeat(32) : digit + "0".repeat(31);
	}

}
