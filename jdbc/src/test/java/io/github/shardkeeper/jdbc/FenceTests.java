package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.SimpleTransactionStatus;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions.Call;
import io.github.shardkeeper.checkpoint.CallTransactions.Result;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.EveryDatabase;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Transactions of two owners of a shard that are open at the same time, on all isolation
 * levels of several databases. Each test has one row per record that was booked: never
 * two, and none that the offset does not cover.
 */
@Tag("proof")
@Promise("Rows exactly once")
class FenceTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token OLD = new Token(1_767_225_600_123_456L);

	private static final Token NEW = new Token(OLD.value() + 1);

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private TestDatabase kind;

	private DatabaseServer server;

	private CheckpointStore store;

	private void open(TestDatabase kind, String isolation, Duration lockWait) {
		this.kind = kind;
		this.server = new DatabaseServer(kind.create(isolation));
		this.server.jdbc().execute("create table booked (record_offset varchar(20), owner varchar(10))");
		this.store = this.server.databaseInRealTime(lockWait).checkpoints(null);
	}

	@AfterEach
	void close() {
		// Not if the database is not on this machine.
		if (this.store != null) {
			this.store.close();
			this.server.close();
		}
	}

	/**
	 * The old owner has booked a record and has not reached its commit when the new owner
	 * acquires the shard, and handles the same record.
	 */
	@ParameterizedTest
	@ArgumentsSource(IsolationLevels.class)
	void openTransactionOfAnEarlierOwnerIsRolledBack(TestDatabase kind, String isolation) throws Exception {
		open(kind, isolation, Duration.ofSeconds(30));
		Acquired old = acquire(OLD);
		CountDownLatch booked = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		CompletableFuture<Result> open = CompletableFuture
			.supplyAsync(() -> call(OLD, commit(old, 1, 0, "1"), "old", (reached) -> {
				booked.countDown();
				Latches.await(goOn);
			}));
		Latches.await(booked);

		Acquired current = acquire(NEW);
		assertThat(current.checkpoint().offset()).isNull();
		assertThat(call(NEW, commit(current, 1, 0, "1"), "new")).isInstanceOf(Result.Committed.class);
		goOn.countDown();

		// Above READ COMMITTED the database itself may refuse it.
		assertThat(open.get(60, TimeUnit.SECONDS)).isInstanceOfAny(Result.Stale.class, Result.Unavailable.class);
		assertThat(call(OLD, commit(old, 2, 0, "1"), "old")).isInstanceOf(Result.Stale.class);
		assertThat(rows()).containsExactly(Map.of("RECORD_OFFSET", "1", "OWNER", "new"));
		assertThat(this.store.read(SHARD).offset()).isEqualTo(new Offset("1"));
	}

	/** The new owner has acquired the shard and committed nothing: the numbers agree. */
	@ParameterizedTest
	@ArgumentsSource(IsolationLevels.class)
	void earlierOwnerCannotCommitAfterTheAcquisition(TestDatabase kind, String isolation) throws Exception {
		open(kind, isolation, Duration.ofSeconds(30));
		Acquired old = acquire(OLD);
		CountDownLatch booked = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		CompletableFuture<Result> open = CompletableFuture
			.supplyAsync(() -> call(OLD, commit(old, 1, 0, "1"), "old", (reached) -> {
				booked.countDown();
				Latches.await(goOn);
			}));
		Latches.await(booked);
		Acquired current = acquire(NEW);
		goOn.countDown();

		assertThat(open.get(60, TimeUnit.SECONDS)).isInstanceOfAny(Result.Stale.class, Result.Unavailable.class);
		assertThat(call(NEW, commit(current, 1, 0, "1"), "new")).isInstanceOf(Result.Committed.class);
		assertThat(rows()).containsExactly(Map.of("RECORD_OFFSET", "1", "OWNER", "new"));
	}

	/**
	 * The old owner has passed the check of its token, and has not committed, when the
	 * new owner acquires the shard.
	 */
	@ParameterizedTest
	@ArgumentsSource(IsolationLevels.class)
	void newOwnerWaitsForATransactionThatHasPassedItsCheck(TestDatabase kind, String isolation) throws Exception {
		open(kind, isolation, Duration.ofSeconds(30));
		Acquired old = acquire(OLD);
		JdbcDataPlane database = this.server.databaseInRealTime(Duration.ofSeconds(30));
		CountDownLatch passed = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		CompletableFuture<Boolean> open = CompletableFuture
			.supplyAsync(() -> database.steps().transactions().execute((status) -> {
				book("1", "old");
				boolean written = database.shards().commit(SHARD, OLD, commit(old, 1, 0, "1"), 0, "");
				passed.countDown();
				Latches.await(goOn);
				return written;
			}));
		Latches.await(passed);
		CompletableFuture<Acquisition> acquisition = this.store.acquire(SHARD, NEW);
		Awaitility.await().atMost(LIMIT).until(this::somebodyWaits);
		assertThat(acquisition).isNotDone();
		goOn.countDown();

		assertThat(open.get(60, TimeUnit.SECONDS)).isTrue();
		Acquired current = (Acquired) acquisition.get(60, TimeUnit.SECONDS);
		assertThat(current.checkpoint().offset()).isEqualTo(new Offset("1"));
		assertThat(call(NEW, commit(current, 1, 0, "2"), "new")).isInstanceOf(Result.Committed.class);
		assertThat(rows()).containsExactlyInAnyOrder(Map.of("RECORD_OFFSET", "1", "OWNER", "old"),
				Map.of("RECORD_OFFSET", "2", "OWNER", "new"));
	}

	/**
	 * The end of a transaction had no reply, so its owner has called the handler again;
	 * but it is still open, and ends first or last.
	 */
	@ParameterizedTest
	@CsvSource({ "H2, TRANSACTION_READ_COMMITTED, true", "H2, TRANSACTION_REPEATABLE_READ, true",
			"POSTGRESQL, TRANSACTION_READ_COMMITTED, true", "POSTGRESQL, TRANSACTION_READ_COMMITTED, false",
			"POSTGRESQL, TRANSACTION_REPEATABLE_READ, true", "POSTGRESQL, TRANSACTION_SERIALIZABLE, true",
			"MARIADB, TRANSACTION_READ_COMMITTED, true", "MARIADB, TRANSACTION_READ_COMMITTED, false",
			"MARIADB, TRANSACTION_REPEATABLE_READ, true", "MARIADB, TRANSACTION_SERIALIZABLE, true",
			"MYSQL, TRANSACTION_READ_COMMITTED, true", "MYSQL, TRANSACTION_READ_COMMITTED, false",
			"MYSQL, TRANSACTION_REPEATABLE_READ, true", "MYSQL, TRANSACTION_SERIALIZABLE, true" })
	void oneOfTwoTransactionsOfTheSameOwnerIsRolledBack(TestDatabase kind, String isolation, boolean firstEndsLast)
			throws Exception {
		open(kind, isolation, Duration.ofSeconds(30));
		Acquired acquired = acquire(OLD);
		CountDownLatch booked = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		CompletableFuture<Result> first = CompletableFuture
			.supplyAsync(() -> call(OLD, commit(acquired, 1, 0, "1"), "first", (reached) -> {
				booked.countDown();
				Latches.await(goOn);
			}));
		Latches.await(booked);
		if (!firstEndsLast) {
			goOn.countDown();
			first.get(60, TimeUnit.SECONDS);
		}
		Result second = call(OLD, commit(acquired, 2, 0, "1"), "second");
		goOn.countDown();

		assertThat(List.of(first.get(60, TimeUnit.SECONDS), second)).filteredOn(Result.Committed.class::isInstance)
			.hasSize(1);
		assertThat(rows()).hasSize(1);
	}

	@EveryDatabase
	void waitForALockIsBoundedAndExplained(TestDatabase kind) throws Exception {
		open(kind, "", Duration.ofSeconds(1));
		acquire(OLD);
		JdbcDataPlane database = this.server.databaseInRealTime(Duration.ofSeconds(30));
		CountDownLatch locked = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		CompletableFuture<Boolean> open = CompletableFuture
			.supplyAsync(() -> database.steps().transactions().execute((status) -> {
				boolean found = database.shards().lock(SHARD);
				locked.countDown();
				Latches.await(goOn);
				return found;
			}));
		Latches.await(locked);

		assertThatThrownBy(() -> this.store.acquireNow(SHARD, NEW)).isInstanceOf(StoreUnavailableException.class)
			.hasMessageContaining("has held the lock of the shard's row for 1 s")
			.hasMessageContaining("idle_in_transaction_session_timeout");
		goOn.countDown();
		assertThat(open.get(60, TimeUnit.SECONDS)).isTrue();
		assertThat(this.store.acquireNow(SHARD, NEW)).isInstanceOf(Acquired.class);
	}

	/** For example of a seek whose process was frozen. */
	@EveryDatabase
	void callWaitsForALockForALimitedTime(TestDatabase kind) throws Exception {
		open(kind, "", Duration.ofSeconds(1));
		Acquired acquired = acquire(OLD);
		JdbcDataPlane database = this.server.databaseInRealTime(Duration.ofSeconds(30));
		CountDownLatch locked = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		CompletableFuture<Boolean> open = CompletableFuture
			.supplyAsync(() -> database.steps().transactions().execute((status) -> {
				boolean found = database.shards().lock(SHARD);
				locked.countDown();
				Latches.await(goOn);
				return found;
			}));
		Latches.await(locked);

		Result waited = call(OLD, commit(acquired, 1, 0, "1"), "old");
		assertThat(waited).isInstanceOfSatisfying(Result.Unavailable.class,
				(unavailable) -> assertThat(unavailable.failure())
					.hasMessageContaining("has held the lock of the shard's row for 1 s"));
		goOn.countDown();
		assertThat(open.get(60, TimeUnit.SECONDS)).isTrue();
		assertThat(call(OLD, commit(acquired, 2, 0, "1"), "old")).isInstanceOf(Result.Committed.class);
		assertThat(rows()).hasSize(1);
	}

	/** As with JPA: otherwise it would wait for rows of calls that wait for the turn. */
	@Test
	void whatIsHeldBackIsWrittenBeforeTheTurnIsTaken() {
		open(TestDatabase.H2, "", Duration.ofSeconds(30));
		Acquired acquired = acquire(OLD);
		List<String> order = new ArrayList<>();
		JdbcTransactionManager manager = new JdbcTransactionManager(this.server.pool());
		PlatformTransactionManager flushing = new PlatformTransactionManager() {

			private TransactionStatus begun;

			@Override
			public TransactionStatus getTransaction(TransactionDefinition definition) {
				this.begun = manager.getTransaction(definition);
				return new SimpleTransactionStatus() {

					@Override
					public void flush() {
						order.add("flush");
					}

				};
			}

			@Override
			public void commit(TransactionStatus status) {
				order.add("end");
				manager.commit(this.begun);
			}

			@Override
			public void rollback(TransactionStatus status) {
				manager.rollback(this.begun);
			}

		};
		Result result = this.server.transactions(flushing).call(SHARD, OLD, new Call() {

			@Override
			public void run() {
				order.add("handler");
			}

			@Override
			public Commit commit() {
				order.add("turn");
				return FenceTests.commit(acquired, 1, 0, "1");
			}

			@Override
			public Runnable savepoint() {
				return () -> {
				};
			}

		});

		assertThat(result).isInstanceOf(Result.Committed.class);
		assertThat(order).containsExactly("handler", "flush", "turn", "end");
		assertThat(this.store.read(SHARD).offset()).isEqualTo(new Offset("1"));
	}

	@Test
	void tokenInTheTableIsTheFence() {
		open(TestDatabase.H2, "", Duration.ofSeconds(30));
		acquire(NEW);

		assertThat(this.store.acquireNow(SHARD, OLD)).isEqualTo(new Acquisition.Refused(NEW));
	}

	private boolean somebodyWaits() {
		String waiting = switch (this.kind) {
			case H2 -> "select count(*) from information_schema.sessions where blocker_id is not null";
			case POSTGRESQL -> "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
			case MARIADB, MYSQL -> "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";
		};
		return this.server.jdbc().queryForObject(waiting, Integer.class) > 0;
	}

	private Acquired acquire(Token token) {
		return (Acquired) this.store.acquireNow(SHARD, token);
	}

	private static Commit commit(Acquired acquired, long attempt, long acknowledged, String offset) {
		return new Commit(new CommitNumber(attempt, acknowledged, acquired.acquisition()), new Offset(offset), Set.of(),
				Map.of(), List.of(), Set.of(), List.of());
	}

	private Result call(Token token, Commit commit, String owner) {
		return call(token, commit, owner, (reached) -> {
		});
	}

	private Result call(Token token, Commit commit, String owner, Consumer<String> beforeCommit) {
		Runnable handler = () -> {
			book(commit.offset().value(), owner);
			beforeCommit.accept(owner);
		};
		return this.store.transactions(SHARD.topic()).call(SHARD, token, new TestCall(handler, commit));
	}

	private void book(String offset, String owner) {
		this.server.jdbc().update("insert into booked (record_offset, owner) values (?, ?)", offset, owner);
	}

	private List<Map<String, Object>> rows() {
		return this.server.jdbc()
			.query("select record_offset, owner from booked",
					(row, number) -> Map.of("RECORD_OFFSET", row.getString(1), "OWNER", row.getString(2)));
	}

}
