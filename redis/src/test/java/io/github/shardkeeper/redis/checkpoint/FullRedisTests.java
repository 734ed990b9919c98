package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.CompletionReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The data plane on a Redis that has reached {@code maxmemory} and evicts nothing: what
 * consumers cannot do without gets through, what would let Redis grow without bound does
 * not.
 */
@OnEveryRedis
@Tag("proof")
@Promise("Automatic recovery")
class FullRedisTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(1_767_225_600_123_456L);

	private static final Token NEXT = new Token(TOKEN.value() + 1);

	private final EmbeddedRedis redis = EmbeddedRedis.start("--maxmemory-policy", "noeviction");

	private final LettuceConnectionFactory factory = RedisClients.factory(this.redis);

	private final RedisConnector connector = new RedisConnector(this.factory);

	private final RedisCheckpointStore checkpoints = new RedisCheckpointStore(this.connector, "test", "group", TIMEOUT);

	private final RedisDeadLetterStore letters = new RedisDeadLetterStore(this.connector, "test", "group", TIMEOUT);

	private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

	private static final int TIMERS = 4_000;

	private long commits;

	@AfterEach
	void close() {
		this.letters.close();
		this.checkpoints.close();
		this.connector.stop();
		this.factory.destroy();
		this.redis.close();
	}

	@Test
	void acquisitionIsAccepted() {
		fill();

		assertThat(this.checkpoints.acquireNow(SHARD, TOKEN)).isInstanceOf(Acquisition.Acquired.class);
		assertThat(this.checkpoints.acquireNow(SHARD, TOKEN)).isInstanceOf(Acquisition.Acquired.class);
		assertThat(this.checkpoints.acquireNow(SHARD, NEXT)).isInstanceOf(Acquisition.Acquired.class);
		assertThat(this.checkpoints.acquireNow(SHARD, TOKEN)).isEqualTo(new Acquisition.Refused(NEXT));
	}

	@Test
	void removalOfARetiredTopicIsAccepted() {
		this.checkpoints.acquireNow(SHARD, TOKEN);
		commit("1-0", Map.of("clicks", "1"));
		fill();

		assertThat(this.checkpoints.remove(SHARD.topic(), TOKEN).removed()).containsExactly(SHARD);
		assertThat(this.checkpoints.read(SHARD)).isEqualTo(new Checkpoint(null, Map.of()));
	}

	@Test
	void smallCommitIsAccepted() {
		fill();
		this.checkpoints.acquireNow(SHARD, TOKEN);

		assertThat(commit("1-0", Map.of("clicks", "1"))).isEqualTo(CommitReply.COMMITTED);
		assertThat(commit(null, Map.of("clicks", "2"))).isEqualTo(CommitReply.COMMITTED);
		assertThat(this.checkpoints
			.commit(SHARD, TOKEN,
					new Commit(number(), new Offset("3-0"), Set.of(new Offset("5-0")), Map.of(),
							List.of(new Commit.Retry(record("4-0", 1000), Duration.ZERO)), Set.of(),
							List.of(record("2-0", 1000))))
			.join()).isEqualTo(CommitReply.COMMITTED);

		assertThat(this.checkpoints.read(SHARD)).isEqualTo(
				new Checkpoint(new Offset("3-0"), Set.of(new Offset("5-0")), Map.of("clicks", "2"), Duration.ZERO));
		assertThat(this.checkpoints.due(SHARD, 10, 10_000, Set.of()).records()).hasSize(1);
		assertThat(this.letters.list(SHARD, null, 10)).hasSize(1);
	}

	@Test
	void changesThatDoNotGrowTheStateAreAccepted() {
		this.checkpoints.acquireNow(SHARD, TOKEN);
		commit("1-0", Map.of("large", text(20_000_000), "other", text(20_000_000)));
		fill();

		assertThat(commit("2-0", Map.of("large", text(20_000_000)))).isEqualTo(CommitReply.COMMITTED);
		Map<String, @Nullable String> exchanged = new HashMap<>();
		exchanged.put("other", null);
		exchanged.put("new", text(20_000_000));
		assertThat(commit("3-0", exchanged)).isEqualTo(CommitReply.COMMITTED);
		assertThat(this.checkpoints.read(SHARD).state()).containsOnlyKeys("large", "new");
	}

	@Test
	void tooLargeCommitIsRefusedAsAWholeUntilMemoryIsFree() {
		this.checkpoints.acquireNow(SHARD, TOKEN);
		commit("1-0", Map.of("clicks", "1"));
		fill();
		Checkpoint before = this.checkpoints.read(SHARD);
		Commit large = new Commit(number(), null, Set.of(), Map.of("clicks", "2", "large", text(5_000_000)), List.of(),
				Set.of(), List.of());
		Commit retry = new Commit(large.number(), new Offset("2-0"), Set.of(), Map.of(),
				List.of(new Commit.Retry(record("2-0", 5_000_000), Duration.ZERO)), Set.of(), List.of());

		assertLacksMemory(() -> this.checkpoints.commit(SHARD, TOKEN, large).join());
		assertLacksMemory(() -> this.checkpoints.commit(SHARD, TOKEN, large).join());
		assertLacksMemory(() -> this.checkpoints.commit(SHARD, TOKEN, retry).join());
		assertThat(this.checkpoints.read(SHARD)).isEqualTo(before);

		this.redis.call((commands) -> commands.configSet("maxmemory", "0"));
		assertThat(this.checkpoints.commit(SHARD, TOKEN, large).join()).isEqualTo(CommitReply.COMMITTED);
		assertThat(this.checkpoints.read(SHARD).state()).containsEntry("clicks", "2").containsKey("large");
	}

	@Test
	void timersMayBeMovedAndExchangedButNotAddedWithoutBound() {
		this.checkpoints.acquireNow(SHARD, TOKEN);
		assertThat(commit(timers("old", NOW))).isEqualTo(CommitReply.COMMITTED);
		fill();

		assertThat(commit(timers("old", NOW.plusSeconds(1)))).isEqualTo(CommitReply.COMMITTED);
		assertThat(this.checkpoints.timers(SHARD, null, 1)).first()
			.extracting(StoredTimer::due)
			.isEqualTo(NOW.plusSeconds(1));
		assertLacksMemory(() -> commit(timers("more", NOW)));
		assertThat(this.checkpoints.countTimers(SHARD)).isEqualTo(TIMERS);
		assertThat(commit(timers("old", null))).isEqualTo(CommitReply.COMMITTED);
		assertThat(this.checkpoints.countTimers(SHARD)).isZero();
	}

	/** A few MB. */
	private static Map<TimerId, @Nullable Instant> timers(String name, @Nullable Instant due) {
		Map<TimerId, @Nullable Instant> timers = new HashMap<>();
		for (int i = 0; i < TIMERS; i++) {
			timers.put(new TimerId("key-" + i, name + text(1_000)), due);
		}
		return timers;
	}

	private CommitReply commit(Map<TimerId, @Nullable Instant> timers) {
		return this.checkpoints.commit(SHARD, TOKEN, Commit.of(number(), null, Map.of()).withTimers(timers)).join();
	}

	@Test
	void smallCommitsDoNotGrowRedisWithoutBound() {
		this.checkpoints.acquireNow(SHARD, TOKEN);
		fill();
		long before = used();

		assertLacksMemory(() -> {
			for (int i = 0; i < 1000; i++) {
				this.checkpoints
					.commit(SHARD, TOKEN,
							new Commit(number(), new Offset(i + "-0"), Set.of(), Map.of(), List.of(), Set.of(),
									List.of(record(i + "-0", 100_000))))
					.join();
			}
		});
		assertThat(used() - before).isBetween(10_000_000L, 20_000_000L);
		assertThat(commit("1000-0", Map.of("clicks", "1"))).as("what is always let through")
			.isEqualTo(CommitReply.COMMITTED);
	}

	@Test
	void seekIsAcceptedAndCarriedOut() {
		fill();
		long number = this.checkpoints.seek(SHARD, new Offset("7-0"), true).number();
		assertThat(this.checkpoints.acquireNow(SHARD, TOKEN)).isInstanceOf(Acquisition.Acquired.class);

		this.checkpoints
			.commit(SHARD, TOKEN,
					new Commit.Builder(number(), new Offset("7-0"), Set.of()).seek(number).clearState().build())
			.join();
		assertThat(this.checkpoints.seeks(List.of(SHARD)).get(SHARD).pending()).isNull();
	}

	@Test
	void completionIsAccepted() {
		fill();
		this.checkpoints.acquireNow(SHARD, TOKEN);

		assertThat(this.checkpoints.complete(SHARD, TOKEN, 0, 0)).isEqualTo(CompletionReply.COMPLETED);
	}

	@Test
	void consumedSinceIsRecorded() {
		fill();

		Instant since = this.checkpoints.consumedSince("orders");
		assertThat(this.checkpoints.consumedSince("orders")).isEqualTo(since);
	}

	@Test
	void lettersCanBeDroppedButNotSentBack() {
		this.checkpoints.acquireNow(SHARD, TOKEN);
		this.checkpoints
			.commit(SHARD, TOKEN,
					new Commit(number(), new Offset("2-0"), Set.of(), Map.of(), List.of(), Set.of(),
							List.of(record("1-0", 10), record("2-0", 10))))
			.join();
		fill();

		assertLacksMemory(() -> this.letters.sendBack(SHARD, this.letters.list(SHARD, null, 2)));
		assertThat(this.letters.countRetries(List.of(SHARD))).containsValue(0L);
		assertThat(this.letters.drop(SHARD, this.letters.list(SHARD, null, 1))).isEqualTo(1);
		assertThat(this.letters.list(SHARD, null, 10)).hasSize(1);
	}

	@Test
	void whatWaitsCanBeReadAndDroppedButNotRetried() {
		this.checkpoints.acquireNow(SHARD, TOKEN);
		this.checkpoints
			.commit(SHARD, TOKEN,
					new Commit(number(), new Offset("2-0"), Set.of(), Map.of(),
							List.of(new Commit.Retry(record("1-0", 10), Duration.ofHours(1)),
									new Commit.Retry(record("2-0", 10), Duration.ofHours(1))),
							Set.of(), List.of()))
			.join();
		fill();

		List<Offset> offsets = List.of(new Offset("1-0"));
		assertLacksMemory(() -> this.checkpoints.changeWaiting(SHARD, offsets, WaitingRecord.Change.RETRY_NOW));
		assertLacksMemory(() -> this.checkpoints.changeWaiting(SHARD, offsets, WaitingRecord.Change.SEND_BACK));
		assertThat(this.checkpoints.retries(SHARD, offsets, 1)).containsExactly(record("1-0", 10));
		assertThat(this.checkpoints.changeWaiting(SHARD, offsets, WaitingRecord.Change.DROP)).isOne();
		List<Offset> left = new ArrayList<>();
		this.checkpoints.waiting(SHARD, (record) -> left.add(record.offset()));
		assertThat(left).containsExactly(new Offset("2-0"));
	}

	/** Any data exceeds it. */
	private void fill() {
		this.redis.call((commands) -> commands.configSet("maxmemory", "1"));
	}

	private long used() {
		return Long.parseLong(this.redis.call((commands) -> commands.info("memory"))
			.lines()
			.filter((line) -> line.startsWith("used_memory:"))
			.findFirst()
			.orElseThrow()
			.substring("used_memory:".length()));
	}

	private CommitReply commit(@Nullable String offset, Map<String, @Nullable String> changes) {
		return this.checkpoints
			.commit(SHARD, TOKEN, Commit.of(number(), (offset != null) ? new Offset(offset) : null, changes))
			.join();
	}

	private CommitNumber number() {
		return CommitNumber.ofWhole(++this.commits);
	}

	private static FailedRecord record(String offset, int size) {
		return new FailedRecord(new Offset(offset), null, new byte[size], Map.of(), Instant.EPOCH, 1, 0, "", "",
				Instant.EPOCH);
	}

	private static String text(int length) {
		return "\"" + "x".repeat(length) + "\"";
	}

	private static void assertLacksMemory(ThrowingCallable call) {
		assertThatExceptionOfType(Exception.class).isThrownBy(call).satisfies((thrown) -> {
			Throwable failure = (thrown instanceof CompletionException) ? thrown.getCause() : thrown;
			assertThat(failure)
				.isInstanceOfSatisfying(StoreUnavailableException.class,
						(refused) -> assertThat(refused.isRefusal()).isTrue())
				.hasMessageContaining("maxmemory")
				.hasMessageContaining("test:{group/orders/1}:")
				.hasMessageContaining("raise maxmemory");
		});
	}

}
