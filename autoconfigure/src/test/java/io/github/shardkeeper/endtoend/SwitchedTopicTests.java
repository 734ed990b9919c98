package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardPositions.Progress;
import io.github.shardkeeper.ShardPositions.Seek;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.testsupport.EveryDatabase;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A topic whose {@code consumer.transaction} changes between two deployments, back and
 * forth: the checkpoint in one of the stores counts, and goes along.
 */
@MoreInProof
@Promise("Rows exactly once")
class SwitchedTopicTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final String JDBC = "shardkeeper.topics.orders.consumer.transaction=jdbc";

	private static final String NONE = "shardkeeper.topics.orders.consumer.transaction=none";

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.session.heartbeat-interval=100ms", "shardkeeper.consumer.commit.interval=50ms",
			"shardkeeper.consumer.retry.max-attempts=1", "shardkeeper.topics.orders.consumer.on-failure=park-key",
			"shardkeeper.consumer.retry-queue.delays=1h", "shardkeeper.redis.trust-empty=true");

	private HikariDataSource database;

	@AfterEach
	void close() {
		this.instances.close();
		// Not if the database is not on this machine.
		if (this.database != null) {
			this.database.close();
		}
	}

	/** Deploy, roll back, deploy, roll back. */
	@EveryDatabase
	void rowsStateAndWhatWaitsGoBackAndForth(TestDatabase kind) {
		open(kind);
		try (ConfigurableApplicationContext first = start("one", NONE)) {
			send(first, "a", "1", "2");
			send(first, "bad", "3", "4");
			awaitRows("1", "2");
			awaitWaiting(first, 2);
		}
		try (ConfigurableApplicationContext second = start("two", JDBC)) {
			send(second, "a", "5");
			awaitRows("1", "2", "5");
			awaitWaiting(second, 2);
			assertThat(state(second)).isEqualTo(Map.of("rows", 3L));
		}
		try (ConfigurableApplicationContext third = start("three", NONE)) {
			send(third, "a", "6");
			awaitRows("1", "2", "5", "6");
			awaitWaiting(third, 2);
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(state(third)).isEqualTo(Map.of("rows", 4L)));
		}
		try (ConfigurableApplicationContext fourth = start("four", JDBC)) {
			Orders orders = fourth.getBean(Orders.class);
			orders.failing.clear();
			send(fourth, "a", "7");
			awaitRows("1", "2", "5", "6", "7");
			awaitWaiting(fourth, 2);
			assertThat(fourth.getBean(ShardConsumerRunner.class).problems()).isEmpty();
			assertThat(state(fourth)).isEqualTo(Map.of("rows", 5L));
		}
	}

	@EveryDatabase
	@Tag("proof")
	void pendingSeeksAreCarriedOutByTheSwitch(TestDatabase kind) {
		open(kind);
		StartPosition second;
		Seek seek;
		try (ConfigurableApplicationContext instance = start("one", NONE)) {
			second = StartPosition.parse(send(instance, "a", "1", "2", "5").get(1).offset().value());
			awaitRows("1", "2", "5");
			instance.getBean(ShardConsumerRunner.class).stop();
			seek = instance.getBean(ShardPositions.class).reset(SHARD, second);
		}
		try (ConfigurableApplicationContext instance = start("two", JDBC)) {
			awaitRows("1", "2", "5", "2", "5");
			assertThat(instance.getBean(ShardPositions.class).progress(seek)).containsEntry(SHARD, Progress.APPLIED);
			assertThat(state(instance)).as("it has removed the state").isEqualTo(Map.of("rows", 2L));
			instance.getBean(ShardConsumerRunner.class).stop();
			seek = instance.getBean(ShardPositions.class).reset(SHARD, second);
			assertThat(instance.getBean(ShardPositions.class).progress(seek)).containsEntry(SHARD, Progress.PENDING);
		}
		try (ConfigurableApplicationContext instance = start("three", NONE)) {
			awaitRows("1", "2", "5", "2", "5", "2", "5");
			assertThat(instance.getBean(ShardPositions.class).progress(seek)).containsEntry(SHARD, Progress.APPLIED);
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(state(instance)).isEqualTo(Map.of("rows", 2L)));
		}
	}

	/** Or one that has none of its rows: everything would be written again. */
	@EveryDatabase
	@Tag("proof")
	void databaseThatHasLostTheCheckpointIsNotTakenForAnEmptyOne(TestDatabase kind) {
		open(kind);
		StartPosition second;
		try (ConfigurableApplicationContext instance = start("one", JDBC)) {
			second = StartPosition.parse(send(instance, "a", "1", "2", "5").get(1).offset().value());
			awaitRows("1", "2", "5");
		}
		client().sql("delete from shardkeeper_shard").update();
		try (ConfigurableApplicationContext instance = start("two", JDBC)) {
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(instance.getBean(ShardConsumerRunner.class).problems())
					.hasEntrySatisfying(SHARD, (problem) -> assertThat(problem)
						.contains("the database does not have it", "ShardPositions.reset")));
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> instance.getBean(ShardPositions.class).seek(SHARD, second))
				.withMessageContaining("the database does not have it");
			instance.getBean(ShardPositions.class).reset(SHARD, second);
			awaitRows("1", "2", "5", "2", "5");
		}
	}

	private static void awaitWaiting(ConfigurableApplicationContext instance, long records) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(instance.getBean(DeadLetters.class).waiting("orders")).containsEntry(SHARD,
					records));
	}

	private static Map<String, Long> state(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardStateReader.class).read(SHARD, Long.class);
	}

	private void open(TestDatabase kind) {
		this.database = kind.create();
		client().sql("create table booked (id varchar(100) not null)").update();
	}

	private ConfigurableApplicationContext start(String name, String... properties) {
		HikariDataSource pool = this.database;
		return this.instances.start(
				new SpringApplicationBuilder(Application.class)
					.initializers((ApplicationContextInitializer<ConfigurableApplicationContext>) (
							context) -> context.getBeanFactory().registerSingleton("dataSource", pool)),
				name, properties);
	}

	private static List<Appended> send(ConfigurableApplicationContext instance, String key, String... orders) {
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		return Stream.of(orders).map((order) -> template.send("orders", key, order)).toList();
	}

	private void awaitRows(String... ids) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(client().sql("select id from booked").query(String.class).list())
				.containsExactlyInAnyOrder(ids));
	}

	private JdbcClient client() {
		return JdbcClient.create((DataSource) this.database);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Orders orders(JdbcClient client) {
			return new Orders(client);
		}

	}

	static class Orders {

		private final JdbcClient client;

		private final Set<String> failing = ConcurrentHashMap.newKeySet();

		Orders(JdbcClient client) {
			this.client = client;
			this.failing.addAll(List.of("3", "4"));
		}

		@ShardConsumer("orders")
		void book(String id, ShardState state) {
			if (this.failing.contains(id)) {
				throw new IllegalStateException("cannot book " + id);
			}
			state.increment("rows", 1);
			this.client.sql("insert into booked (id) values (?)").param(id).update();
		}

	}

}
