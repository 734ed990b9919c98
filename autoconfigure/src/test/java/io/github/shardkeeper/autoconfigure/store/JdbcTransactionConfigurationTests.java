package io.github.shardkeeper.autoconfigure.store;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.init.ScriptUtils;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.SimpleTransactionStatus;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.jdbc.JdbcDataPlane;
import io.github.shardkeeper.jdbc.LimitedUser;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class JdbcTransactionConfigurationTests {

	private static final String JDBC = "shardkeeper.topics.orders.consumer.transaction=jdbc";

	private HikariDataSource database;

	private ApplicationContextRunner runner;

	@BeforeEach
	void open() {
		this.database = empty();
		this.runner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class, JacksonAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class))
			.withBean("dataSource", DataSource.class, () -> this.database, (bean) -> bean.setPrimary(true))
			.withPropertyValues("shardkeeper.group=shop", "shardkeeper.store=memory",
					"shardkeeper.topics.orders.shards=1", "shardkeeper.topics.visits.shards=1");
	}

	@AfterEach
	void close() {
		this.database.close();
	}

	private static HikariDataSource empty() {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		pool.setMinimumIdle(0);
		return pool;
	}

	@Test
	void nothingIsCreatedWithoutSuchATopic() {
		this.runner.run((context) -> {
			assertThat(context).doesNotHaveBean(JdbcTransactionConfiguration.Database.class);
			assertThat(tables()).isEmpty();
		});
	}

	@Test
	void topicsWithTransactionsAreInTheDatabaseAndOthersInTheStore() {
		this.runner.withPropertyValues(JDBC).run((context) -> {
			CheckpointStore store = context.getBean(CheckpointStore.class);
			assertThat(store.transactions("orders")).isNotNull();
			assertThat(store.transactions("visits")).isNull();
			store.acquireNow(ShardId.of("orders", 0), new Token(1));
			store.acquireNow(ShardId.of("visits", 0), new Token(1));
			assertThat(rows()).containsExactly("orders");
			assertThat(context.getBean(DeadLetterStore.class).countRetries(List.of(ShardId.of("orders", 0))))
				.containsValue(0L);
		});
	}

	@Test
	void severalStoresOfTheOtherTopicsFailStartup() {
		this.runner.withPropertyValues(JDBC)
			.withBean("first", CheckpointStore.class, MemoryCheckpointStore::new)
			.withBean("second", CheckpointStore.class, MemoryCheckpointStore::new)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("There are several CheckpointStore beans")
				.hasMessageContaining("first, second"));
	}

	@Test
	void transactionOfAllTopicsCanBeSwitchedOffForOne() {
		this.runner
			.withPropertyValues("shardkeeper.consumer.transaction=jdbc",
					"shardkeeper.topics.visits.consumer.transaction=none")
			.run((context) -> {
				CheckpointStore store = context.getBean(CheckpointStore.class);
				assertThat(store.transactions("orders")).isNotNull();
				assertThat(store.transactions("unknown")).isNotNull();
				assertThat(store.transactions("visits")).isNull();
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "embedded", "always" })
	void tablesAreCreatedAsConfigured(String mode) {
		this.runner
			.withPropertyValues(JDBC, "shardkeeper.jdbc.initialize-schema=" + mode,
					"shardkeeper.jdbc.table-prefix=my_shards_")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(tables()).hasSize(8).allMatch((name) -> name.startsWith("MY_SHARDS_"));
			});
	}

	@Test
	void missingTablesThatAreNotToBeCreatedFailStartup() {
		this.runner.withPropertyValues(JDBC, "shardkeeper.jdbc.initialize-schema=never")
			.run((context) -> assertFailure(context,
					"needs the table 'shardkeeper_shard', and the database does not have it", "schema-h2.sql"));
	}

	/** As that of JPA, whose EntityManagerFactory waits for all scripts. */
	@Test
	void transactionManagerMayWaitForTheScriptsOfTheApplication() {
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceInitializationAutoConfiguration.class))
			.withUserConfiguration(ManagerAfterScripts.class)
			.withPropertyValues(JDBC)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(tables()).hasSize(8);
			});
	}

	/**
	 * Flyway, for example, refuses a schema that contains tables already. The bean is
	 * lazy, so that it does not come first by chance.
	 */
	@Test
	void scriptsOfTheApplicationFindNoTables() {
		List<String> found = new ArrayList<>(List.of("not asked"));
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceInitializationAutoConfiguration.class))
			.withPropertyValues(JDBC)
			.withBean("migration", DataSourceScriptDatabaseInitializer.class, () -> new Migration(this.database, () -> {
				found.clear();
				found.addAll(tables());
			}), (bean) -> bean.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(found).isEmpty();
				assertThat(tables()).hasSize(8);
			});
	}

	@Test
	void namedTransactionManagerAndItsDataSourceAreUsed() {
		try (HikariDataSource other = empty()) {
			this.runner.withPropertyValues(JDBC, "shardkeeper.jdbc.transaction-manager=second")
				.withBean("first", PlatformTransactionManager.class, () -> new JdbcTransactionManager(this.database))
				.withBean("second", PlatformTransactionManager.class, () -> new JdbcTransactionManager(other))
				.run((context) -> {
					context.getBean(CheckpointStore.class).acquireNow(ShardId.of("orders", 0), new Token(1));
					assertThat(rows(other)).containsExactly("orders");
					assertThat(tables()).isEmpty();
				});
		}
	}

	/** Rows that handlers write to the primary one would stay after a rollback. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void transactionsOfAnotherDataSourceThanThePrimaryFailStartup(boolean named) {
		HikariDataSource other = empty();
		this.runner.withPropertyValues(JDBC)
			.withBean("orders", DataSource.class, () -> other)
			.withBean("ordersManager", PlatformTransactionManager.class,
					() -> named ? new JdbcTransactionManager(other) : new OtherTransactions(other))
			.run((context) -> {
				assertFailure(context, "'ordersManager' are those of the DataSource 'orders'",
						"If they write to 'orders', mark it as @Primary");
				assertFailure(context, "injected by default is 'dataSource'",
						"'shardkeeper.jdbc.transaction-manager' to 'ordersManager'");
			});
	}

	/** Then the application has decided which one its handlers use. */
	@Test
	void dataSourceOfANamedTransactionManagerNeedNotBePrimary() {
		HikariDataSource other = empty();
		this.runner.withPropertyValues(JDBC, "shardkeeper.jdbc.transaction-manager=ordersManager")
			.withBean("orders", DataSource.class, () -> other)
			.withBean("ordersManager", PlatformTransactionManager.class, () -> new OtherTransactions(other))
			.run((context) -> {
				context.getBean(CheckpointStore.class).acquireNow(ShardId.of("orders", 0), new Token(1));
				assertThat(rows(other)).containsExactly("orders");
			});
	}

	/** Its connections are not those of the transaction. */
	@Test
	void transactionsOfAWrapperThatIsNoBeanFailStartup() {
		this.runner.withPropertyValues(JDBC)
			.withBean("manager", PlatformTransactionManager.class,
					() -> new JdbcTransactionManager(new LazyConnectionDataSourceProxy(this.database)))
			.run((context) -> assertFailure(context, "a LazyConnectionDataSourceProxy that is no bean",
					"If handlers write to 'dataSource', declare a JdbcTransactionManager bean for exactly this bean"));
	}

	@Test
	void primaryWrapperThatTakesPartInTheTransactionsIsRight() {
		HikariDataSource pool = empty();
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class, JacksonAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class))
			.withPropertyValues("shardkeeper.group=shop", "shardkeeper.store=memory",
					"shardkeeper.topics.orders.shards=1", JDBC)
			.withBean("pool", DataSource.class, () -> pool)
			.withBean("transactionAware", DataSource.class, () -> new TransactionAwareDataSourceProxy(pool),
					(bean) -> bean.setPrimary(true))
			.withBean("manager", PlatformTransactionManager.class, () -> new JdbcTransactionManager(pool))
			.run((context) -> {
				context.getBean(CheckpointStore.class).acquireNow(ShardId.of("orders", 0), new Token(1));
				assertThat(rows(pool)).containsExactly("orders");
			});
	}

	/** As those of JTA. */
	@Test
	void transactionsWithoutADataSourceFailStartup() {
		this.runner.withPropertyValues(JDBC)
			.withBean("manager", PlatformTransactionManager.class, NoTransactions::new)
			.run((context) -> assertFailure(context, "do not contain statements of the DataSource",
					"shardkeeper.jdbc.transaction-manager"));
	}

	@Test
	@Tag("proof")
	void refusedCreationOfTablesFailsStartup() {
		HikariDataSource owner = TestDatabase.POSTGRESQL.createEmpty();
		this.database = LimitedUser.of(owner);
		this.runner.withPropertyValues(JDBC, "shardkeeper.jdbc.initialize-schema=always")
			.run((context) -> assertFailure(context, "permission denied for schema",
					"'shardkeeper.jdbc.initialize-schema' to 'never'"));

		TestDatabase.POSTGRESQL.createTables(owner);
		this.database = LimitedUser.of(owner);
		this.runner.withPropertyValues(JDBC, "shardkeeper.jdbc.initialize-schema=never").run((context) -> {
			context.getBean(CheckpointStore.class).acquireNow(ShardId.of("orders", 0), new Token(1));
			assertThat(rows(owner)).containsExactly("orders");
		});
		owner.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "embedded", "always", "never" })
	@Tag("proof")
	void databaseThatIsAwayDoesNotFailStartup(String mode) {
		this.database = new HikariDataSource();
		this.database.setJdbcUrl("jdbc:postgresql://localhost:1/absent");
		this.runner.withPropertyValues(JDBC, "shardkeeper.jdbc.initialize-schema=" + mode).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> context.getBean(CheckpointStore.class).read(ShardId.of("orders", 0)));
		});
	}

	@Test
	void missingTransactionManagerFailsStartup() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
			.withPropertyValues("shardkeeper.group=shop", "shardkeeper.store=memory",
					"shardkeeper.topics.orders.shards=1", JDBC)
			.run((context) -> assertFailure(context, "there is no PlatformTransactionManager bean",
					"spring-boot-starter-jdbc"));
		this.runner.withPropertyValues(JDBC, "shardkeeper.jdbc.transaction-manager=missing")
			.run((context) -> assertFailure(context, "is 'missing'", "transactionManager"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "shardkeeper.jdbc.lock-wait=10ms", "shardkeeper.jdbc.table-prefix=1;drop",
			"shardkeeper.topics.orders.mode=broadcast" })
	void wrongPropertiesFailStartup(String property) {
		this.runner.withPropertyValues(JDBC, property)
			.run((context) -> assertFailure(context, property.contains("broadcast")
					? "'shardkeeper.topics.orders.mode' is 'broadcast'" : property.substring(0, property.indexOf('=')),
					""));
	}

	@Test
	void orderingNoneFailsStartup() {
		this.runner.withPropertyValues(JDBC, "shardkeeper.topics.orders.consumer.ordering=none")
			.withBean(Orders.class)
			.run((context) -> assertFailure(context, "'consumer.ordering' 'none'", "'consumer.transaction' to 'none'"));
	}

	@Test
	void concurrentCallsNeedReadCommitted() {
		String byKey = "shardkeeper.topics.orders.consumer.ordering=key";
		this.runner.withPropertyValues(JDBC, byKey)
			.withBean(Orders.class)
			.run((context) -> assertThat(context).hasNotFailed());

		openAtRepeatableRead();
		this.runner.withPropertyValues(JDBC).run((context) -> assertThat(context).hasNotFailed());
		openAtRepeatableRead();
		this.runner.withPropertyValues(JDBC, byKey)
			.run((context) -> assertFailure(context, "'consumer.ordering: key'", "'TRANSACTION_READ_COMMITTED'"));
	}

	/** Instead of the database that was closed with its application. */
	private void openAtRepeatableRead() {
		this.database = empty();
		this.database.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
	}

	@Test
	void manualCommitsFailStartup() {
		this.runner.withPropertyValues(JDBC, "shardkeeper.topics.orders.consumer.commit.mode=manual")
			.withBean(Orders.class)
			.run((context) -> assertFailure(context, "'consumer.commit.mode' 'manual'", "'background'"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "background", "manual" })
	void acknowledgmentFailsStartup(String mode) {
		this.runner.withPropertyValues(JDBC, "shardkeeper.topics.orders.consumer.commit.mode=" + mode)
			.withBean(Acknowledging.class)
			.run((context) -> assertFailure(context, "takes an Acknowledgment, but 'consumer.transaction' is 'jdbc'",
					"remove the parameter"));
	}

	@Test
	void handlerWithoutRecordsFailsStartup() {
		this.runner.withPropertyValues(JDBC, "shardkeeper.topics.orders.source=fixed")
			.withBean(Looping.class)
			.run((context) -> assertFailure(context, "takes no records", "there is no offset"));
	}

	/** As after an update from a version without them. */
	@Test
	void missingTablesFailStartupIfAHandlerSends() throws Exception {
		this.runner.withPropertyValues(JDBC, "shardkeeper.jdbc.table-prefix=my_")
			.withBean(Sending.class)
			.run((context) -> assertThat(context).hasNotFailed());

		this.database = empty();
		try (var connection = this.database.getConnection()) {
			ScriptUtils.executeSqlScript(connection, new ClassPathResource("schema-h2.sql", JdbcDataPlane.class));
			connection.createStatement().execute("drop table shardkeeper_outbox");
		}
		this.runner.withPropertyValues(JDBC, "shardkeeper.jdbc.initialize-schema=never")
			.withBean(Sending.class)
			.run((context) -> assertFailure(context,
					"takes a ShardOutput, but the database has no table 'shardkeeper_outbox'", "schema-h2.sql"));
	}

	/** Parsed only: H2 understands the types of other databases in their modes. */
	@ParameterizedTest
	@CsvSource({ "postgresql, PostgreSQL", "mysql, MySQL", "mariadb, MariaDB", "oracle, Oracle" })
	void scriptsHaveTheSameTablesAsThatOfH2(String platform, String mode) throws Exception {
		try (HikariDataSource ours = empty(); HikariDataSource other = new HikariDataSource()) {
			other.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;MODE=" + mode);
			for (HikariDataSource pool : List.of(ours, other)) {
				try (var connection = pool.getConnection()) {
					ScriptUtils.executeSqlScript(connection, new ClassPathResource(
							"schema-" + ((pool == ours) ? "h2" : platform) + ".sql", JdbcDataPlane.class));
				}
			}
			assertThat(columns(other)).isEqualTo(columns(ours)).hasSize(67);
		}
	}

	private static List<String> columns(DataSource dataSource) {
		return JdbcClient.create(dataSource)
			.sql("select upper(table_name || '.' || column_name) from information_schema.columns "
					+ "where upper(table_schema) = 'PUBLIC' order by 1")
			.query(String.class)
			.list();
	}

	private static void assertFailure(AssertableApplicationContext context, String what, String instead) {
		assertThat(context).hasFailed();
		Throwable cause = context.getStartupFailure();
		while (!(cause instanceof ShardkeeperConfigurationException) && cause.getCause() != null) {
			cause = cause.getCause();
		}
		assertThat(cause).isInstanceOfSatisfying(ShardkeeperConfigurationException.class,
				(failure) -> assertThat(failure.getDescription() + " " + failure.getAction()).contains(what, instead));
	}

	private List<String> tables() {
		return JdbcClient.create(this.database)
			.sql("select table_name from information_schema.tables where table_schema = 'PUBLIC'")
			.query(String.class)
			.list();
	}

	private List<String> rows() {
		return rows(this.database);
	}

	private static List<String> rows(DataSource dataSource) {
		return JdbcClient.create(dataSource).sql("select topic from shardkeeper_shard").query(String.class).list();
	}

	/** Transactions of no resource. */
	private static final class NoTransactions implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(TransactionDefinition definition) {
			return new SimpleTransactionStatus();
		}

		@Override
		public void commit(TransactionStatus status) {
		}

		@Override
		public void rollback(TransactionStatus status) {
		}

	}

	/** Transactions that do not name their data source, as those of JPA. */
	private static final class OtherTransactions implements PlatformTransactionManager {

		private final JdbcTransactionManager transactions;

		OtherTransactions(DataSource dataSource) {
			this.transactions = new JdbcTransactionManager(dataSource);
		}

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

	private static final class Migration extends DataSourceScriptDatabaseInitializer {

		private final Runnable script;

		Migration(DataSource dataSource, Runnable script) {
			super(dataSource, new DatabaseInitializationSettings());
			this.script = script;
		}

		@Override
		public boolean initializeDatabase() {
			this.script.run();
			return true;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ManagerAfterScripts {

		@Bean
		@DependsOnDatabaseInitialization
		PlatformTransactionManager manager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	static class Orders {

		@ShardConsumer("orders")
		void book(String order) {
		}

	}

	static class Acknowledging {

		@ShardConsumer("orders")
		void book(String order, Acknowledgment acknowledgment) {
		}

	}

	static class Sending {

		@ShardConsumer("orders")
		void book(String order, ShardOutput output) {
		}

	}

	static class Looping {

		@ShardConsumer(value = "orders", interval = "1s")
		void run() {
		}

	}

}
