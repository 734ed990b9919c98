package io.github.shardkeeper.autoconfigure;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.messaging.handler.annotation.Header;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardHeaders;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardRecordFilter;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Interceptors and filters of an application around the calls of real workers. */
class InterceptedHandlersTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private final List<String> events = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.orders.shards=1",
				"shardkeeper.consumer.commit.interval=100ms", "shardkeeper.consumer.retry.max-attempts=2",
				"shardkeeper.consumer.retry.initial-interval=1ms", "shardkeeper.consumer.on-failure=retry-queue",
				"shardkeeper.consumer.retry-queue.delays=1ms");

	@Test
	void eachAttemptIsInterceptedWithItsNumberAlsoThoseOfTheRetryQueue() {
		this.runner.withBean(Attempts.class, () -> new Attempts(this.events))
			.withBean(ShardInterceptor.class, () -> (shard, records, call) -> {
				this.events.add("before " + records.get(0).attempt());
				try {
					call.proceed();
					this.events.add("after " + records.get(0).attempt());
				}
				catch (IllegalStateException ex) {
					this.events.add("failed " + records.get(0).attempt());
					throw ex;
				}
			})
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "ann", "3");
				await().untilAsserted(() -> assertThat(this.events).containsExactly("before 1", "call 1", "failed 1",
						"before 2", "call 2", "failed 2", "before 3", "call 3", "after 3"));
			});
	}

	/** The shard goes on with the next record. */
	@ParameterizedTest
	@ValueSource(classes = { StackOverflowError.class, OutOfMemoryError.class, IllegalStateException.class })
	void whatAnInterceptorThrowsIsAFailureOfTheRecord(Class<? extends Throwable> failure) {
		this.runner.withBean(Plain.class, () -> new Plain(this.events))
			.withPropertyValues("shardkeeper.consumer.on-failure=dead-letter")
			.withBean(ShardInterceptor.class, () -> (shard, records, call) -> {
				if (records.get(0).payload().equals("bad")) {
					throw failure.getConstructor().newInstance();
				}
				call.proceed();
			})
			.run((context) -> {
				context.getBean(ShardTemplate.class)
					.sendAll("orders", List.of(new Outgoing("ann", "bad"), new Outgoing("ann", "good")));
				DeadLetters letters = context.getBean(DeadLetters.class);
				List<DeadLetter> found = await().until(
						() -> letters.list(DeadLetterFilter.topic("orders"), null, 5).letters(),
						(stored) -> !stored.isEmpty());
				assertThat(found).singleElement()
					.satisfies((letter) -> assertThat(letter.exception()).contains(failure.getName()))
					.satisfies((letter) -> assertThat(letter.attempts()).isEqualTo(2));
				await().untilAsserted(() -> assertThat(this.events).containsExactly("good"));
			});
	}

	@Test
	void skippedRecordsAreCountedAndCommitted() {
		this.runner.withBean(Plain.class, () -> new Plain(this.events))
			.withBean(ShardRecordFilter.class, () -> (shard, record) -> !record.headers().containsKey("test"))
			.run(this::skips);
	}

	@Test
	void skippedRecordNeedsNoAcknowledgment() {
		this.runner.withBean(Acknowledging.class, () -> new Acknowledging(this.events))
			.withPropertyValues("shardkeeper.consumer.commit.mode=manual")
			.withBean(ShardRecordFilter.class, () -> (shard, record) -> !record.headers().containsKey("test"))
			.run(this::skips);
	}

	private void skips(AssertableApplicationContext context) {
		List<ShardTemplate.Appended> appended = context.getBean(ShardTemplate.class)
			.sendAll("orders", List.of(new Outgoing("ann", "1"), new Outgoing("ann", "2").withHeader("test", "yes")));
		CheckpointStore checkpoints = context.getBean(CheckpointStore.class);
		await().untilAsserted(
				() -> assertThat(checkpoints.offsets(List.of(SHARD)).get(SHARD)).isEqualTo(appended.get(1).offset()));
		assertThat(this.events).containsExactly("1");
		assertThat(count(context, "shardkeeper.records.skipped")).isEqualTo(1);
		assertThat(count(context, "shardkeeper.records")).isEqualTo(2);
	}

	private static double count(AssertableApplicationContext context, String meter) {
		return context.getBean(MeterRegistry.class).get(meter).tag("topic", "orders").counter().count();
	}

	/** What it has written before and after the method is rolled back with it. */
	@Test
	void interceptorRunsWithinTheTransactionOfTheCall() {
		HikariDataSource database = new HikariDataSource();
		database.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		JdbcTemplate rows = new JdbcTemplate(database);
		rows.execute("create table audit (step varchar(100))");
		this.runner
			.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class))
			.withBean("dataSource", DataSource.class, () -> database)
			.withPropertyValues("shardkeeper.consumer.transaction=jdbc")
			.withBean(Attempts.class, () -> new Attempts(this.events))
			.withBean(ShardInterceptor.class, () -> (shard, records, call) -> {
				rows.update("insert into audit values (?)", "before " + records.get(0).attempt());
				try {
					call.proceed();
				}
				finally {
					rows.update("insert into audit values (?)", "after " + records.get(0).attempt());
				}
			})
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "ann", "2");
				await().untilAsserted(() -> assertThat(rows.queryForList("select step from audit", String.class))
					.containsExactlyInAnyOrder("before 2", "after 2"));
				assertThat(this.events).containsExactly("call 1", "call 2");
			});
	}

	/** Succeeds with the attempt that the payload says. */
	record Attempts(List<String> events) {

		@ShardConsumer("orders")
		void handle(String attempt, @Header(ShardHeaders.ATTEMPT) int number) {
			this.events.add("call " + number);
			if (number < Integer.parseInt(attempt)) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	record Plain(List<String> events) {

		@ShardConsumer("orders")
		void handle(String payload) {
			this.events.add(payload);
		}

	}

	record Acknowledging(List<String> events) {

		@ShardConsumer("orders")
		void handle(String payload, Acknowledgment acknowledgment) {
			this.events.add(payload);
			acknowledgment.acknowledge();
		}

	}

}
