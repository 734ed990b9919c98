package io.github.shardkeeper.autoconfigure;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;

import static org.assertj.core.api.Assertions.assertThat;

/** Handlers that take a {@code ShardTimers}, on the memory store and in a database. */
class ShardTimersConfigurationTests {

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.orders.shards=2",
				"shardkeeper.topics.jobs.source=fixed");

	@Test
	void timersOfRecordsAndOfShardsWithoutRecordsFire() {
		this.memory.withUserConfiguration(Application.class).run((context) -> {
			Reminders reminders = context.getBean(Reminders.class);
			Jobs jobs = context.getBean(Jobs.class);
			context.getBean(ShardTemplate.class).send("orders", "ann", "1");

			Awaitility.await().untilAsserted(() -> assertThat(reminders.fired).containsExactly("remind of ann"));
			Awaitility.await().untilAsserted(() -> assertThat(jobs.fired).containsExactly("once of all"));
		});
	}

	/** The first call for the timer has written its row, and is rolled back. */
	@Test
	void timersChangeInTheTransactionsOfTheirCalls() {
		HikariDataSource database = new HikariDataSource();
		database.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		JdbcTemplate rows = new JdbcTemplate(database);
		rows.execute("create table reminder (customer varchar(100))");
		this.memory
			.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class))
			.withBean("dataSource", DataSource.class, () -> database)
			.withBean(RowReminders.class, () -> new RowReminders(rows))
			.withPropertyValues("shardkeeper.topics.orders.consumer.transaction=jdbc")
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "ann", "1");

				Awaitility.await()
					.untilAsserted(() -> assertThat(rows.queryForList("select customer from reminder", String.class))
						.containsExactly("ann"));
				assertThat(context.getBean(RowReminders.class).calls).hasValue(2);
				assertThat(rows.queryForObject("select count(*) from shardkeeper_timer", Integer.class)).isZero();
			});
	}

	@Test
	void broadcastTopicFailsStartup() {
		this.memory.withUserConfiguration(Application.class)
			.withPropertyValues("shardkeeper.topics.orders.mode=broadcast")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining(
						"has an @OnShardTimer method, but 'shardkeeper.topics.orders.mode' is 'broadcast'"));
	}

	@Test
	void timersWithoutAMethodFailStartup() {
		this.memory.withUserConfiguration(WithoutMethod.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("takes a ShardTimers, but its bean has no @OnShardTimer method"));
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Reminders reminders() {
			return new Reminders();
		}

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WithoutMethod {

		@Bean
		Forgetful forgetful() {
			return new Forgetful();
		}

	}

	static final class Reminders {

		private final List<String> fired = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void order(String order, ShardTimers timers) {
			timers.set("ann", "cancelled", Instant.now().plusMillis(200));
			timers.set("ann", "remind", Instant.now().plusMillis(100));
			timers.cancel("ann", "cancelled");
		}

		@OnShardTimer
		void due(ShardTimer timer) {
			this.fired.add(timer.name() + " of " + timer.key());
		}

	}

	static final class RowReminders {

		private final JdbcTemplate rows;

		private final AtomicInteger calls = new AtomicInteger();

		RowReminders(JdbcTemplate rows) {
			this.rows = rows;
		}

		@ShardConsumer("orders")
		void order(String order, ShardTimers timers) {
			timers.set("ann", "remind", Instant.now().plusMillis(100));
		}

		@OnShardTimer
		void due(ShardTimer timer) {
			this.rows.update("insert into reminder values (?)", timer.key());
			if (this.calls.incrementAndGet() == 1) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	static final class Jobs {

		private final List<String> fired = new CopyOnWriteArrayList<>();

		private volatile boolean set;

		@ShardConsumer(value = "jobs", interval = "50ms")
		synchronized void run(ShardTimers timers) {
			if (!this.set) {
				this.set = true;
				timers.set("all", "once", Instant.now().plusMillis(100));
			}
		}

		@OnShardTimer
		void due(ShardTimer timer) {
			this.fired.add(timer.name() + " of " + timer.key());
		}

	}

	static final class Forgetful {

		@ShardConsumer("orders")
		void order(String order, ShardTimers timers) {
		}

	}

}
