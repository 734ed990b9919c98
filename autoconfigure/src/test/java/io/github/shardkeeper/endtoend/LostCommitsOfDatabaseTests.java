package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.testsupport.EveryDatabase;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A database that has lost commits which it had acknowledged, as in a failover to a
 * replica that lacked them. Here its rows are set back behind the application's back.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
@Promise("Rows exactly once")
class LostCommitsOfDatabaseTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final List<String> TABLES = List.of("booked", "shardkeeper_shard", "shardkeeper_state");

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=2",
			"shardkeeper.topics.orders.consumer.transaction=jdbc", "shardkeeper.redis.trust-empty=true");

	private HikariDataSource database;

	@AfterEach
	void close() {
		this.instances.close();
		// Not if the database is not on this machine.
		if (this.database != null) {
			this.database.close();
		}
	}

	/** No record comes that would find it. */
	@EveryDatabase
	void idleShardWritesLostRowsAgain(TestDatabase kind, CapturedOutput output) {
		this.database = kind.create();
		client().sql("create table booked (id varchar(100) not null)").update();
		ConfigurableApplicationContext instance = start();
		send(instance, "1", "2");
		awaitRows("1", "2");
		TABLES.forEach(
				(table) -> client().sql("create table replica_%1$s as select * from %1$s".formatted(table)).update());
		send(instance, "3", "4", "5");
		awaitRows("1", "2", "3", "4", "5");
		failOver();

		awaitRows("1", "2", "3", "4", "5");
		assertThat(output).contains("The database has lost commits of orders/", "synchronous_standby_names")
			.doesNotContain("two masters", "taken over by a newer owner");
		send(instance, "6");
		awaitRows("1", "2", "3", "4", "5", "6");
	}

	/** In one transaction, so that nobody sees a part of it. */
	private void failOver() {
		new TransactionTemplate(new JdbcTransactionManager(this.database)).executeWithoutResult((status) -> {
			for (String table : TABLES) {
				client().sql("delete from " + table).update();
				client().sql("insert into %1$s select * from replica_%1$s".formatted(table)).update();
			}
			assertThat(rows()).containsExactlyInAnyOrder("1", "2");
		});
	}

	private ConfigurableApplicationContext start() {
		HikariDataSource pool = this.database;
		return this.instances.start(new SpringApplicationBuilder(Application.class).initializers(
				(ApplicationContextInitializer<ConfigurableApplicationContext>) (context) -> context.getBeanFactory()
					.registerSingleton("dataSource", pool)),
				"one");
	}

	private static void send(ConfigurableApplicationContext instance, String... orders) {
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		Stream.of(orders).forEach((order) -> template.send("orders", "k", order));
	}

	private void awaitRows(String... ids) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(rows()).containsExactlyInAnyOrder(ids));
	}

	private List<String> rows() {
		return client().sql("select id from booked").query(String.class).list();
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

	record Orders(JdbcClient client) {

		@ShardConsumer("orders")
		void book(String id) {
			this.client.sql("insert into booked (id) values (?)").param(id).update();
		}

	}

}
