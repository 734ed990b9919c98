package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.test.EmbeddedRedisCluster;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Large states and dead letters of shards that lie in the slots of several masters.
 */
@Tag("proof")
class DataPlaneOnClusterTests {

	private static final Token TOKEN = new Token(7);

	private static final List<ShardId> SHARDS = IntStream.range(0, 40)
		.mapToObj((i) -> ShardId.of("orders", i))
		.toList();

	@Test
	void statesAndLettersOfManySlotsAreReadOnACluster() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.start(3)) {
			LettuceConnectionFactory factory = RedisClients.factory(cluster);
			RedisConnector connector = new RedisConnector(factory);
			try (CheckpointStore store = new RedisCheckpointStore(connector, "test", "group", Duration.ofSeconds(30));
					DeadLetterStore letters = new RedisDeadLetterStore(connector, "test", "group",
							Duration.ofSeconds(30))) {
				Map<String, String> state = new HashMap<>();
				IntStream.range(0, 2_000).forEach((i) -> state.put("key-" + i, "value-" + i));
				SHARDS.forEach((shard) -> store.acquireNow(shard, TOKEN));
				assertThat(SHARDS.stream()
					.map((shard) -> store.commit(shard, TOKEN,
							new Commit(CommitNumber.ofWhole(1), new Offset("1"), Set.of(), new HashMap<>(state),
									List.of(), Set.of(), List.of(letter(shard)))))
					.toList()).allMatch((reply) -> reply.join() == CommitReply.COMMITTED);

				assertThat(letters.countDeadLetters(SHARDS)).hasSize(SHARDS.size())
					.containsValue(1L)
					.doesNotContainValue(0L);
				for (ShardId shard : SHARDS) {
					assertThat(((Acquisition.Acquired) store.acquireNow(shard, new Token(8))).checkpoint().state())
						.isEqualTo(state);
					assertThat(letters.sendBack(shard, letters.list(shard, null, 10))).isOne();
					assertThat(store.due(shard, 10, Long.MAX_VALUE, Set.of()).records())
						.containsExactly(letter(shard).withoutAttempts());
				}
				assertThat(letters.countDeadLetters(SHARDS)).containsValue(0L).doesNotContainValue(1L);
				assertThat(letters.countRetries(SHARDS)).containsValue(1L).doesNotContainValue(0L);

				assertThat(store.remove("orders", new Token(8)).removed()).containsExactlyInAnyOrderElementsOf(SHARDS);
				assertThat(letters.countRetries(SHARDS)).containsValue(0L).doesNotContainValue(1L);
				assertThat(store.offsets(SHARDS)).isEmpty();
			}
			finally {
				connector.stop();
				factory.destroy();
			}
		}
	}

	private static FailedRecord letter(ShardId shard) {
		return new FailedRecord(new Offset(shard.id()), "k", new byte[] { 1 }, Map.of(), Instant.EPOCH, 3, 1, "e", "s",
				Instant.EPOCH);
	}

}
