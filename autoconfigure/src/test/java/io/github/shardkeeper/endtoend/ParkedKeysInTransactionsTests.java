package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keys that wait for a failing record, in applications that write rows of PostgreSQL and
 * send records in the transaction of the call.
 */
@Timeout(180)
@Tag("proof")
class ParkedKeysInTransactionsTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.topics.orders.consumer.transaction=jdbc", "shardkeeper.topics.receipts.shards=1",
			"shardkeeper.consumer.commit.interval=50ms", "shardkeeper.consumer.retry.max-attempts=2",
			"shardkeeper.consumer.retry.initial-interval=1ms", "shardkeeper.consumer.on-failure=park-key",
			"shardkeeper.consumer.retry-queue.delays=1h", "management.endpoints.web.exposure.include=shards");

	private final TargetStream receipts = new TargetStream(this.instances.name(), ShardId.of("receipts", 0));

	private final HikariDataSource database = TestDatabase.POSTGRESQL.create();

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
		client().sql(
				"create table booked (seq bigint generated always as identity, id varchar(10) not null, count int not null)")
			.update();
	}

	@AfterEach
	void close() {
		this.instances.close();
		this.database.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "shard", "key" })
	void keyThatWaitsSendsOnceItIsHandledAndInItsOrder(String ordering) {
		ConfigurableApplicationContext one = start(Failing.class, "one", ordering);
		send(one, "a", "a1");
		awaitReceipts("a1/1");
		send(one, "a", "bad");
		send(one, "a", "a3");
		send(one, "b", "b4");
		awaitReceipts("a1/1", "b4/2");
		awaitWaiting(one, 2);

		ConfigurableApplicationContext two = start(Repaired.class, "two", ordering);
		one.close();
		send(two, "a", "a5");
		send(two, "b", "b6");
		awaitReceipts("a1/1", "b4/2", "b6/3");
		awaitWaiting(two, 3);
		assertThat(retryNow(two)).containsExactly("Retried now: 3 records of 1 key");

		awaitReceipts("a1/1", "b4/2", "b6/3", "bad/4", "a3/5", "a5/6");
		awaitWaiting(two, 0);
		send(two, "a", "a7");
		awaitReceipts("a1/1", "b4/2", "b6/3", "bad/4", "a3/5", "a5/6", "a7/7");
	}

	/** What is sent has the order of the transactions, also while its target is away. */
	@ParameterizedTest
	@ValueSource(strings = { "shard", "key" })
	void keyThatIsHandledWhileTheTargetIsAwaySendsInItsOrder(String ordering) {
		ConfigurableApplicationContext one = start(Failing.class, "one", ordering);
		send(one, "b", "b1");
		awaitReceipts("b1/1");
		this.receipts.putAside();
		send(one, "a", "bad");
		send(one, "a", "a3");
		send(one, "b", "b4");
		awaitRows("b1/1", "b4/2");
		awaitWaiting(one, 2);
		one.close();

		ConfigurableApplicationContext two = start(Repaired.class, "two", ordering);
		retryNow(two);
		awaitRows("b1/1", "b4/2", "bad/3", "a3/4");
		send(two, "b", "b5");
		awaitRows("b1/1", "b4/2", "bad/3", "a3/4", "b5/5");
		this.receipts.bringBack();

		awaitReceipts("b1/1", "b4/2", "bad/3", "a3/4", "b5/5");
		awaitWaiting(two, 0);
	}

	private void awaitReceipts(String... expected) {
		eventually(() -> assertThat(this.receipts.records()).containsExactly(expected));
		awaitRows(expected);
	}

	private void awaitRows(String... expected) {
		eventually(() -> assertThat(
				client().sql("select id || '/' || count from booked order by seq").query(String.class).list())
			.containsExactly(expected));
	}

	private static void awaitWaiting(ConfigurableApplicationContext instance, long records) {
		eventually(
				() -> assertThat(instance.getBean(DeadLetters.class).waiting("orders")).containsEntry(SHARD, records));
	}

	private static List<String> retryNow(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardOperations.class)
			.onShard(SHARD.topic(), SHARD.id(), null, Map.of("action", "retry-waiting"))
			.effects();
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(assertion);
	}

	private static void send(ConfigurableApplicationContext instance, String key, String payload) {
		instance.getBean(ShardTemplate.class).send("orders", key, payload);
	}

	private JdbcClient client() {
		return JdbcClient.create((DataSource) this.database);
	}

	private ConfigurableApplicationContext start(Class<?> application, String instance, String ordering) {
		HikariDataSource pool = this.database;
		SpringApplicationBuilder builder = new SpringApplicationBuilder(application).initializers(
				(ApplicationContextInitializer<ConfigurableApplicationContext>) (context) -> context.getBeanFactory()
					.registerSingleton("dataSource", pool));
		return this.instances.start(builder, instance, "shardkeeper.topics.orders.consumer.ordering=" + ordering);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Failing {

		@Bean
		Orders orders(JdbcClient client) {
			return new Orders(client, true);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Repaired {

		@Bean
		Orders orders(JdbcClient client) {
			return new Orders(client, false);
		}

	}

	record Orders(JdbcClient client, boolean fails) {

		/** Fails at its end: what it has written and sent by then must not be there. */
		@ShardConsumer("orders")
		void book(ShardRecord<String> order, ShardState state, ShardOutput output) {
			long count = state.increment("orders", 1);
			this.client.sql("insert into booked (id, count) values (?, ?)").params(order.payload(), count).update();
			output.send("receipts", order.key(), order.payload() + "/" + count);
			if (this.fails && order.payload().equals("bad")) {
				throw new IllegalStateException("cannot book " + order.payload());
			}
		}

	}

}
