package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardsEndpoint;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.report.ShardDetails;
import io.github.shardkeeper.shard.OutboxReport;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What waits in an outbox, as the endpoint of the owner and of another instance shows it.
 */
@Timeout(180)
class OutboxReportsTests {

	private static final int RECORDS = 3;

	private final EmbeddedRedis redis = EmbeddedRedis.shared();

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.topics.paid.shards=1", "shardkeeper.consumer.commit.interval=50ms",
			"management.endpoints.web.exposure.include=shards");

	private final HikariDataSource database = TestDatabase.H2.create();

	@AfterEach
	void close() {
		this.instances.close();
		this.database.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "none", "jdbc" })
	void targetThatRefusesShowsWhatWaitsUntilItIsMended(String transaction) {
		String stream = this.instances.name() + ":{paid#0}:stream:0";
		this.redis.call((commands) -> commands.set(stream, "mine"));
		List<ConfigurableApplicationContext> both = List.of(start("one", transaction), start("two", transaction));
		eventually(() -> assertThat(both).extracting(OutboxReportsTests::orders)
			.allSatisfy((orders) -> assertThat(orders.outbox()).as("nothing was ever sent").isNull()));
		Instant before = Instant.now().truncatedTo(ChronoUnit.MILLIS);
		ShardTemplate template = both.get(0).getBean(ShardTemplate.class);
		IntStream.range(0, RECORDS).forEach((number) -> template.send("orders", "ann", "order " + number));

		eventually(() -> assertThat(both).allSatisfy((instance) -> {
			ShardDetails orders = orders(instance);
			assertThat(orders.shard().problem())
				.startsWith("Continues, but records that it has sent cannot be appended to paid/0")
				.contains(stream + " holds a string", "move it away with RENAME or remove it with DEL");
			OutboxReport outbox = orders.outbox();
			assertThat(outbox).isNotNull();
			assertThat(outbox.records()).isEqualTo(RECORDS);
			if (isOwner(instance, orders)) {
				assertThat(outbox.size()).isEqualTo(RECORDS * ("ann".length() + "order 0".length()));
				assertThat(outbox.since()).isBetween(before, Instant.now());
			}
			else {
				assertThat(outbox).isEqualTo(new OutboxReport(RECORDS, null, null));
			}
		}));

		this.redis.call((commands) -> commands.del(stream));

		eventually(() -> assertThat(both).allSatisfy((instance) -> {
			ShardDetails orders = orders(instance);
			assertThat(orders.shard().problem()).isNull();
			assertThat(orders.outbox())
				.isEqualTo(isOwner(instance, orders) ? new OutboxReport(0, 0L, null) : new OutboxReport(0, null, null));
			assertThat(orders.unreadable()).isEmpty();
		}));
		Long received = this.redis.call((commands) -> commands.xlen(stream));
		assertThat(received).isEqualTo(RECORDS);
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(assertion);
	}

	private static ShardDetails orders(ConfigurableApplicationContext instance) {
		ShardDetails orders = instance.getBean(ShardsEndpoint.class).shard("orders", "0", null);
		assertThat(orders).as("it has had an owner").isNotNull();
		return orders;
	}

	private static boolean isOwner(ConfigurableApplicationContext instance, ShardDetails orders) {
		String name = instance.getEnvironment().getProperty("shardkeeper.instance-id");
		return String.valueOf(orders.shard().owner()).startsWith(name + "~");
	}

	private ConfigurableApplicationContext start(String name, String transaction) {
		HikariDataSource pool = this.database;
		ApplicationContextInitializer<ConfigurableApplicationContext> withDatabase = (
				context) -> context.getBeanFactory().registerSingleton("dataSource", pool);
		return this.instances.start(new SpringApplicationBuilder(Application.class).initializers(withDatabase), name,
				"shardkeeper.topics.orders.consumer.transaction=" + transaction);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("orders")
		void order(ShardRecord<String> order, ShardOutput output) {
			output.send("paid", order.key(), order.payload());
		}

	}

}
