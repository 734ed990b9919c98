package io.github.shardkeeper.jdbc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Connections that the pool takes for good ones, and that are useless. */
@Timeout(120)
class UselessConnectionsTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final Token TOKEN = new Token(7);

	/** They work, but each of their transactions is read-only. */
	@Test
	void connectionsToAFormerPrimaryServerAreReplaced() throws SQLException {
		try (HikariDataSource owner = TestDatabase.POSTGRESQL.create(); HikariDataSource pool = LimitedUser.of(owner)) {
			fillWithReadOnlyConnections(owner, pool);
			// Also if an application has wrapped its pool.
			DelegatingDataSource wrapped = new DelegatingDataSource(pool);
			JdbcDataPlane plane = new JdbcDataPlane(new JdbcTransactionManager(wrapped), wrapped,
					DatabaseServer.TABLE_SETTINGS, "shop", Duration.ofSeconds(10));
			try (CheckpointStore store = plane.checkpoints(null)) {
				assertThatExceptionOfType(StoreUnavailableException.class)
					.isThrownBy(() -> store.acquireNow(SHARD, TOKEN))
					.matches(StoreUnavailableException::isRefusal);

				assertThat(store.acquireNow(SHARD, TOKEN)).isInstanceOf(Acquired.class);
			}
		}
	}

	/**
	 * Otherwise each attempt would open connections as long as there is only a replica.
	 */
	@Test
	void connectionsAreReplacedOnceInFiveSeconds() throws SQLException {
		try (HikariDataSource owner = TestDatabase.POSTGRESQL.create(); HikariDataSource pool = LimitedUser.of(owner)) {
			UselessConnections connections = new UselessConnections(pool);
			SQLException readOnly = new SQLException("read-only", "25006");
			fillWithReadOnlyConnections(owner, pool);
			connections.failed(readOnly);
			assertThat(pool.getHikariPoolMXBean().getTotalConnections()).isZero();

			fillWithReadOnlyConnections(owner, pool);
			connections.failed(readOnly);
			assertThat(pool.getHikariPoolMXBean().getTotalConnections()).isPositive();
		}
	}

	@Test
	void otherFailuresReplaceNothing() throws SQLException {
		try (HikariDataSource owner = TestDatabase.POSTGRESQL.create(); HikariDataSource pool = LimitedUser.of(owner)) {
			fillWithReadOnlyConnections(owner, pool);
			new UselessConnections(pool).failed(new SQLException("deadlock", "40P01"));

			assertThat(pool.getHikariPoolMXBean().getTotalConnections()).isPositive();
		}
	}

	@Test
	void otherPoolsAreLeftAlone() {
		UselessConnections connections = new UselessConnections(new SingleConnectionDataSource());

		connections.failed(new SQLException("read-only", "25006"));
	}

	/**
	 * HikariCP does not know their error, and does not check them if they are used so
	 * often.
	 */
	@Test
	void closedConnectionsOfH2AreReplaced(@TempDir Path directory) throws Exception {
		try (RestartedDatabase server = RestartedDatabase.start(TestDatabase.H2, directory.resolve("data"));
				HikariDataSource pool = new HikariDataSource()) {
			TestDatabase.H2.createTables(new DriverManagerDataSource(server.url()));
			pool.setJdbcUrl(server.url());
			pool.setConnectionTimeout(1000);
			JdbcDataPlane plane = new JdbcDataPlane(new JdbcTransactionManager(pool), pool,
					DatabaseServer.TABLE_SETTINGS, "shop", Duration.ofSeconds(10));
			AtomicBoolean stopped = new AtomicBoolean();
			AtomicInteger acquired = new AtomicInteger();
			try (CheckpointStore store = plane.checkpoints(null)) {
				Thread worker = new Thread(() -> {
					while (!stopped.get()) {
						try {
							store.acquireNow(SHARD, TOKEN);
							acquired.incrementAndGet();
						}
						catch (StoreUnavailableException ex) {
							Thread.onSpinWait();
						}
					}
				});
				worker.start();
				try {
					await().until(() -> acquired.get() > 0);
					server.stop();
					server.startAgain();
					int before = acquired.get();

					await().atMost(Duration.ofSeconds(20)).until(() -> acquired.get() > before);
				}
				finally {
					stopped.set(true);
					worker.join();
				}
			}
		}
	}

	/** Leaves connections in the pool that were opened when its user could only read. */
	private static void fillWithReadOnlyConnections(HikariDataSource owner, HikariDataSource pool) throws SQLException {
		JdbcTemplate jdbc = new JdbcTemplate(owner);
		String user = pool.getJdbcUrl().replaceAll(".*user=(\\w+).*", "$1");
		jdbc.execute("alter role %s set default_transaction_read_only = on".formatted(user));
		List<Connection> connections = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			connections.add(pool.getConnection());
		}
		for (Connection connection : connections) {
			connection.close();
		}
		jdbc.execute("alter role %s reset default_transaction_read_only".formatted(user));
	}

}
