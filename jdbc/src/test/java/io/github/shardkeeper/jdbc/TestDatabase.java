package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Locale;
import java.util.UUID;
import java.util.function.Function;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.SQLExceptionOverride;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.h2.api.ErrorCode;
import org.junit.jupiter.api.Assumptions;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;
import org.springframework.util.FileSystemUtils;

/**
 * A database for tests: H2 in memory, or a server that all tests of a JVM share, each
 * with a schema of its own. Where MariaDB does not run, or no MySQL is named, the tests
 * of that database are skipped. Thread-safe.
 */
public enum TestDatabase {

	/** H2, in this process. */
	H2,

	/** A real PostgreSQL. */
	POSTGRESQL,

	/** A real MariaDB, whose own character set and collation are not Shardkeeper's. */
	MARIADB,

	/** The MySQL that the environment names, if it does. */
	MYSQL;

	/** Returns whether it has the protocol and the statements of MySQL. */
	public boolean isMysqlOrMariadb() {
		return this == MYSQL || this == MARIADB;
	}

	/** Returns the name of the database in that of its script. */
	public String scriptName() {
		return name().toLowerCase(Locale.ROOT);
	}

	/** Skips the test if this machine cannot run the database. */
	public void assumeRunnable() {
		Assumptions.assumeTrue(this != MARIADB || MariadbProgram.isRunnable(),
				"MariaDB is tested on Linux on x86-64 only");
		Assumptions.assumeTrue(this != MYSQL || RestartedMysql.program() != null,
				"There is no MySQL; set %s to the path of a mysqld to test with it".formatted(RestartedMysql.PROGRAM));
	}

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
		config.setJdbcUrl(createSchema("test" + UUID.randomUUID().toString().replace("-", "")));
		if (!isolation.isEmpty()) {
			config.setTransactionIsolation(isolation);
		}
		if (this == H2) {
			config.setExceptionOverrideClassName(ClosedByH2.class.getName());
		}
		return new HikariDataSource(config);
	}

	/** Returns its address. */
	private String createSchema(String name) {
		assumeRunnable();
		return switch (this) {
			case H2 -> "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000";
			case POSTGRESQL -> {
				String url = PostgresqlServer.SHARED.getJdbcUrl("postgres", "postgres");
				execute(url, "create schema " + name);
				yield url + "&currentSchema=" + name;
			}
			case MARIADB -> {
				execute(MariadbServer.SHARED.url(), "create database " + name);
				yield MariadbServer.SHARED.url(name);
			}
			case MYSQL -> {
				execute(MysqlServer.SHARED.url(), "create database " + name);
				yield MysqlServer.SHARED.url(name);
			}
		};
	}

	private static void execute(String url, String statement) {
		try (Connection connection = DriverManager.getConnection(url)) {
			connection.createStatement().execute(statement);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Runs the script of this database. */
	public void createTables(DataSource dataSource) {
		String script = "schema-%s.sql".formatted(scriptName());
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

	private static final class PostgresqlServer {

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

	/** Starts a server that ends with this JVM, and removes its data then. */
	private static <S extends RestartedProcess> S start(String name, Function<Path, S> start) {
		try {
			Path directory = Files.createTempDirectory(name);
			S server = start.apply(directory.resolve("data"));
			Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(server, directory)));
			return server;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void remove(RestartedProcess server, Path directory) {
		try {
			server.kill();
			FileSystemUtils.deleteRecursively(directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static final class MariadbServer {

		private static final RestartedMariadb SHARED = start("mariadb", RestartedMariadb::new);

	}

	private static final class MysqlServer {

		private static final RestartedMysql SHARED = start("mysql", RestartedMysql::new);

	}

	/** HikariCP does not know the error with which H2 closes a connection. */
	public static final class ClosedByH2 implements SQLExceptionOverride {

		@java.lang.Override
		public Override adjudicate(SQLException exception) {
			return (exception.getErrorCode() == ErrorCode.DATABASE_CALLED_AT_SHUTDOWN) ? Override.MUST_EVICT
					: Override.CONTINUE_EVICT;
		}

	}

}
