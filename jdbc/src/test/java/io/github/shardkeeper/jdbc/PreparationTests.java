package io.github.shardkeeper.jdbc;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions.Result;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.EveryDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tables that are missing, and databases that refuse to create or write them: what is
 * created, and whether the text says what to change.
 */
@Tag("proof")
class PreparationTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final Token TOKEN = new Token(7);

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		for (int i = this.opened.size() - 1; i >= 0; i--) {
			this.opened.get(i).close();
		}
	}

	@EveryDatabase
	void missingTablesAreCreated(TestDatabase kind) {
		HikariDataSource pool = opened(kind.createEmpty());
		plane(pool, "my_", true).prepare(null);

		Acquired acquired = (Acquired) store(plane(pool, "my_", false)).acquireNow(SHARD, TOKEN);
		assertThat(acquired.checkpoint().offset()).isNull();
	}

	@EveryDatabase
	void missingTablesThatAreNotCreatedFailStartup(TestDatabase kind) {
		HikariDataSource pool = opened(kind.createEmpty());

		assertRefused(plane(pool, "shardkeeper_", false), "needs the table 'shardkeeper_shard'",
				"schema-%s.sql".formatted(kind.scriptName()), "'shardkeeper.jdbc.initialize-schema' to 'always'");
	}

	/** They are needed only for handlers that send. */
	@EveryDatabase
	void tablesThatEarlierVersionsDidNotHaveMayBeMissing(TestDatabase kind) {
		HikariDataSource pool = opened(kind.create());
		new JdbcTemplate(pool).execute("drop table shardkeeper_outbox");
		new JdbcTemplate(pool).execute("drop table shardkeeper_sequence");
		JdbcDataPlane plane = plane(pool, "shardkeeper_", false);
		plane.prepare(null);

		assertThat(store(plane).acquireNow(SHARD, TOKEN)).isInstanceOf(Acquired.class);
	}

	/** As after an update from a version that had fewer. */
	@EveryDatabase
	void tablesThatExistKeepTheirRows(TestDatabase kind) {
		HikariDataSource pool = opened(kind.create());
		store(plane(pool, "shardkeeper_", false)).acquireNow(SHARD, TOKEN);
		new JdbcTemplate(pool).execute("drop table shardkeeper_outbox");
		plane(pool, "shardkeeper_", true).prepare(null);

		JdbcTemplate jdbc = new JdbcTemplate(pool);
		assertThat(jdbc.queryForList("select token from shardkeeper_shard", Long.class)).containsExactly(TOKEN.value());
		assertThat(jdbc.queryForList("select target from shardkeeper_outbox")).isEmpty();
	}

	/** They refuse each other the name, but not the start. */
	@EveryDatabase
	void severalInstancesCreateTablesAtTheSameTime(TestDatabase kind) throws Exception {
		HikariDataSource pool = opened(kind.createEmpty());
		List<CompletableFuture<Void>> starts = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			starts.add(CompletableFuture.runAsync(() -> plane(pool, "shardkeeper_", true).prepare(null),
					(start) -> new Thread(start).start()));
		}
		for (CompletableFuture<Void> start : starts) {
			assertThat(start.get(60, TimeUnit.SECONDS)).isNull();
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void missingRightToCreateTablesFailsStartup(TestDatabase kind) {
		HikariDataSource user = opened(LimitedUser.of(opened(kind.createEmpty())));

		assertRefused(plane(user, "shardkeeper_", true), "refuses to create it",
				text(kind, "ERROR: permission denied for schema test", "CREATE command denied to user"),
				"the right to create tables", "grant create on", "schema-%s.sql".formatted(kind.scriptName()),
				"'shardkeeper.jdbc.initialize-schema' to 'never'");
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void missingSchemaFailsStartup(TestDatabase kind) {
		HikariDataSource pool = opened(kind.createEmpty());

		assertRefused(plane(pool, "absent.shardkeeper_", true), "'absent.shardkeeper_shard'",
				text(kind, "schema \"absent\" does not exist", "Unknown database 'absent'"),
				"'shardkeeper.jdbc.table-prefix'");
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void readOnlyConnectionsThatWouldCreateTablesFailStartup(TestDatabase kind) {
		HikariDataSource pool = opened(readOnly(opened(kind.createEmpty())));

		assertRefused(plane(pool, "shardkeeper_", true),
				text(kind, "cannot execute CREATE TABLE in a read-only transaction", readOnlyText(kind)),
				"'spring.datasource.hikari.read-only' to 'false'");
	}

	/** The owner has created them. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void rightToCreateIsNotNeededIfAllTablesExist(TestDatabase kind) {
		HikariDataSource user = opened(LimitedUser.of(opened(kind.create())));
		JdbcDataPlane plane = plane(user, "shardkeeper_", true);
		plane.prepare(null);

		assertThat(store(plane).acquireNow(SHARD, TOKEN)).isInstanceOf(Acquired.class);
	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, true", "POSTGRESQL, false", "MARIADB, true", "MARIADB, false", "MYSQL, true",
			"MYSQL, false" })
	void adviceForMissingTablesIsNotWhatIsSetAlready(TestDatabase kind, boolean created) {
		HikariDataSource pool = opened(kind.createEmpty());
		JdbcDataPlane plane = plane(pool, "shardkeeper_", created);
		if (created) {
			plane.prepare(null);
			new JdbcTemplate(pool).execute("drop table shardkeeper_shard");
		}

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> store(plane).acquireNow(SHARD, TOKEN))
			.withMessageContaining(
					text(kind, "relation \"shardkeeper_shard\" does not exist", "shardkeeper_shard' doesn't exist"))
			.matches(StoreUnavailableException::isRefusal)
			.satisfies((failure) -> {
				if (created) {
					assertThat(failure).hasMessageContaining("If they were removed since then")
						.message()
						.doesNotContain("'always'");
				}
				else {
					assertThat(failure).hasMessageContaining("'shardkeeper.jdbc.initialize-schema' to 'always'")
						.hasMessageContaining(
								"Create the tables with the script io/github/shardkeeper/jdbc/schema-<database>.sql");
				}
			});
	}

	/** MySQL and MariaDB say the same if it does not exist. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void tableThatTheUserMayNotReadIsNotCalledMissing(TestDatabase kind) {
		HikariDataSource owner = opened(kind.create());
		HikariDataSource user = opened(LimitedUser.of(owner));
		JdbcDataPlane plane = plane(user, "shardkeeper_", false);
		revoke(owner, user, "all on shardkeeper_retry");
		if (kind.isMysqlOrMariadb()) {
			assertRefused(plane, "denies it to the application's user, or does not have it",
					"Grant the application's database user", "If the table does not exist: Create the tables");
		}
		else {
			plane.prepare(null);
		}
	}

	/** It is refused in each call, too, and the problem of the shards says so. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void missingRightToWriteDoesNotKeepOthersFromReading(TestDatabase kind) {
		HikariDataSource owner = opened(kind.create());
		HikariDataSource user = opened(LimitedUser.of(owner));
		revoke(owner, user, "insert on shardkeeper_topic");
		JdbcDataPlane plane = plane(user, "shardkeeper_", false);
		plane.prepare(null);

		assertThat(store(plane).read(SHARD).offset()).isNull();
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void missingRightOnATableIsNamed(TestDatabase kind) {
		HikariDataSource owner = opened(kind.create());
		HikariDataSource user = opened(LimitedUser.of(owner));
		JdbcDataPlane plane = plane(user, "shardkeeper_", true);
		CheckpointStore store = store(plane);
		revoke(owner, user, "update on shardkeeper_shard");

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> store.acquireNow(SHARD, TOKEN))
			.withMessageContaining(
					text(kind, "permission denied for table shardkeeper_shard", "UPDATE command denied to user"))
			.withMessageContaining("Grant the application's database user select, insert, update and delete")
			.matches((failure) -> !failure.getMessage().contains("initialize-schema"));

		revoke(owner, user, "all on shardkeeper_outbox");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> store.keepsOutboxes("orders"))
			.satisfies((failure) -> assertThat(failure.getDescription() + failure.getAction())
				.contains("may not read the table 'shardkeeper_outbox'", "Grant the application's database user"))
			// MySQL and MariaDB say the same if it does not exist.
			.matches((failure) -> failure.getAction().contains("It may also not exist") == kind.isMysqlOrMariadb())
			.matches((failure) -> failure.getAction().contains("initialize-schema") == kind.isMysqlOrMariadb());
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void problemOfReadOnlyConnectionsNamesTheSetting(TestDatabase kind) {
		HikariDataSource pool = opened(readOnly(opened(kind.create())));

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> store(plane(pool, "shardkeeper_", false)).acquireNow(SHARD, TOKEN))
			.withMessageContaining(text(kind, "cannot execute UPDATE in a read-only transaction", readOnlyText(kind)))
			.withMessageContaining("'spring.datasource.hikari.read-only' to 'false'")
			.withMessageContaining("not to a read replica")
			.matches(StoreUnavailableException::isRefusal);
	}

	/** As in a failover that leaves connections to the former primary server. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void serverThatBecomesReadOnlyIsNoFailureOfTheCall(TestDatabase kind) {
		HikariDataSource owner = opened(kind.create());
		new JdbcTemplate(owner).execute("create table booked (id int)");
		HikariDataSource user = opened(LimitedUser.of(owner));
		CheckpointStore store = store(plane(user, "shardkeeper_", false));
		Acquired acquired = (Acquired) store.acquireNow(SHARD, TOKEN);
		JdbcTemplate jdbc = new JdbcTemplate(user);
		Runnable booking = () -> jdbc.update("insert into booked (id) values (1)");
		makeReadOnly(kind, owner, user);

		assertThat(call(store, acquired, booking)).isInstanceOfSatisfying(Result.Unavailable.class,
				(unavailable) -> assertThat(unavailable.failure())
					.hasMessageContaining(text(kind, "cannot execute INSERT in a read-only transaction",
							"server is running with the --read-only option")));
		assertThat(call(store, acquired, () -> {
		})).isInstanceOfSatisfying(Result.Unavailable.class, (unavailable) -> assertThat(unavailable.failure())
			.hasMessageContaining("'spring.datasource.hikari.read-only' to 'false'"));
	}

	/** A handler that has made its own transaction read-only fails by itself. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void writeInAReadOnlyTransactionOfTheHandlerIsAFailureOfTheCall(TestDatabase kind) {
		HikariDataSource pool = opened(kind.create());
		CheckpointStore store = store(plane(pool, "shardkeeper_", false));
		Acquired acquired = (Acquired) store.acquireNow(SHARD, TOKEN);
		JdbcTemplate jdbc = new JdbcTemplate(pool);
		jdbc.execute("create table booked (id int)");

		assertThat(call(store, acquired, () -> {
			jdbc.execute(text(kind, "set transaction read only", "start transaction read only"));
			jdbc.update("insert into booked (id) values (1)");
		})).isInstanceOf(Result.Failed.class);
	}

	/** Startup does not wait for it; the tables are created before they are used. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void databaseThatIsAwayAtStartupIsPreparedLater(TestDatabase kind, @TempDir Path directory) {
		kind.assumeRunnable();
		RestartedDatabase server = opened(RestartedDatabase.start(kind, directory.resolve("data")));
		HikariDataSource pool = opened(new HikariDataSource());
		pool.setJdbcUrl(server.url());
		pool.setConnectionTimeout(1000);
		server.close();
		JdbcDataPlane plane = plane(pool, "shardkeeper_", true);
		plane.prepare(null);
		CheckpointStore store = store(plane);
		assertThatThrownBy(() -> store.acquireNow(SHARD, TOKEN)).isInstanceOf(StoreUnavailableException.class);
		server.restart();

		assertThat(store.acquireNow(SHARD, TOKEN)).isInstanceOf(Acquired.class);
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void problemSaysWhatALaterPreparationIsRefused(TestDatabase kind, @TempDir Path directory) {
		kind.assumeRunnable();
		RestartedDatabase server = opened(RestartedDatabase.start(kind, directory.resolve("data")));
		HikariDataSource pool = opened(new HikariDataSource());
		pool.setJdbcUrl(server.url());
		pool.setConnectionTimeout(1000);
		pool.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
		server.close();
		JdbcDataPlane plane = plane(pool, "shardkeeper_", true);
		plane.prepare("orders");
		server.restart();

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> store(plane).acquireNow(SHARD, TOKEN))
			.withMessageContaining("'TRANSACTION_READ_COMMITTED'")
			.matches(StoreUnavailableException::isRefusal);
	}

	private <C extends AutoCloseable> C opened(C closeable) {
		this.opened.add(closeable);
		return closeable;
	}

	/** MySQL and MariaDB refuse the writes of others than the owner. */
	private void makeReadOnly(TestDatabase kind, HikariDataSource owner, HikariDataSource user) {
		JdbcTemplate jdbc = new JdbcTemplate(owner);
		if (kind.isMysqlOrMariadb()) {
			jdbc.execute("set global read_only = 1");
			this.opened.add(() -> jdbc.execute("set global read_only = 0"));
		}
		else {
			jdbc.execute("alter role %s set default_transaction_read_only = on".formatted(LimitedUser.name(user)));
			user.getHikariPoolMXBean().softEvictConnections();
		}
	}

	private static String text(TestDatabase kind, String ofPostgresql, String ofMysqlAndMariadb) {
		return kind.isMysqlOrMariadb() ? ofMysqlAndMariadb : ofPostgresql;
	}

	/** The driver of MySQL refuses by itself. */
	private static String readOnlyText(TestDatabase kind) {
		return (kind == TestDatabase.MYSQL) ? "Connection is read-only"
				: "Cannot execute statement in a READ ONLY transaction";
	}

	private static HikariDataSource readOnly(HikariDataSource owner) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(owner.getJdbcUrl());
		pool.setReadOnly(true);
		return pool;
	}

	private static void revoke(HikariDataSource owner, HikariDataSource user, String right) {
		new JdbcTemplate(owner).execute("revoke %s from %s".formatted(right, LimitedUser.name(user)));
	}

	private static JdbcDataPlane plane(HikariDataSource pool, String prefix, boolean created) {
		return new JdbcDataPlane(new JdbcTransactionManager(pool), pool, new TableSettings(prefix, created), "shop",
				Duration.ofSeconds(10));
	}

	private CheckpointStore store(JdbcDataPlane plane) {
		CheckpointStore store = plane.checkpoints(null);
		this.opened.add(store::close);
		return store;
	}

	private static void assertRefused(JdbcDataPlane plane, String... texts) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> plane.prepare(null))
			.satisfies((failure) -> assertThat(failure.getDescription() + " " + failure.getAction()).contains(texts));
	}

	private static Result call(CheckpointStore store, Acquired acquired, Runnable handler) {
		Commit commit = new Commit(new CommitNumber(1, 0, acquired.acquisition()), new Offset("1"), Set.of(), Map.of(),
				List.of(), Set.of(), List.of());
		return store.transactions(SHARD.topic()).call(SHARD, TOKEN, new TestCall(handler, commit));
	}

}
