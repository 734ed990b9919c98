package io.github.shardkeeper.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.shardkeeper.checkpoint.CallTransactions.Result;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.EveryDatabase;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * H2, MySQL and MariaDB roll the whole transaction back in a deadlock, and go on with a
 * new one on the same connection: later statements succeed.
 */
@Tag("proof")
@Promise("Rows exactly once")
class LostTransactionsTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(7);

	private HikariDataSource pool;

	private JdbcTransactionManager manager;

	private JdbcTemplate jdbc;

	private CheckpointStore store;

	private Acquired acquired;

	private void open(TestDatabase kind) {
		this.pool = kind.create("TRANSACTION_READ_COMMITTED");
		this.manager = new JdbcTransactionManager(this.pool);
		this.jdbc = new JdbcTemplate(this.pool);
		this.jdbc.execute("create table booked (id int primary key)");
		this.jdbc.execute("create table account (id int primary key, cents int)");
		this.jdbc.update("insert into account (id, cents) values (1, 0), (2, 0)");
		this.store = new DatabaseServer(this.pool).store();
		this.acquired = (Acquired) this.store.acquireNow(SHARD, TOKEN);
	}

	@AfterEach
	void close() {
		if (this.store != null) {
			this.store.close();
			this.pool.close();
		}
	}

	/** A savepoint does not help: it is rolled back, too. */
	@ParameterizedTest
	@CsvSource({ "H2, false", "H2, true", "MARIADB, false", "MARIADB, true", "MYSQL, false", "MYSQL, true" })
	void deadlockThatTheHandlerCatchesFailsTheCall(TestDatabase kind, boolean nested) throws Exception {
		open(kind);
		AtomicBoolean caught = new AtomicBoolean();
		Result result = callThatIsTheVictimOfADeadlock(kind, nested, caught, false);

		assertThat(caught).isTrue();
		assertFailed(result);
		assertThat(rows()).as("of the first transaction, and of the one that took its place").isEmpty();
		assertThat(offset()).isNull();
		assertThat(call(() -> book(1))).isInstanceOf(Result.Committed.class);
		assertThat(rows()).containsExactly(1);
	}

	/**
	 * PostgreSQL refuses everything that follows, unless a savepoint was rolled back. Its
	 * driver tells the reason, so it is a conflict nevertheless.
	 */
	@ParameterizedTest
	@CsvSource({ "false", "true" })
	void deadlockInPostgresqlLosesNothing(boolean nested) throws Exception {
		open(TestDatabase.POSTGRESQL);
		AtomicBoolean caught = new AtomicBoolean();
		Result result = callThatIsTheVictimOfADeadlock(TestDatabase.POSTGRESQL, nested, caught, false);

		assertThat(caught).isTrue();
		assertThat(result).isInstanceOf(nested ? Result.Committed.class : Result.Conflict.class);
		assertThat(rows()).isEqualTo(nested ? List.of(1, 2) : List.of());
		assertThat(offset()).isEqualTo(nested ? new Offset("1") : null);
	}

	/** Also if the rollback to a savepoint that is lost fails, too. */
	@ParameterizedTest
	@CsvSource({ "H2, false", "H2, true", "MARIADB, false", "MARIADB, true", "MYSQL, false", "MYSQL, true",
			"POSTGRESQL, false", "POSTGRESQL, true" })
	void deadlockThatLeavesTheHandlerIsAConflict(TestDatabase kind, boolean nested) throws Exception {
		open(kind);
		AtomicBoolean caught = new AtomicBoolean();
		Result result = callThatIsTheVictimOfADeadlock(kind, nested, caught, true);

		assertThat(caught).isTrue();
		assertThat(result).isInstanceOf(Result.Conflict.class);
		assertThat(rows()).isEmpty();
		assertThat(offset()).isNull();
	}

	/**
	 * Catches it after it has written a row, and writes another one, or throws it again.
	 */
	private Result callThatIsTheVictimOfADeadlock(TestDatabase kind, boolean nested, AtomicBoolean caught,
			boolean again) throws Exception {
		TransactionTemplate part = new TransactionTemplate(this.manager);
		part.setPropagationBehavior(
				nested ? TransactionDefinition.PROPAGATION_NESTED : TransactionDefinition.PROPAGATION_SUPPORTS);
		CountDownLatch otherHasOne = new CountDownLatch(1);
		CountDownLatch callHasOne = new CountDownLatch(1);
		CompletableFuture<Void> other = CompletableFuture
			.runAsync(() -> new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
				// MySQL and MariaDB end the transaction that has written less.
				for (int id = 1000; id < 1200; id++) {
					book(id);
				}
				setDeadlockTimeout(kind, "1h");
				add(2);
				otherHasOne.countDown();
				Latches.await(callHasOne);
				add(1);
				status.setRollbackOnly();
			}));
		Latches.await(otherHasOne);
		Result result = call(() -> {
			book(1);
			add(1);
			setDeadlockTimeout(kind, "10ms");
			callHasOne.countDown();
			// H2 ends the transaction that waits last.
			Awaitility.await("the other transaction waits").until(() -> waitsForLock(kind));
			try {
				if (nested) {
					part.executeWithoutResult((status) -> add(2));
				}
				else {
					add(2);
				}
			}
			catch (ConcurrencyFailureException | TransactionException ex) {
				caught.set(true);
				if (again) {
					throw ex;
				}
			}
			if (kind != TestDatabase.POSTGRESQL || nested) {
				book(2);
			}
		});
		other.get(60, TimeUnit.SECONDS);
		return result;
	}

	/** PostgreSQL ends the transaction that finds the deadlock. */
	private void setDeadlockTimeout(TestDatabase kind, String time) {
		if (kind == TestDatabase.POSTGRESQL) {
			this.jdbc.execute("set local deadlock_timeout = '%s'".formatted(time));
		}
	}

	private boolean waitsForLock(TestDatabase kind) {
		String waiting = switch (kind) {
			case H2 -> "select count(*) from information_schema.sessions where blocker_id is not null";
			case POSTGRESQL ->
				"select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%account%'";
			case MARIADB, MYSQL ->
				"select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT' and trx_query like '%account%'";
		};
		try (HikariDataSource another = new HikariDataSource()) {
			another.setJdbcUrl(this.pool.getJdbcUrl());
			return new JdbcTemplate(another).queryForObject(waiting, Integer.class) > 0;
		}
	}

	@EveryDatabase
	void handlerThatRollsBackFails(TestDatabase kind) {
		open(kind);
		assertFailed(call(() -> {
			book(1);
			rollBack();
			book(2);
		}));
		assertThat(rows()).isEmpty();
		assertThat(offset()).isNull();
	}

	/** What it has committed stays; what can be done is to say so. */
	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB", "MYSQL" })
	void handlerThatCommitsFails(TestDatabase kind) {
		open(kind);
		assertFailed(call(() -> {
			book(1);
			onConnection(Connection::commit);
			book(2);
		}));
		assertThat(rows()).containsExactly(1);
		assertThat(offset()).isNull();
		assertThat(call(() -> book(3))).isInstanceOf(Result.Committed.class);
	}

	@EveryDatabase
	void handlerThatSwitchesToAutoCommitFails(TestDatabase kind) {
		open(kind);
		assertFailed(call(() -> {
			book(1);
			onConnection((connection) -> connection.setAutoCommit(true));
			book(2);
		}));
		assertThat(rows()).containsExactly(1, 2);
		assertThat(offset()).isNull();
		assertThat(call(() -> book(3))).isInstanceOf(Result.Committed.class);
	}

	/**
	 * As a listener before the commit that catches a deadlock, after the commit of the
	 * shard.
	 */
	@ParameterizedTest
	@EnumSource(names = { "H2", "MARIADB", "MYSQL" })
	void transactionThatIsLostBeforeItsCommitFails(TestDatabase kind) {
		open(kind);
		assertFailed(call(() -> {
			book(1);
			beforeCommit(() -> {
				rollBack();
				book(2);
			});
		}));
		assertThat(rows()).isEmpty();
		assertThat(offset()).isNull();
		assertThat(call(() -> book(3))).isInstanceOf(Result.Committed.class);
		assertThat(rows()).containsExactly(3);
	}

	/** Spring does not roll back then, and the end of the connection would commit. */
	@EveryDatabase
	void listenerBeforeTheCommitThatThrowsAnExceptionOfTransactionsFailsTheCall(TestDatabase kind) {
		open(kind);
		UnexpectedRollbackException thrown = new UnexpectedRollbackException("caused by the test");
		Result result = call(() -> {
			book(1);
			beforeCommit(() -> {
				book(2);
				throw thrown;
			});
		});

		assertThat(result).isEqualTo(new Result.Failed(thrown));
		assertThat(rows()).isEmpty();
		assertThat(offset()).isNull();
		assertThat(this.jdbc.queryForList("select group_name from shardkeeper_topic where group_name = ':calls'"))
			.isEmpty();
		assertThat(call(() -> book(3))).isInstanceOf(Result.Committed.class);
		assertThat(rows()).containsExactly(3);
	}

	@EveryDatabase
	void listenerBeforeTheCommitMayWantARollback(TestDatabase kind) {
		open(kind);
		TransactionTemplate part = new TransactionTemplate(this.manager);
		Result result = call(() -> {
			book(1);
			beforeCommit(() -> part.executeWithoutResult(TransactionStatus::setRollbackOnly));
		});

		assertThat(result).isInstanceOfSatisfying(Result.Failed.class, (failed) -> assertThat(failed.failure())
			.hasMessage("A listener before the commit has marked the transaction of the call for rollback"));
		assertThat(rows()).isEmpty();
		assertThat(offset()).isNull();
	}

	@ParameterizedTest
	@CsvSource({ "H2, false", "H2, true", "POSTGRESQL, true" })
	void failureAfterTheCommitDoesNotRepeatTheCall(TestDatabase kind, boolean conflict) {
		open(kind);
		Result result = call(() -> {
			book(1);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					throw conflict ? new CannotAcquireLockException("", new SQLException("", "40001"))
							: new UnexpectedRollbackException("");
				}

			});
		});

		assertThat(result).isInstanceOf(Result.Committed.class);
		assertThat(rows()).containsExactly(1);
		assertThat(offset()).isEqualTo(new Offset("1"));
	}

	private static void beforeCommit(Runnable listener) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				listener.run();
			}

		});
	}

	@Test
	void managerWithoutSynchronizationsFindsItToo() {
		open(TestDatabase.H2);
		this.manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		DatabaseServer server = new DatabaseServer(this.pool);
		this.store.close();
		this.store = server.store();
		this.acquired = (Acquired) this.store.acquireNow(SHARD, TOKEN);
		TestCall lost = new TestCall(() -> {
			book(1);
			rollBack();
			book(2);
		}, commit());

		assertFailed(server.transactions(this.manager).call(SHARD, TOKEN, lost));
		assertThat(rows()).isEmpty();
		assertThat(server.transactions(this.manager).call(SHARD, TOKEN, new TestCall(() -> book(3), commit())))
			.isInstanceOf(Result.Committed.class);
		assertThat(rows()).containsExactly(3);
	}

	/** It commits the rows before it; what can be done is to say so. */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "MYSQL" })
	void tableThatTheHandlerCreatesInMysqlAndMariadbFailsTheCall(TestDatabase kind) {
		open(kind);
		assertFailed(call(() -> {
			book(1);
			this.jdbc.execute("create table another (id int)");
			book(2);
		}));
		assertThat(rows()).containsExactly(1);
		assertThat(offset()).isNull();
	}

	@EveryDatabase
	void nothingIsLeftOfTheMark(TestDatabase kind) {
		open(kind);
		List<Map<String, Object>> before = this.jdbc.queryForList("select * from shardkeeper_topic");
		assertThat(call(() -> book(1))).isInstanceOf(Result.Committed.class);
		assertThat(call(() -> {
			throw new IllegalStateException("refused by the test");
		})).isInstanceOf(Result.Failed.class);
		assertThat(this.jdbc.queryForList("select * from shardkeeper_topic")).isEqualTo(before);
	}

	/** Without a mark the call would not be safe. */
	@Test
	void callIsNotMadeIfItsTransactionCannotBeMarked() {
		open(TestDatabase.H2);
		this.jdbc.execute("drop table shardkeeper_topic");
		AtomicBoolean called = new AtomicBoolean();

		assertThat(call(() -> called.set(true))).isInstanceOfSatisfying(Result.Unavailable.class,
				(unavailable) -> assertThat(unavailable.failure()).hasMessageContaining("Create the tables"));
		assertThat(called).isFalse();
	}

	private static void assertFailed(Result result) {
		assertThat(result).isInstanceOfSatisfying(Result.Failed.class,
				(failed) -> assertThat(failed.failure()).isInstanceOf(UnexpectedRollbackException.class)
					.hasMessageContaining("Let exceptions of the database leave the handler"));
	}

	private Result call(Runnable handler) {
		return this.store.transactions(SHARD.topic()).call(SHARD, TOKEN, new TestCall(handler, commit()));
	}

	private Commit commit() {
		return new Commit(new CommitNumber(1, 0, this.acquired.acquisition()), new Offset("1"), Set.of(), Map.of(),
				List.of(), Set.of(), List.of());
	}

	private void rollBack() {
		onConnection(Connection::rollback);
	}

	private void onConnection(ConnectionStep step) {
		this.jdbc.execute((ConnectionCallback<Boolean>) (connection) -> {
			step.run(connection);
			return true;
		});
	}

	private void book(int id) {
		this.jdbc.update("insert into booked (id) values (?)", id);
	}

	private void add(int id) {
		this.jdbc.update("update account set cents = cents + 1 where id = ?", id);
	}

	private List<Integer> rows() {
		return this.jdbc.queryForList("select id from booked order by id", Integer.class);
	}

	private Offset offset() {
		return this.store.read(SHARD).offset();
	}

	@FunctionalInterface
	private interface ConnectionStep {

		void run(Connection connection) throws SQLException;

	}

}
