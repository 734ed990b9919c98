package io.github.shardkeeper.operations.stored;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.IntNode;

import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class CommittedStateReaderTests {

	private final MemoryCheckpointStore checkpoints = new MemoryCheckpointStore();

	private Instant now = Instant.EPOCH;

	private final ShardStateReader reader = new CommittedStateReader(this.checkpoints,
			SourceRegistry.of(new MemoryStreamSource(Map.of("orders", 2))),
			new StateValues(new JsonMapper(), List.of()), () -> this.now);

	@Test
	void shardWithoutStateIsEmpty() {
		assertThat(this.reader.read(ShardId.of("orders", 1), Long.class)).isEmpty();
	}

	@Test
	@Promise("Clear errors")
	void missingShardIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.reader.read(ShardId.of("orders", 2), Long.class))
			.withMessage("There is no shard orders/2; the topic has orders/0 to orders/1");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> this.reader.read(ShardId.of("order", 0), Long.class))
			.withMessageContaining("A call of ShardStateReader names the topic 'order'")
			.withMessageContaining("[orders]");
	}

	@Test
	void stateOfARemovedShardIsReadable() {
		ShardId gone = ShardId.of("retired", 7);
		this.checkpoints.acquireNow(gone, new Token(10));
		this.checkpoints
			.commit(gone, new Token(10), Commit.of(CommitNumber.ofWhole(1), new Offset("1"), Map.of("clicks", "5")))
			.join();

		assertThat(this.reader.read(gone, Long.class)).containsExactly(Map.entry("clicks", 5L));
	}

	@Test
	void someKeysAreReadAlone() {
		ShardId shard = ShardId.of("orders", 0);
		this.checkpoints.acquireNow(shard, new Token(10));
		this.checkpoints
			.commit(shard, new Token(10),
					Commit.of(CommitNumber.ofWhole(1), new Offset("1"), Map.of("a", "1", "b", "2", "c", "no number")))
			.join();

		assertThat(this.reader.read(shard, List.of("b", "missing", "a", "b"), Long.class))
			.isEqualTo(Map.of("a", 1L, "b", 2L));
		assertThat(this.reader.find(shard, "b", Long.class)).contains(2L);
		assertThat(this.reader.find(shard, "missing", Long.class)).isEmpty();
		assertThat(this.reader.read(shard, List.of(), Long.class)).isEmpty();
		assertThatIllegalArgumentException().isThrownBy(() -> this.reader.find(shard, "c", Long.class))
			.withMessageContaining("The state of orders/0 under key 'c' cannot be read as java.lang.Long");
	}

	@Test
	void expiredValuesAreMissing() {
		ShardId shard = ShardId.of("orders", 0);
		this.checkpoints.acquireNow(shard, new Token(10));
		this.checkpoints.commit(shard, new Token(10), Commit.of(CommitNumber.ofWhole(1), new Offset("1"),
				Map.of("a", "1", "b", "@60000 2", "c", "@60001 {\"@version\":2,\"@value\":3}")))
			.join();

		this.now = Instant.ofEpochSecond(59);
		assertThat(this.reader.read(shard, JsonNode.class)).hasSize(3).containsEntry("b", IntNode.valueOf(2));
		this.now = Instant.ofEpochSecond(60);
		assertThat(this.reader.read(shard, Object.class)).containsOnlyKeys("a", "c");
		assertThat(this.reader.find(shard, "b", Long.class)).isEmpty();
		assertThat(this.reader.find(shard, "c", JsonNode.class)).contains(IntNode.valueOf(3));
		this.now = Instant.ofEpochSecond(61);
		assertThat(this.reader.read(shard, List.of("a", "b", "c"), Long.class)).isEqualTo(Map.of("a", 1L));
	}

	@Test
	void keyOfAMissingShardIsRejected() {
		assertThat(this.reader.find(ShardId.of("orders", 1), "a", Long.class)).isEmpty();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.reader.find(ShardId.of("orders", 2), "a", Long.class))
			.withMessageContaining("There is no shard orders/2");
	}

}
