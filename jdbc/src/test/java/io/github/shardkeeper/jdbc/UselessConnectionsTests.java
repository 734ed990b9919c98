package io.github.shardkeeper.jdbc;

import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Connections that the pool takes for good ones, and that are useless. */
@Timeout(120)
@Tag("proof")
class UselessConnectionsTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final Token TOKEN = new Token(7);

	private static final SQLException READ_ONLY = new SQLException("read-only", "25006");

	private long now;

	private MonotonicTime now() {
		return new MonotonicTime(this.now * 1_000_000);
	}

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
	void connectionsAreReplacedAfterLongerAndLongerPauses() throws SQLException {
		try (HikariDataSource owner = TestDatabase.POSTGRESQL.create(); HikariDataSource pool = LimitedUser.of(owner)) {
			UselessConnections connections = new UselessConnections(pool, this::now);
			assertThat(isReplaced(owner, pool, connections)).isTrue();
			for (int pause : new int[] { 5, 10, 20, 40, 60, 60 }) {
				this.now += pause * 1000 - 1;
				assertThat(isReplaced(owner, pool, connections)).as("before %d s are over", pause).isFalse();
				this.now += 1;
				assertThat(isReplaced(owner, pool, connections)).as("after %d s", pause).isTrue();
			}
			this.now += 600_000;
			assertThat(isReplaced(owner, pool, connections)).as("another outage").isTrue();
			this.now += 5000;
			assertThat(isReplaced(owner, pool, connections)).as("five seconds later").isTrue();
		}
	}

	private static boolean isReplaced(HikariDataSource owner, HikariDataSource pool, UselessConnections connections)
			throws SQLException {
		fillWithReadOnlyConnections(owner, pool);
		connections.failed(READ_ONLY);
		return pool.getHikariPoolMXBean().getTotalConnections() == 0;
	}

	@Test
	void otherFailuresReplaceNothing() throws SQLException {
		try (HikariDataSource owner = TestDatabase.POSTGRESQL.create(); HikariDataSource pool = LimitedUser.of(owner)) {
			fillWithReadOnlyConnections(owner, pool);
			new UselessConnections(pool, this::now).failed(new SQLException("deadlock", "40P01"));

			assertThat(pool.getHikariPoolMXBean().getTotalConnections()).isPositive();
		}
	}

	/** New ones would be read-only, too. */
	@Test
	void poolThatIsSetToReadOnlyIsLeftAlone() throws SQLException {
		try (HikariDataSource owner = TestDatabase.POSTGRESQL.create(); HikariDataSource pool = LimitedUser.of(owner)) {
			pool.setReadOnly(true);

			assertThat(isReplaced(owner, pool, new UselessConnections(pool, this::now))).isFalse();
		}
	}

	@Test
	void otherDataSourcesAreLeftAlone() {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				throw new IllegalStateException("Outside of a transaction");
			}

		};
		for (DataSource other : List.of(new SingleConnectionDataSource(), routing, new DelegatingDataSource(routing))) {
			UselessConnections connections = new UselessConnections(other, this::now);

			assertThatCode(() -> connections.failed(READ_ONLY)).as(other.toString()).doesNotThrowAnyException();
		}
	}

	/** On a class path without it. */
	@Test
	void applicationNeedsNoHikari() throws Exception {
		List<URL> classPath = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			if (!entry.contains("HikariCP")) {
				classPath.add(Path.of(entry).toUri().toURL());
			}
		}
		try (URLClassLoader loader = new URLClassLoader(classPath.toArray(URL[]::new),
				ClassLoader.getPlatformClassLoader())) {
			assertThatExceptionOfType(ClassNotFoundException.class)
				.isThrownBy(() -> loader.loadClass(HikariDataSource.class.getName()));
			Class<?> clock = loader.loadClass(MonotonicClock.class.getName());
			Class<?> type = loader.loadClass(UselessConnections.class.getName());
			Constructor<?> constructor = type.getDeclaredConstructor(DataSource.class, clock);
			constructor.setAccessible(true);
			Method failed = type.getDeclaredMethod("failed", Throwable.class);
			failed.setAccessible(true);
			Object connections = constructor.newInstance(null, clock.getField("SYSTEM").get(null));

			assertThatCode(() -> failed.invoke(connections, READ_ONLY)).doesNotThrowAnyException();
		}
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
