package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.lettuce.core.Range;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;

import static org.assertj.core.api.Assertions.assertThat;

/** Records that are parts of calls, on a Cluster and on a Redis that refuses them. */
@Timeout(180)
@Tag("proof")
class SentRecordsOnRedisTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int RECORDS = 200;

	private static final List<String> EXPECTED = IntStream.range(0, RECORDS).mapToObj(Integer::toString).toList();

	private final EmbeddedRedis redis = EmbeddedRedis.start("--maxmemory-policy", "noeviction");

	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=4",
			"shardkeeper.topics.invoices.shards=3", "shardkeeper.topics.paid.shards=1",
			"shardkeeper.redis.trust-empty=true");

	@AfterEach
	void close() {
		this.instances.close();
		this.redis.close();
	}

	/** Shards and targets lie in slots of different nodes. */
	@Test
	void worksOnACluster() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.start(3)) {
			String nodes = "spring.data.redis.cluster.nodes=" + cluster.addresses();
			ConfigurableApplicationContext one = this.instances.start(Shop.class, "one", nodes);
			send(one);
			this.instances.start(Shop.class, "two", nodes);
			one.close();

			EmbeddedRedis master = cluster.masterOf("{paid#0}").orElseThrow();
			Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(paid(master)).hasSize(RECORDS));
			assertThat(paid(master)).isEqualTo(EXPECTED);
			this.instances.close();
		}
	}

	@Test
	void keyOfAnotherTypeIsAProblemUntilItIsGone() {
		String port = "spring.data.redis.port=" + this.redis.port();
		this.redis.call((commands) -> commands.set(stream(), "mine"));
		ConfigurableApplicationContext one = this.instances.start(Shop.class, "one", port);
		send(one);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(problems(one).values()).anySatisfy((problem) -> assertThat(problem)
				.contains("cannot be appended to paid/0", stream() + " holds a string, not the stream")));

		this.redis.call((commands) -> commands.del(stream()));

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(paid(this.redis)).hasSize(RECORDS));
		assertThat(paid(this.redis)).isEqualTo(EXPECTED);
		Awaitility.await().atMost(PATIENCE).until(() -> problems(one).isEmpty());
	}

	/** What was handled before is committed, and is appended once there is memory. */
	@Test
	void fullRedisDelaysRecords() {
		String port = "spring.data.redis.port=" + this.redis.port();
		ConfigurableApplicationContext one = this.instances.start(Shop.class, "one", port);
		this.redis.call((commands) -> commands.set(stream(), "mine"));
		send(one);
		Awaitility.await().atMost(PATIENCE).until(() -> !problems(one).isEmpty());
		this.redis.call((commands) -> commands.configSet("maxmemory", "1"));
		this.redis.call((commands) -> commands.del(stream()));
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(problems(one).values())
				.anySatisfy((problem) -> assertThat(problem).contains("cannot be appended to paid/0", "maxmemory")));

		this.redis.call((commands) -> commands.configSet("maxmemory", "0"));

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(paid(this.redis)).hasSize(RECORDS));
		assertThat(paid(this.redis)).isEqualTo(EXPECTED);
	}

	private static void send(ConfigurableApplicationContext from) {
		ShardTemplate template = from.getBean(ShardTemplate.class);
		EXPECTED.forEach((order) -> template.send("orders", "ann", order));
	}

	private static Map<ShardId, String> problems(ConfigurableApplicationContext context) {
		return context.getBean(ShardConsumerRunner.class).problems();
	}

	private String stream() {
		return this.instances.name() + ":{paid#0}:stream:0";
	}

	private List<String> paid(EmbeddedRedis redis) {
		List<String> paid = new ArrayList<>();
		String stream = stream();
		redis.call((commands) -> commands.xrange(stream, Range.unbounded()))
			.forEach((entry) -> paid.add(entry.getBody().get("v")));
		return paid;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Shop {

		@Bean
		Orders orders() {
			return new Orders();
		}

		@Bean
		Invoices invoices() {
			return new Invoices();
		}

	}

	static final class Orders {

		@ShardConsumer("orders")
		void order(ShardRecord<String> order, ShardOutput output) {
			output.send("invoices", order.key(), order.payload());
		}

	}

	static final class Invoices {

		@ShardConsumer("invoices")
		void invoice(ShardRecord<String> invoice, ShardOutput output) {
			output.send("paid", invoice.key(), invoice.payload());
		}

	}

}
