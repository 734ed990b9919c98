package io.github.shardkeeper.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;

import javax.sql.DataSource;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.shardkeeper.checkpoint.CallTransactions.Result;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.EveryDatabase;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whether a call has failed, or the database: that is a statement about the database, and
 * not about an exception.
 */
@CapturesOutput
@MoreInProof
@Promise("Rows exactly once")
class FailedCallsTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(7);

	private HikariDataSource pool;

	private Switched connections;

	private JdbcTransactionManager manager;

	private JdbcTemplate jdbc;

	private CheckpointStore store;

	private Acquired acquired;

	private void open(TestDatabase kind) {
		this.pool = kind.create();
		this.connections = new Switched(this.pool);
		this.manager = new JdbcTransactionManager(this.connections);
		this.jdbc = new JdbcTemplate(this.connections);
		this.jdbc.execute("create table booked (id int primary key)");
		this.store = new JdbcDataPlane(this.manager, this.connections, DatabaseServer.TABLE_SETTINGS, "shop",
				Duration.ofSeconds(10))
			.checkpoints(null);
		this.acquired = (Acquired) this.store.acquireNow(SHARD, TOKEN);
	}

	@BeforeEach
	void speak() {
		OutageLogTests.setLevel(Level.INFO);
	}

	@AfterEach
	void close() {
		OutageLogTests.setLevel(null);
		// Not if the database is not on this machine.
		if (this.store != null) {
			this.store.close();
			this.pool.close();
		}
	}

	/** HikariCP closes the connection after this reply, so it seems to be lost. */
	@Test
	@Tag("proof")
	void statementThatPostgresqlDoesNotSupportIsAFailureOfTheCall() {
		open(TestDatabase.POSTGRESQL);

		assertThat(call(() -> this.jdbc.queryForList("select distinct id from booked for update")))
			.isInstanceOfSatisfying(Result.Failed.class,
					(failed) -> assertThat(failed.failure()).hasMessageContaining("FOR UPDATE is not allowed"));
	}

	/** It makes no statement after that, so that the next one is Shardkeeper's. */
	@EveryDatabase
	void callThatOutlivesItsTransactionHasFailed(TestDatabase kind) {
		open(kind);
		this.manager.setDefaultTimeout(1);

		assertThat(call(() -> {
			book(1);
			outlive();
		})).isInstanceOfSatisfying(Result.Failed.class,
				(failed) -> assertThat(failed.failure()).hasMessageContaining("'spring.transaction.default-timeout'"));
		assertThat(rows()).isEmpty();
	}

	private void outlive() {
		ConnectionHolder holder = holder();
		Awaitility.await().until(() -> holder.getDeadline().before(new Date()));
	}

	/**
	 * MySQL's driver tells it as a time limit, after which HikariCP closes the
	 * connection.
	 */
	@EveryDatabase
	void statementThatOutlivesItsTransactionIsAFailureOfTheCall(TestDatabase kind) {
		open(kind);
		this.manager.setDefaultTimeout(1);
		String endless = switch (kind) {
			case H2 -> "select count(*) from system_range(1, 10000000000) where mod(x, 3) = 1";
			case POSTGRESQL -> "select pg_sleep(60)";
			case MARIADB, MYSQL -> "select benchmark(100000000000, sha2('x', 512))";
		};

		assertThat(call(() -> this.jdbc.execute(endless))).isInstanceOf(Result.Failed.class);
	}

	/** What the handler has changed is not so in a transaction of our own. */
	@ParameterizedTest
	@ValueSource(strings = { "set local search_path to nothing", "set transaction read only" })
	@Tag("proof")
	void commitThatTheHandlerHasMadeImpossibleIsAFailureOfTheCall(String statement) {
		open(TestDatabase.POSTGRESQL);

		assertThat(call(() -> this.jdbc.execute(statement))).isInstanceOf(Result.Failed.class);
		assertThat(call(() -> book(1))).isInstanceOf(Result.Committed.class);
	}

	/** In another one they would be refused, too. */
	@EveryDatabase
	void commitThatTheDatabaseRefusesIsNoFailureOfTheCall(TestDatabase kind, CapturedOutput output) {
		open(kind);
		this.jdbc.execute("alter table shardkeeper_shard rename to elsewhere");

		assertThat(call(() -> book(1))).isInstanceOfSatisfying(Result.Unavailable.class,
				(unavailable) -> assertThat(unavailable.failure().isRefusal()).isTrue());
		assertThat(rows()).isEmpty();
		assertThat(output).doesNotContain("The database of group");
	}

	@EveryDatabase
	void callThatLosesItsConnectionToADatabaseThatWorksHasLostIt(TestDatabase kind, CapturedOutput output) {
		open(kind);
		String own = switch (kind) {
			case H2 -> "select session_id()";
			case POSTGRESQL -> "select pg_backend_pid()";
			case MARIADB, MYSQL -> "select connection_id()";
		};
		String kill = switch (kind) {
			case H2 -> "call abort_session(%d)";
			case POSTGRESQL -> "select pg_terminate_backend(%d)";
			case MARIADB, MYSQL -> "kill %d";
		};

		assertThat(call(() -> {
			long session = this.jdbc.queryForObject(own, Long.class);
			new JdbcTemplate(this.pool).execute(kill.formatted(session));
			book(1);
		})).isInstanceOfSatisfying(Result.ConnectionLost.class, (lost) -> assertThat(lost.failure())
			.hasMessageStartingWith("The call has lost its connection, and the database works: "));
		assertThat(output).doesNotContain("The database of group");
		assertThat(call(() -> book(1))).isInstanceOf(Result.Committed.class);
	}

	@EveryDatabase
	void callIsNotMadeWhileTheDatabaseIsAway(TestDatabase kind, CapturedOutput output) {
		open(kind);
		this.connections.away = true;
		for (int i = 0; i < 3; i++) {
			assertThat(call(() -> book(1))).isInstanceOf(Result.Unavailable.class);
		}

		assertThat(output.getOut())
			.containsOnlyOnce("The database of group 'shop' cannot be used; retrying. The database cannot run the "
					+ "transaction of orders/1: away, caused by the test");
		this.connections.away = false;
		assertThat(call(() -> book(1))).isInstanceOf(Result.Committed.class);
	}

	/** Whatever the handler makes of the error that it gets. */
	@EveryDatabase
	void databaseThatIsAwayDuringACallIsNoFailureOfTheCall(TestDatabase kind) {
		open(kind);

		assertThat(call(() -> {
			closeConnection();
			this.connections.away = true;
			throw new IllegalStateException("caused by the test");
		})).isInstanceOf(Result.Unavailable.class);
	}

	@EveryDatabase
	void handlerThatClosesItsConnectionHasFailed(TestDatabase kind) {
		open(kind);

		assertThat(call(this::closeConnection)).isInstanceOf(Result.Failed.class);
		assertThat(call(() -> {
			closeConnection();
			book(1);
		})).isInstanceOf(Result.Failed.class);
	}

	private void closeConnection() {
		try {
			holder().getConnection().close();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private ConnectionHolder holder() {
		return (ConnectionHolder) TransactionSynchronizationManager.getResource(this.connections);
	}

	@EveryDatabase
	void failureOfTheApplicationIsOneOfTheCall(TestDatabase kind) {
		open(kind);
		IllegalStateException thrown = new IllegalStateException("caused by the test");

		assertThat(call(() -> {
			throw thrown;
		})).isEqualTo(new Result.Failed(thrown));
	}

	/** After it, Spring has closed the connection. */
	@EveryDatabase
	void listenerBeforeTheCommitThatLosesAnotherConnectionFailsTheCall(TestDatabase kind) {
		open(kind);

		Result result = call(
				() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCommit(boolean readOnly) {
						throw new IllegalStateException(
								new SQLNonTransientConnectionException("of another server", "08006"));
					}

				}));

		assertThat(result).isInstanceOf(Result.ConnectionLost.class);
	}

	private Result call(Runnable handler) {
		Commit commit = new Commit(new CommitNumber(1, 0, this.acquired.acquisition()), new Offset("1"), Set.of(),
				Map.of(), List.of(), Set.of(), List.of());
		return this.store.transactions(SHARD.topic()).call(SHARD, TOKEN, new TestCall(handler, commit));
	}

	private void book(int id) {
		this.jdbc.update("insert into booked (id) values (?)", id);
	}

	private List<Integer> rows() {
		return this.jdbc.queryForList("select id from booked order by id", Integer.class);
	}

	/** Gives no connections while the database is away. */
	private static final class Switched extends DelegatingDataSource {

		private volatile boolean away;

		Switched(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			if (this.away) {
				throw new SQLNonTransientConnectionException("away, caused by the test", "08001");
			}
			return super.getConnection();
		}

	}

}
