package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/**
 * A database for tests: H2 in memory, or a PostgreSQL server that all tests of a JVM
 * share, each with a schema of its own. Thread-safe.
 */
public enum TestDatabase {

	/** H2, in this process. */
	H2,

	/** A real PostgreSQL. */
	POSTGRESQL;

	/** Returns an empty database with the tables, and a pool of connections to it. */
	public HikariDataSource create() {
		return create("");
	}

	/**
	 * Returns an empty database with the tables.
	 * @param isolation the isolation level of its connections, empty for the default
	 */
	public HikariDataSource create(String isolation) {
		HikariDataSource pool = createEmpty(isolation);
		createTables(pool);
		return pool;
	}

	/** Returns an empty database without tables. */
	public HikariDataSource createEmpty() {
		return createEmpty("");
	}

	private HikariDataSource createEmpty(String isolation) {
		HikariConfig config = new HikariConfig();
		config.setMaximumPoolSize(16);
		config.setMinimumIdle(0);
		String name = "test" + UUID.randomUUID().toString().replace("-", "");
		if (this == H2) {
			config.setJdbcUrl("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000");
		}
		else {
			createSchema(name);
			config.setJdbcUrl(Server.SHARED.getJdbcUrl("postgres", "postgres") + "&currentSchema=" + name);
		}
		if (!isolation.isEmpty()) {
			config.setTransactionIsolation(isolation);
		}
		return new HikariDataSource(config);
	}

	private static void createSchema(String name) {
		try (Connection connection = Server.SHARED.getPostgresDatabase().getConnection()) {
			connection.createStatement().execute("create schema " + name);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Runs the script of this database. */
	public void createTables(DataSource dataSource) {
		String script = "schema-" + ((this == H2) ? "h2" : "postgresql") + ".sql";
		try (Connection connection = dataSource.getConnection()) {
			ScriptUtils.executeSqlScript(connection, new ClassPathResource(script, JdbcDataPlane.class));
			if (!connection.getAutoCommit()) {
				connection.commit();
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static final class Server {

		private static final EmbeddedPostgres SHARED = start();

		private static EmbeddedPostgres start() {
			try {
				EmbeddedPostgres server = EmbeddedPostgres.builder().setServerConfig("max_connections", "300").start();
				Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server)));
				return server;
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		private static void close(EmbeddedPostgres server) {
			try {
				server.close();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
