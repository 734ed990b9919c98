package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The commits of 1,000 shards are under way together: nobody waits for the reply to
 * another shard's commit.
 */
class PipelinedCommitsTests {

	private static final int SHARDS = 1_000;

	private static final Token TOKEN = new Token(7);

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final LettuceConnectionFactory factory = RedisClients.factory(this.redis);

	private final CheckpointStore store = new RedisCheckpointStore(new RedisConnector(this.factory), "test", "group",
			Duration.ofMinutes(1));

	@BeforeEach
	void acquire() {
		IntStream.range(0, SHARDS).forEach((i) -> this.store.acquireNow(shard(i), TOKEN));
		commitAll(1);
	}

	@AfterEach
	void stop() {
		this.store.close();
		this.factory.destroy();
		this.redis.close();
	}

	@Test
	void commitsAreSentBeforeTheFirstAnswer() {
		this.redis.freeze();
		List<CompletableFuture<CommitReply>> replies = new ArrayList<>();
		try {
			IntStream.range(0, SHARDS).forEach((i) -> replies.add(commit(i, 2)));
			assertThat(replies).noneMatch(CompletableFuture::isDone);
		}
		finally {
			this.redis.thaw();
		}

		assertThat(replies).allMatch((reply) -> reply.orTimeout(1, TimeUnit.MINUTES).join() == CommitReply.COMMITTED);
		assertThat(this.store.offsets(IntStream.range(0, SHARDS).mapToObj(PipelinedCommitsTests::shard).toList()))
			.hasSize(SHARDS)
			.containsValue(new Offset("2"))
			.doesNotContainValue(new Offset("1"));
	}

	@Test
	@RunAlone
	void pipelinedCommitsAreFasterThanSequentialOnes() {
		// The run that other processes disturbed least.
		long oneByOne = shortest((round) -> {
			for (int i = 0; i < SHARDS; i++) {
				assertThat(commit(i, 10 + round).join()).isEqualTo(CommitReply.COMMITTED);
			}
		});
		long together = shortest((round) -> commitAll(20 + round));

		System.out.printf("measured: %d commits of as many shards: %d ms one by one, %d ms together%n", SHARDS,
				oneByOne / 1_000_000, together / 1_000_000);
		assertThat(together).isLessThan(oneByOne / 2);
	}

	private static long shortest(IntConsumer work) {
		return IntStream.range(0, 5).mapToLong((round) -> {
			long begin = System.nanoTime();
			work.accept(round);
			return System.nanoTime() - begin;
		}).min().orElseThrow();
	}

	private void commitAll(int number) {
		List<CompletableFuture<CommitReply>> replies = new ArrayList<>();
		IntStream.range(0, SHARDS).forEach((i) -> replies.add(commit(i, number)));
		assertThat(replies).allMatch((reply) -> reply.join() == CommitReply.COMMITTED);
	}

	private CompletableFuture<CommitReply> commit(int shard, int number) {
		String text = Integer.toString(number);
		return this.store.commit(shard(shard), TOKEN,
				Commit.of(CommitNumber.ofWhole(number), new Offset(text), Map.of("k", text)));
	}

	private static ShardId shard(int number) {
		return ShardId.of("many", number);
	}

}
