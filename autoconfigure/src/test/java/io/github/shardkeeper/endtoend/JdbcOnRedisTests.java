package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.shardkeeper.RetiredTopics;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/** Topics in Redis whose offsets are in a database: what Redis has to know of them. */
@Tag("proof")
class JdbcOnRedisTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final String[] TABLES = { "shardkeeper_shard", "shardkeeper_state", "shardkeeper_topic" };

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.topics.orders.consumer.transaction=jdbc", "shardkeeper.topics.others.shards=1",
			"shardkeeper.session.heartbeat-interval=100ms", "shardkeeper.consumer.commit.interval=50ms",
			"shardkeeper.redis.trust-empty=true");

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	private final HikariDataSource database = TestDatabase.H2.create();

	@BeforeEach
	void createTables() {
		client().sql("create table booked (id varchar(100) not null)").update();
	}

	@AfterEach
	void close() {
		this.instances.close();
		this.database.close();
	}

	/** They cannot read the database. */
	@Test
	void trimmingOfAllGroupsSeesTheOffsetOfTheDatabase() {
		ConfigurableApplicationContext one = start(Orders.class, "one");
		String last = send(one, 200);

		await().untilAsserted(() -> assertThat(checkpoint("copy")).isEqualTo(last));
		assertThat(checkpoint("offset")).as("the checkpoint itself is in the database").isNull();
		assertThat(trimmable(one)).isEqualTo(last);
	}

	/** What would remain in one of the stores would be taken over again. */
	@Test
	void forgottenTopicIsRemovedFromDatabaseAndRedis() {
		String inRedis = "shardkeeper.topics.orders.consumer.transaction=none";
		ConfigurableApplicationContext before = start(Orders.class, "one", inRedis);
		send(before, 1);
		await().untilAsserted(() -> assertThat(checkpoint("offset")).isNotNull());
		before.close();
		ConfigurableApplicationContext one = start(Orders.class, "one");
		send(one, 1);
		await().untilAsserted(() -> assertThat(booked()).isEqualTo(2));
		one.close();
		assertThat(checkpoint("offset")).as("from before").isNotNull();
		// Another topic in the database, and this one no longer.
		ConfigurableApplicationContext without = start(Others.class, "two", inRedis,
				"shardkeeper.topics.others.consumer.transaction=jdbc");

		assertThat(without.getBean(RetiredTopics.class).forgetWithData("orders")).isOne();

		for (String table : TABLES) {
			assertThat(count(table)).as(table).isZero();
		}
		assertThat(this.redis.hasKey(key())).isFalse();
		without.close();
		start(Orders.class, "one");
		await().untilAsserted(() -> assertThat(booked()).as("from the beginning").isEqualTo(4));
	}

	private String trimmable(ConfigurableApplicationContext instance) {
		return Objects.requireNonNull(
				instance.getBean(TopicGroups.class).offsets(Set.of(this.instances.name()), List.of(SHARD)).get(SHARD))
			.get(0)
			.value();
	}

	private ConfigurableApplicationContext start(Class<?> application, String name, String... properties) {
		HikariDataSource pool = this.database;
		return this.instances.start(
				new SpringApplicationBuilder(application)
					.initializers((ApplicationContextInitializer<ConfigurableApplicationContext>) (
							context) -> context.getBeanFactory().registerSingleton("dataSource", pool)),
				name, properties);
	}

	private static String send(ConfigurableApplicationContext instance, int count) {
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		return IntStream.range(0, count)
			.mapToObj((number) -> template.send("orders", "k", "order-" + number).offset().value())
			.reduce("", (first, second) -> second);
	}

	private String key() {
		return this.instances.name() + ":{" + this.instances.name() + "/orders/0}:checkpoint";
	}

	private Object checkpoint(String field) {
		return this.redis.opsForHash().get(key(), field);
	}

	private long booked() {
		return count("booked");
	}

	private long count(String table) {
		return client().sql("select count(*) from " + table + (table.equals("booked") ? "" : " where topic = 'orders'"))
			.query(Long.class)
			.single();
	}

	private JdbcClient client() {
		return JdbcClient.create((DataSource) this.database);
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(PATIENCE);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Orders {

		@Bean
		OrdersHandler handler(JdbcClient client) {
			return new OrdersHandler(client);
		}

	}

	record OrdersHandler(JdbcClient client) {

		@ShardConsumer("orders")
		void book(String id) {
			this.client.sql("insert into booked (id) values (?)").param(id).update();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Others {

		@Bean
		OthersHandler handler() {
			return new OthersHandler();
		}

	}

	static class OthersHandler {

		@ShardConsumer("others")
		void handle(String record) {
			throw new IllegalStateException("nothing was sent");
		}

	}

}
