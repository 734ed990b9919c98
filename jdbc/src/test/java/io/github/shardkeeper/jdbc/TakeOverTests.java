package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
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
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.EveryDatabase;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Shards that were in another store before. */
@MoreInProof
@Promise("Rows exactly once")
class TakeOverTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final ShardId TARGET = ShardId.of("invoices", 0);

	private final MemoryCheckpointStore earlier = new MemoryCheckpointStore();

	/** Nobody would append them to their targets. */
	@EveryDatabase
	void shardWhoseOutboxIsNotEmptyIsNotTakenOver(TestDatabase kind) {
		Token old = new Token(1);
		this.earlier.acquireNow(SHARD, old);
		Outbox.Entry entry = new Outbox.Entry(new Outbox.Place(1, 1), 1, TARGET, 1, null, new byte[1], Map.of());
		commit(old, 1, new Outbox.Changes(1, entry.place(), Map.of(TARGET, 1L), List.of(entry), List.of(), false));
		try (HikariDataSource pool = kind.create()) {
			CheckpointStore database = new JdbcDataPlane(new JdbcTransactionManager(pool), pool,
					DatabaseServer.TABLE_SETTINGS, "app", Duration.ofSeconds(10))
				.checkpoints(this.earlier);

			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> database.acquireNow(SHARD, new Token(2)))
				.withMessageContaining("orders/0 still has 1 records in its outbox")
				.withMessageContaining("without 'transaction: jdbc'")
				.matches(StoreUnavailableException::isRefusal);

			this.earlier.acquireNow(SHARD, new Token(3));
			commit(new Token(3), 1,
					new Outbox.Changes(1, entry.place(), Map.of(), List.of(), List.of(entry.place()), false));
			assertThat(database.acquireNow(SHARD, new Token(4))).isInstanceOfSatisfying(Acquisition.Acquired.class,
					(acquired) -> assertThat(acquired.checkpoint().offset()).isEqualTo(new Offset("5")));
			database.close();
		}
	}

	/**
	 * It must not keep the outbox from being forwarded, or the offset from being kept.
	 */
	@EveryDatabase
	void seekOfShardThatIsNotTakenOverYetWaitsWhereTheShardIs(TestDatabase kind) {
		this.earlier.acquireNow(SHARD, new Token(1));
		Outbox.Entry entry = new Outbox.Entry(new Outbox.Place(1, 1), 1, TARGET, 1, null, new byte[1], Map.of());
		commit(new Token(1), 1,
				new Outbox.Changes(1, entry.place(), Map.of(TARGET, 1L), List.of(entry), List.of(), false));
		try (HikariDataSource pool = kind.create()) {
			CheckpointStore database = open(pool);
			SeekRequest request = database.seek(SHARD, new Offset("2"), false);

			assertThat(database.seeks(List.of(SHARD))).containsEntry(SHARD, new Seeks(0, request));
			assertThat(database.offsets(List.of(SHARD))).containsEntry(SHARD, new Offset("5"));
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> database.acquireNow(SHARD, new Token(2)))
				.withMessageContaining("orders/0 still has 1 records in its outbox");
			this.earlier.acquireNow(SHARD, new Token(3));
			commit(new Token(3), 1,
					new Outbox.Changes(1, entry.place(), Map.of(), List.of(), List.of(entry.place()), false));
			assertThat(acquire(database, 4).checkpoint().offset()).isEqualTo(new Offset("2"));
			assertThat(database.seeks(List.of(SHARD))).containsEntry(SHARD, new Seeks(request.number(), null));
			database.close();
		}
	}

	@EveryDatabase
	void pendingSeekIsCarriedOutOnTheWay(TestDatabase kind) {
		this.earlier.acquireNow(SHARD, new Token(1));
		commit(new Token(1), 1, Outbox.Changes.NONE);
		SeekRequest request = this.earlier.seek(SHARD, new Offset("2"), true);
		try (HikariDataSource pool = kind.create()) {
			CheckpointStore database = open(pool);

			Acquisition.Acquired taken = acquire(database, 2);
			assertThat(taken.checkpoint().offset()).isEqualTo(new Offset("2"));
			assertThat(taken.checkpoint().state()).as("it removes the state").isEmpty();
			assertThat(taken.seeks()).isEqualTo(new Seeks(request.number(), null));
			database.close();
		}
	}

	@EveryDatabase
	void retryQueueGoesWithTheShard(TestDatabase kind) {
		this.earlier.acquireNow(SHARD, new Token(1));
		FailedRecord due = failed("1", 2, 0);
		FailedRecord parked = failed("3", 0, 7);
		assertThat(this.earlier
			.commit(SHARD, new Token(1),
					new Commit(CommitNumber.ofWhole(1), new Offset("5"), Set.of(), Map.of(),
							List.of(new Retry(due, Duration.ZERO), new Retry(parked, Duration.ofHours(1))), Set.of(),
							List.of()))
			.join()).isEqualTo(CheckpointStore.CommitReply.COMMITTED);
		try (HikariDataSource pool = kind.create()) {
			CheckpointStore database = open(pool);

			assertThat(acquire(database, 2).checkpoint().retryDueIn()).isZero();
			assertThat(database.due(SHARD, 10, 1_000_000, Set.of()).records()).containsExactly(due);
			assertThat(database.retries(SHARD, List.of(parked.offset()), 1_000_000)).containsExactly(parked);
			List<Duration> delays = new ArrayList<>();
			database.waiting(SHARD, (record) -> delays.add(record.dueIn()));
			assertThat(delays).anySatisfy((delay) -> assertThat(delay).isGreaterThan(Duration.ofMinutes(59)));
			database.close();
		}
	}

	@EveryDatabase
	void timersGoWithTheShard(TestDatabase kind) {
		this.earlier.acquireNow(SHARD, new Token(1));
		StoredTimer timer = new StoredTimer(new TimerId("ann", "reminder"), Instant.ofEpochMilli(1_767_225_600_001L));
		assertThat(this.earlier
			.commit(SHARD, new Token(1),
					Commit.of(CommitNumber.ofWhole(1), new Offset("5"), Map.of())
						.withTimers(Map.of(timer.id(), timer.due())))
			.join()).isEqualTo(CheckpointStore.CommitReply.COMMITTED);
		try (HikariDataSource pool = kind.create()) {
			CheckpointStore database = open(pool);

			acquire(database, 2);
			assertThat(database.timers(SHARD, null, 10)).containsExactly(timer);
			acquire(database, 3);
			assertThat(database.timers(SHARD, null, 10)).as("once").containsExactly(timer);
			assertThat(database.leave(SHARD, new Token(3), null, false, 0)).isTrue();
			assertThat(database.countTimers(SHARD)).isZero();
			database.close();
		}
	}

	/** The topic was switched back and forth: the database's is from before. */
	@EveryDatabase
	void shardThatWasConsumedElsewhereMeanwhileIsTakenOverAgain(TestDatabase kind) {
		this.earlier.acquireNow(SHARD, new Token(1));
		commit(new Token(1), 1, Outbox.Changes.NONE);
		try (HikariDataSource pool = kind.create()) {
			CheckpointStore database = open(pool);
			Acquisition.Acquired first = acquire(database, 2);
			assertThat(database.commit(SHARD, new Token(2),
					Commit.of(new CommitNumber(first.lastCommit() + 1, first.lastCommit(), first.acquisition()),
							new Offset("6"), Map.of("in database", "1")))
				.join()).isEqualTo(CheckpointStore.CommitReply.COMMITTED);
			this.earlier.acquireNow(SHARD, new Token(3));
			assertThat(this.earlier
				.commit(SHARD, new Token(3), Commit.of(CommitNumber.ofWhole(1), new Offset("9"), Map.of("n", "9")))
				.join()).isEqualTo(CheckpointStore.CommitReply.COMMITTED);

			Acquisition.Acquired again = acquire(database, 4);
			assertThat(again.checkpoint().offset()).isEqualTo(new Offset("9"));
			assertThat(again.checkpoint().state()).containsExactly(Map.entry("n", "9"));
			assertThat(acquire(database, 5).checkpoint().offset()).as("once").isEqualTo(new Offset("9"));
			database.close();
		}
	}

	private CheckpointStore open(HikariDataSource pool) {
		return new JdbcDataPlane(new JdbcTransactionManager(pool), pool, DatabaseServer.TABLE_SETTINGS, "app",
				Duration.ofSeconds(10))
			.checkpoints(this.earlier);
	}

	private static Acquisition.Acquired acquire(CheckpointStore store, long token) {
		return (Acquisition.Acquired) store.acquireNow(SHARD, new Token(token));
	}

	private static FailedRecord failed(String offset, int attempts, long place) {
		return new FailedRecord(new Offset(offset), "key", new byte[] { 1, 2 }, Map.of("h", "v"), Instant.EPOCH,
				attempts, 0, "java.lang.IllegalStateException: refused", "at test", Instant.EPOCH, place);
	}

	private void commit(Token token, long number, Outbox.Changes changes) {
		assertThat(
				this.earlier
					.commit(SHARD, token,
							Commit.of(CommitNumber.ofWhole(number), new Offset("5"), Map.of("n", "5"))
								.withOutbox(changes))
					.join())
			.isEqualTo(CheckpointStore.CommitReply.COMMITTED);
	}

}
