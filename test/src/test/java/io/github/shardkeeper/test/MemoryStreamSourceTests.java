package io.github.shardkeeper.test;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.memory.MemoryStreamSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class MemoryStreamSourceTests extends ReshardedSourceContract {

	private static final ShardId ONE = ShardId.of("visits", 1);

	private final MemoryStreamSource small = new MemoryStreamSource(Map.of("visits", 2));

	@Override
	protected ShardSource createSource(Map<String, Integer> topics) {
		return new MemoryStreamSource(topics);
	}

	@Override
	protected List<ShardId> split(ShardSource source, ShardId shard) {
		return ((MemoryStreamSource) source).split(shard);
	}

	@Test
	void newShardsAreNumberedInOrder() {
		assertThat(this.small.split(ONE)).containsExactly(ShardId.of("visits", 2), ShardId.of("visits", 3));
		assertThat(this.small.merge(ShardId.of("visits", 0), ShardId.of("visits", 2)))
			.isEqualTo(ShardId.of("visits", 4));
		this.small.raise("visits", 7);
		this.small.raise("visits", 7);

		assertThat(this.small.topics()).containsOnly(Map.entry("visits",
				TopicShards.count(2).with("2", "1").with("3", "1").with("4", "0", "2").with("5").with("6")));
	}

	@Test
	void raisedTopicIsACount() {
		this.small.raise("visits", 5);

		assertThat(this.small.topics().get("visits")).isEqualTo(TopicShards.count(5));
	}

	@Test
	void closedShardRefusesRecords() {
		this.small.close(ONE);
		NewRecord open = new NewRecord(ShardId.of("visits", 0), "k", new byte[0]);
		NewRecord closed = new NewRecord(ONE, "k", new byte[0]);

		assertThatIllegalStateException().isThrownBy(() -> this.small.append(List.of(open, closed)))
			.withMessageContaining("visits/1 is closed");
		assertThat(this.small.append(List.of(open)).get(0).join().value()).as("all or nothing is appended")
			.isEqualTo("1");
		assertThatIllegalStateException().isThrownBy(() -> this.small.split(ONE));
		assertThatIllegalStateException().isThrownBy(() -> this.small.merge(ShardId.of("visits", 0), ONE));
		assertThat(this.small.append(List.of(open))).as("not closed by the failed merge").hasSize(1);
	}

	@Test
	void invalidMergesAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.small.merge(ONE, ONE));
		assertThatIllegalArgumentException().isThrownBy(() -> this.small.merge(ONE, ShardId.of("other", 0)));
	}

}
