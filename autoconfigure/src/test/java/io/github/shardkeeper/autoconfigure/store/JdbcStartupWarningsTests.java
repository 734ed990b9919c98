package io.github.shardkeeper.autoconfigure.store;

import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an application with transactions of its database is told at startup, because it
 * may be meant.
 */
@CapturesOutput
class JdbcStartupWarningsTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class, JacksonAutoConfiguration.class))
		.withPropertyValues("spring.threads.virtual.enabled=false", "shardkeeper.group=shop",
				"shardkeeper.store=memory", "shardkeeper.topics.orders.consumer.transaction=jdbc",
				"shardkeeper.topics.orders.shards=8");

	/** The default pool has ten connections. */
	@ParameterizedTest
	@CsvSource({ "shardkeeper.topics.orders.shards=9, 0", "shardkeeper.topics.orders.shards=10, 10",
			"shardkeeper.topics.orders.shards=100, 16", "shardkeeper.topics.orders.consumer.ordering=key, 16",
			"spring.threads.virtual.enabled=true, 0" })
	void poolThatCallsMayUseUpIsNamedWithBothNumbers(String property, int calls, CapturedOutput output) {
		run(property);

		if (calls == 0) {
			assertThat(output).doesNotContain("The pool of the DataSource");
		}
		else {
			assertThat(output)
				.contains("The pool of the DataSource has 10 connections, and up to %d calls".formatted(calls))
				.contains("Set 'spring.datasource.hikari.maximum-pool-size' to more than %d".formatted(calls))
				.contains("'shardkeeper.consumer.threads' to less than 10");
		}
	}

	private void run(String... properties) {
		HikariDataSource pool = pool();
		this.runner.withPropertyValues(properties)
			.withBean("dataSource", DataSource.class, () -> pool)
			.withBean(PlatformTransactionManager.class, () -> new JdbcTransactionManager(pool))
			.withBean(Orders.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void poolOfAnApplicationWithoutSuchAHandlerIsNotNamed(CapturedOutput output) {
		HikariDataSource pool = pool();
		this.runner.withPropertyValues("shardkeeper.topics.orders.shards=100")
			.withBean("dataSource", DataSource.class, () -> pool)
			.withBean(PlatformTransactionManager.class, () -> new JdbcTransactionManager(pool))
			.run((context) -> assertThat(context).hasNotFailed());

		assertThat(output).doesNotContain("The pool of the DataSource");
	}

	/** What handlers write with it would stay after a rollback, without a word. */
	@Test
	void otherDataSourceIsNamedIfNoneIsPrimary(CapturedOutput output) {
		runWithTwo();

		assertThat(output).contains("What handlers write with [reports] is not a part of their transactions")
			.contains("set 'shardkeeper.jdbc.transaction-manager' to 'manager'");
	}

	/** Then the application has decided. */
	@Test
	void otherDataSourceOfANamedTransactionManagerIsNotNamed(CapturedOutput output) {
		runWithTwo("shardkeeper.jdbc.transaction-manager=manager");

		assertThat(output).doesNotContain("is not a part of their transactions");
	}

	private void runWithTwo(String... properties) {
		HikariDataSource pool = pool();
		this.runner.withPropertyValues(properties)
			.withBean("orders", DataSource.class, () -> pool)
			.withBean("reports", DataSource.class, JdbcStartupWarningsTests::pool)
			.withBean("manager", PlatformTransactionManager.class, () -> new JdbcTransactionManager(pool))
			.withBean(Orders.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static HikariDataSource pool() {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		pool.setMinimumIdle(0);
		return pool;
	}

	static class Orders {

		@ShardConsumer("orders")
		void handle(String order) {
		}

	}

}
