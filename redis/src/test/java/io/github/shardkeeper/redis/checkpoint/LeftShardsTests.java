package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Commit.Retry;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.redis.testsupport.RedisKeys;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Shards whose checkpoint is in the application's database: the one that Redis has is
 * from before. In place of the database is a store in memory.
 */
@Promise("Rows exactly once")
class LeftShardsTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final ShardId TARGET = ShardId.of("invoices", 0);

	private final String group = UUID.randomUUID().toString();

	private final RedisKeys keys = new RedisKeys("test:{" + this.group + "/");

	private final MemoryCheckpointStore database = new MemoryCheckpointStore();

	private final RedisCheckpointStore redis = new RedisCheckpointStore(RedisClients.sharedConnector(), "test",
			this.group, Duration.ofSeconds(60));

	@Test
	void leftShardIsRefusedWithWhatToDo() {
		leave();

		assertRefused(() -> this.redis.acquireNow(SHARD, new Token(3)));
		assertRefused(() -> this.redis.seek(SHARD, new Offset("1-0"), false));
		assertThat(this.redis.commits(SHARD).last().token()).as("the database's owner").isEqualTo(new Token(2));
	}

	private void assertRefused(Runnable call) {
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(call::run)
			.withMessageContainingAll("orders/0", "its checkpoint is in the application's database",
					"at offset 5-0, is from before", "Set the transaction of its topic to 'jdbc' again",
					"ShardPositions.reset")
			.matches(StoreUnavailableException::isRefusal);
	}

	/** An owner of before is fenced, and cannot make it count again. */
	@Test
	void earlierOwnerCannotCommitIntoALeftShard() {
		leave();

		assertThat(
				this.redis.commit(SHARD, new Token(1), Commit.of(CommitNumber.ofWhole(9), new Offset("9-0"), Map.of()))
					.join())
			.isEqualTo(CommitReply.STALE);
		assertRefused(() -> this.redis.acquireNow(SHARD, new Token(3)));
	}

	@Test
	void resetGivesTheCheckpointOfTheDatabaseUp() {
		leave();
		SeekRequest request = this.redis.seek(SHARD, new Offset("2-0"), true);

		assertThat(this.redis.leave(SHARD, new Token(3), new Token(2), true, 0)).as("carried out here first").isFalse();
		assertThat(acquire(3).seeks()).isEqualTo(new Seeks(0, request));
		assertThat(this.redis.leave(SHARD, new Token(4), new Token(2), false, 0)).as("this one is newer").isFalse();
	}

	/** The caller has to carry it over first, and again if something has come since. */
	@Test
	void shardIsNotLeftBeforeItIsCarriedOver() {
		commitAt5();
		assertThat(this.redis.leave(SHARD, new Token(2), Token.NONE, false, 0)).isFalse();
		assertThat(this.redis.leave(SHARD, new Token(2), null, false, 0)).as("not acquired").isFalse();
		acquire(2);
		SeekRequest request = this.redis.seek(SHARD, new Offset("2-0"), true);
		assertThat(this.redis.leave(SHARD, new Token(2), null, false, 0)).as("a seek has come").isFalse();
		acquire(3);
		assertThat(this.redis.leave(SHARD, new Token(2), null, false, request.number())).as("a newer owner").isFalse();
		assertThat(this.redis.leave(SHARD, new Token(3), null, false, request.number())).isTrue();
		assertThat(this.redis.leave(SHARD, new Token(4), new Token(3), false, request.number())).isTrue();
		assertThat(this.redis.commits(SHARD).last().token()).isEqualTo(new Token(4));
	}

	/** In a failover, or because Redis was emptied. */
	@Test
	void lostMarkIsWrittenAgainByTheNextOwner() {
		commitAt5();
		Object before = this.keys.snapshot();
		acquire(2);
		assertThat(this.redis.leave(SHARD, new Token(2), null, false, 0)).isTrue();
		this.keys.restore(before);

		assertThat(this.redis.leave(SHARD, new Token(3), new Token(2), false, 0)).isTrue();
		assertRefused(() -> this.redis.acquireNow(SHARD, new Token(4)));
		this.keys.delete();
		assertThat(this.redis.leave(SHARD, new Token(5), new Token(3), false, 0)).isTrue();
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.redis.acquireNow(SHARD, new Token(6)));
	}

	/** A failover has kept the acquisition, and lost that the shard was left since. */
	@Test
	void lostMarkDoesNotMakeTheCheckpointOfBeforeCountOnceTheDatabaseHasCommits() {
		commitAt5();
		acquire(2);
		Object before = this.keys.snapshot();
		assertThat(this.redis.leave(SHARD, new Token(2), null, false, 0)).isTrue();
		this.keys.restore(before);

		assertThat(this.redis.leave(SHARD, new Token(3), new Token(2), false, 0)).as("only carried over").isFalse();
		assertThat(this.redis.leave(SHARD, new Token(3), new Token(2), true, 0)).isTrue();
		assertRefused(() -> this.redis.acquireNow(SHARD, new Token(4)));
	}

	/** More shards than threads, whose states have several pages each. */
	@Test
	void largeStatesOfManyShardsComeBackTogether() {
		Map<String, String> state = new HashMap<>();
		for (int i = 0; i < 2_000; i++) {
			state.put("key-" + i, "1");
		}
		this.redis.carryBackFrom((topic) -> true, () -> this.database);
		List<ShardId> shards = IntStream.range(0, 16).mapToObj((id) -> ShardId.of("orders", id)).toList();
		for (ShardId shard : shards) {
			Commit commit = Commit.of(CommitNumber.ofWhole(1), new Offset("5-0"), state);
			this.redis.acquire(shard, new Token(1)).join();
			this.redis.commit(shard, new Token(1), commit).join();
			this.redis.acquire(shard, new Token(2)).join();
			this.database.acquireNow(shard, new Token(2));
			this.database.commit(shard, new Token(2), commit).join();
			assertThat(this.redis.leave(shard, new Token(2), null, false, 0)).isTrue();
		}
		List<CompletableFuture<Acquisition>> replies = shards.stream()
			.map((shard) -> this.redis.acquire(shard, new Token(3)))
			.toList();

		assertThat(CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new)))
			.succeedsWithin(Duration.ofSeconds(20));
		assertThat(replies)
			.allSatisfy((reply) -> assertThat(reply.join()).isInstanceOfSatisfying(Acquisition.Acquired.class,
					(back) -> assertThat(back.checkpoint().state()).hasSize(2_000)));
	}

	@Test
	void whatWasCarriedOverIsNotHandledHereAsWell() {
		FailedRecord failed = failed();
		acquire(1);
		commit(new Commit(CommitNumber.ofWhole(1), new Offset("5-0"), Set.of(), Map.of("n", "5"),
				List.of(new Retry(failed, Duration.ZERO)), Set.of(), List.of()));
		acquire(2);
		assertThat(this.redis.leave(SHARD, new Token(2), null, false, 0)).isTrue();
		this.redis.seek(SHARD, new Offset("2-0"), true);

		assertThat(acquire(3).checkpoint().retryDueIn()).isNull();
	}

	@Test
	void checkpointIsCarriedBack() {
		leave();
		FailedRecord failed = failed();
		this.database.acquireNow(SHARD, new Token(2));
		assertThat(this.database
			.commit(SHARD, new Token(2),
					new Commit(CommitNumber.ofWhole(1), new Offset("8-0"), Set.of(new Offset("10-0")), Map.of("m", "8"),
							List.of(new Retry(failed, Duration.ofHours(1))), Set.of(), List.of()))
			.join()).isEqualTo(CommitReply.COMMITTED);
		this.redis.carryBackFrom((topic) -> true, () -> this.database);

		Acquisition.Acquired back = acquire(3);
		assertThat(back.checkpoint().offset()).isEqualTo(new Offset("8-0"));
		assertThat(back.checkpoint().ahead()).containsExactly(new Offset("10-0"));
		assertThat(back.checkpoint().state()).containsExactly(Map.entry("m", "8"));
		assertThat(back.checkpoint().retryDueIn()).isGreaterThan(Duration.ofMinutes(59));
		assertThat(this.redis.retries(SHARD, List.of(failed.offset()), 1_000_000)).containsExactly(failed);
		assertThat(this.database.commits(SHARD).last().token()).as("its owner is fenced").isEqualTo(new Token(3));
		assertThat(acquire(4).checkpoint().offset()).as("once").isEqualTo(new Offset("8-0"));
	}

	@Test
	void timersAreCarriedBack() {
		acquire(1);
		commit(Commit.of(CommitNumber.ofWhole(1), new Offset("5-0"), Map.of())
			.withTimers(Map.of(new TimerId("ann", "of before"), Instant.EPOCH)));
		acquire(2);
		assertThat(this.redis.leave(SHARD, new Token(2), null, false, 0)).isTrue();
		Map<TimerId, Instant> timers = new HashMap<>();
		IntStream.range(0, 2_500).forEach((i) -> timers.put(new TimerId("key-" + i, "t"), Instant.EPOCH.plusMillis(i)));
		commitToDatabase(timers);
		this.redis.carryBackFrom((topic) -> true, () -> this.database);

		acquire(3);
		assertThat(this.redis.countTimers(SHARD)).isEqualTo(2_500);
		assertThat(this.redis.timers(SHARD, null, 2_500)).isEqualTo(IntStream.range(0, 2_500)
			.mapToObj((i) -> new StoredTimer(new TimerId("key-" + i, "t"), Instant.EPOCH.plusMillis(i)))
			.toList());
		acquire(4);
		assertThat(this.redis.countTimers(SHARD)).as("once").isEqualTo(2_500);
	}

	@Test
	void shardWithTooManyTimersIsNotCarriedBack() {
		leave();
		Map<TimerId, Instant> timers = new HashMap<>();
		IntStream.rangeClosed(0, 100_000).forEach((i) -> timers.put(new TimerId("key-" + i, "t"), Instant.EPOCH));
		commitToDatabase(timers);
		this.redis.carryBackFrom((topic) -> true, () -> this.database);

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.redis.acquireNow(SHARD, new Token(3)))
			.withMessageContainingAll("orders/0 still has more than 100000 timers", "run it with 'transaction: jdbc'",
					"until they have fired or are cancelled")
			.matches(StoreUnavailableException::isRefusal);
		assertThat(this.database.countTimers(SHARD)).isEqualTo(100_001);
	}

	@Test
	void seekThatClearsTheStateLeavesTheTimersBehind() {
		leave();
		commitToDatabase(Map.of(new TimerId("ann", "t"), Instant.EPOCH));
		this.redis.carryBackFrom((topic) -> true, () -> this.database);
		this.redis.seek(SHARD, new Offset("6-0"), true);

		acquire(3);
		assertThat(this.redis.countTimers(SHARD)).isZero();
	}

	private void commitToDatabase(Map<TimerId, Instant> timers) {
		this.database.acquireNow(SHARD, new Token(2));
		assertThat(
				this.database
					.commit(SHARD, new Token(2),
							Commit.of(CommitNumber.ofWhole(1), new Offset("8-0"), Map.of())
								.withTimers(new HashMap<>(timers)))
					.join())
			.isEqualTo(CommitReply.COMMITTED);
	}

	@Test
	void seekOfALeftShardIsCarriedOutWhenItComesBack() {
		leave();
		this.database.acquireNow(SHARD, new Token(2));
		this.database
			.commit(SHARD, new Token(2), Commit.of(CommitNumber.ofWhole(1), new Offset("8-0"), Map.of("m", "8")))
			.join();
		this.redis.carryBackFrom((topic) -> true, () -> this.database);
		SeekRequest request = this.redis.seek(SHARD, new Offset("6-0"), true);
		assertThat(this.redis.seeks(List.of(SHARD))).containsEntry(SHARD, new Seeks(0, request));

		Acquisition.Acquired back = acquire(3);
		assertThat(back.checkpoint().offset()).isEqualTo(new Offset("6-0"));
		assertThat(back.checkpoint().state()).isEmpty();
		assertThat(back.seeks()).isEqualTo(new Seeks(request.number(), null));
	}

	@Test
	void shardWhoseOutboxIsNotEmptyIsNotCarriedBack() {
		leave();
		this.database.acquireNow(SHARD, new Token(2));
		Outbox.Entry entry = new Outbox.Entry(new Outbox.Place(1, 1), 1, TARGET, 1, null, new byte[1], Map.of());
		this.database
			.commit(SHARD, new Token(2),
					Commit.of(CommitNumber.ofWhole(1), new Offset("8-0"), Map.of())
						.withOutbox(new Outbox.Changes(1, entry.place(), Map.of(TARGET, 1L), List.of(entry), List.of(),
								false)))
			.join();
		this.redis.carryBackFrom((topic) -> true, () -> this.database);

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.redis.acquireNow(SHARD, new Token(3)))
			.withMessageContainingAll("orders/0 still has 1 records in its outbox", "run it with 'transaction: jdbc'",
					"then without it again")
			.matches(StoreUnavailableException::isRefusal);
	}

	/** Its first commits are newer than what the other one has read from the database. */
	@Test
	void callThatIsLateDoesNotCarryBackAgain() {
		leave();
		this.database.acquireNow(SHARD, new Token(2));
		this.database
			.commit(SHARD, new Token(2), Commit.of(CommitNumber.ofWhole(1), new Offset("8-0"), Map.of("m", "8")))
			.join();
		this.redis.carryBackFrom((topic) -> true, () -> {
			this.redis.carryBackFrom((topic) -> true, () -> this.database);
			Acquisition.Acquired first = acquire(3);
			assertThat(
					this.redis
						.commit(SHARD, new Token(3),
								Commit.of(new CommitNumber(first.lastCommit() + 1, first.lastCommit(),
										first.acquisition()), new Offset("9-0"), Map.of("m", "9")))
						.join())
				.isEqualTo(CommitReply.COMMITTED);
			return this.database;
		});

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.redis.acquireNow(SHARD, new Token(3)))
			.withMessageContaining("trying again")
			.matches((failure) -> !failure.isRefusal());
		assertThat(acquire(3).checkpoint().offset()).isEqualTo(new Offset("9-0"));
	}

	/** Of a topic that is consumed in transactions. */
	@Test
	void shardIsNotCarriedBackWhileItsTopicIsInTheDatabase() {
		leave();
		this.redis.carryBackFrom((topic) -> false, () -> this.database);

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.redis.acquireNow(SHARD, new Token(3)))
			.withMessageContaining("trying again");
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.redis.seek(SHARD, new Offset("2-0"), true))
			.withMessageContaining("trying again");
	}

	@Test
	void databaseThatDoesNotHaveTheCheckpointIsNotTakenForAnEmptyOne() {
		leave();
		this.redis.carryBackFrom((topic) -> true, () -> this.database);

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.redis.acquireNow(SHARD, new Token(3)))
			.withMessageContainingAll("the database does not have it", "'shardkeeper.jdbc.table-prefix'",
					"ShardPositions.reset")
			.matches(StoreUnavailableException::isRefusal);
	}

	private void leave() {
		commitAt5();
		acquire(2);
		assertThat(this.redis.leave(SHARD, new Token(2), null, false, 0)).isTrue();
	}

	private void commitAt5() {
		acquire(1);
		commit(Commit.of(CommitNumber.ofWhole(1), new Offset("5-0"), Map.of("n", "5")));
	}

	private void commit(Commit commit) {
		assertThat(this.redis.commit(SHARD, new Token(1), commit).join()).isEqualTo(CommitReply.COMMITTED);
	}

	private Acquisition.Acquired acquire(long token) {
		return (Acquisition.Acquired) ((CheckpointStore) this.redis).acquireNow(SHARD, new Token(token));
	}

	private static FailedRecord failed() {
		return new FailedRecord(new Offset("3-0"), "key", new byte[] { 1, 2 }, Map.of("h", "v"), Instant.EPOCH, 2, 1,
				"java.lang.IllegalStateException: refused", "at test", Instant.EPOCH, 4);
	}

}
