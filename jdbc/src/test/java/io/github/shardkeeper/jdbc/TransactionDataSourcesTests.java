package io.github.shardkeeper.jdbc;

import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Whether statements of a data source take part in a manager's transactions. The reply is
 * compared with what happens: a row that is left after a rollback did not.
 */
class TransactionDataSourcesTests {

	private static final HikariDataSource POOL = TestDatabase.H2.create();

	private static final HikariDataSource OTHER = TestDatabase.H2.create();

	private static final LazyConnectionDataSourceProxy LAZY = new LazyConnectionDataSourceProxy(POOL);

	static {
		for (HikariDataSource pool : List.of(POOL, OTHER)) {
			new JdbcTemplate(pool).execute("create table booked (id int)");
		}
	}

	@AfterEach
	void empty() {
		for (HikariDataSource pool : List.of(POOL, OTHER)) {
			new JdbcTemplate(pool).update("delete from booked");
		}
	}

	static Stream<Pair> pairs() {
		return Stream.of(new Pair("the same", POOL, POOL, true), new Pair("another", OTHER, POOL, false),
				new Pair("transaction-aware", new TransactionAwareDataSourceProxy(POOL), POOL, true),
				new Pair("transaction-aware in both", new TransactionAwareDataSourceProxy(POOL),
						new TransactionAwareDataSourceProxy(POOL), true),
				new Pair("transaction-aware of another", new TransactionAwareDataSourceProxy(OTHER), POOL, false),
				new Pair("transaction-aware in a wrapper",
						new DelegatingDataSource(new TransactionAwareDataSourceProxy(POOL)), POOL, true),
				new Pair("transaction-aware around a wrapper",
						new TransactionAwareDataSourceProxy(new DelegatingDataSource(POOL)), POOL, false),
				new Pair("wrapper", new DelegatingDataSource(POOL), POOL, false),
				new Pair("lazy in both", LAZY, LAZY, true), new Pair("lazy of statements", LAZY, POOL, false),
				new Pair("lazy of transactions", POOL, LAZY, false),
				new Pair("transaction-aware around lazy", new TransactionAwareDataSourceProxy(LAZY), LAZY, true));
	}

	@ParameterizedTest
	@MethodSource("pairs")
	void takesPartIfTheTransactionRollsItBack(Pair pair) {
		PlatformTransactionManager manager = new JdbcTransactionManager(pair.managed);
		DataSource bound = TransactionDataSources.of(manager);

		assertThat(TransactionDataSources.takesPart(pair.used, bound)).isEqualTo(pair.takesPart);
		assertThat(isRolledBack(manager, pair.used)).as("for real").isEqualTo(pair.takesPart);
	}

	private static boolean isRolledBack(PlatformTransactionManager manager, DataSource dataSource) {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		new TransactionTemplate(manager).executeWithoutResult((status) -> {
			jdbc.update("insert into booked (id) values (1)");
			status.setRollbackOnly();
		});
		return jdbc.queryForList("select id from booked").isEmpty();
	}

	/** As that of JPA. */
	@Test
	void managerThatDoesNotNameItsDataSourceIsAskedForATransaction() {
		assertThat(TransactionDataSources.of(new Silent(new JdbcTransactionManager(POOL)))).isSameAs(POOL);
	}

	@Test
	void dataSourceIsUnknownWithoutAConnection() {
		try (HikariDataSource away = new HikariDataSource()) {
			away.setJdbcUrl("jdbc:h2:tcp://localhost:1/absent");
			assertThat(TransactionDataSources.of(new Silent(new JdbcTransactionManager(away)))).isNull();
		}
	}

	@Test
	void maximumOfConnectionsIsKnownOfOnePoolOnly() {
		DataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				throw new IllegalStateException("Outside of a transaction");
			}

		};
		assertThat(TransactionDataSources.maximumConnections(new DelegatingDataSource(POOL)))
			.isEqualTo(POOL.getMaximumPoolSize());
		assertThat(TransactionDataSources.maximumConnections(new SingleConnectionDataSource())).isNull();
		assertThat(TransactionDataSources.maximumConnections(routing)).isNull();
		assertThat(TransactionDataSources.maximumConnections(new DelegatingDataSource(routing))).isNull();
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
			Method maximum = loader.loadClass(TransactionDataSources.class.getName())
				.getMethod("maximumConnections", DataSource.class);
			maximum.setAccessible(true);

			assertThat(maximum.invoke(null, new SingleConnectionDataSource())).isNull();
		}
	}

	private record Pair(String name, DataSource used, DataSource managed, boolean takesPart) {

		@Override
		public String toString() {
			return this.name;
		}

	}

	/** Delegates, and is nothing more than a transaction manager. */
	private record Silent(PlatformTransactionManager transactions) implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(TransactionDefinition definition) {
			return this.transactions.getTransaction(definition);
		}

		@Override
		public void commit(TransactionStatus status) {
			this.transactions.commit(status);
		}

		@Override
		public void rollback(TransactionStatus status) {
			this.transactions.rollback(status);
		}

	}

}
