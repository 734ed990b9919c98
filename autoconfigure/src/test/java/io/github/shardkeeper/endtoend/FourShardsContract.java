package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Four shards move over one, two and three instances and back while records are sent, and
 * each record changes the state once, in the order of its key. The same on every source.
 */
abstract class FourShardsContract {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int KEYS = 20;

	private final EmbeddedGroup group = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=4",
			"shardkeeper.consumer.commit.interval=100ms", "shardkeeper.session.lease=3s",
			"shardkeeper.session.heartbeat-interval=200ms");

	/** Returns the properties that select the source, with an empty topic of 4 shards. */
	abstract String[] source(EmbeddedGroup group) throws Exception;

	private String[] properties = {};

	@BeforeEach
	void prepare() throws Exception {
		KnownGroup.begin(this.group.name());
		this.properties = source(this.group);
	}

	@AfterEach
	void close() {
		this.group.close();
	}

	@Test
	void recordsAreCountedExactlyWhileShardsMove() throws Exception {
		ConfigurableApplicationContext sender = this.group.start(Sender.class, "sender", this.properties);
		ConfigurableApplicationContext one = start("one");
		awaitLoads(one, 4);
		AtomicBoolean sending = new AtomicBoolean(true);
		AtomicReference<Throwable> failure = new AtomicReference<>();
		int[] sent = new int[1];
		Thread feeder = new Thread(() -> {
			try {
				while (sending.get()) {
					send(sender, ++sent[0]);
				}
			}
			catch (Throwable ex) {
				failure.set(ex);
			}
		});
		feeder.start();
		try {
			awaitCounted(one);
			ConfigurableApplicationContext two = start("two");
			awaitLoads(one, 2, 2);
			ConfigurableApplicationContext three = start("three");
			awaitLoads(one, 2, 1, 1);
			three.close();
			awaitLoads(one, 2, 2);
			this.group.kill("two");
			awaitLoads(one, 4);
			two.close();
		}
		finally {
			sending.set(false);
			feeder.join();
		}
		assertThat(failure).hasValue(null);
		assertThat(sent[0]).isGreaterThan(10);

		await().atMost(PATIENCE).untilAsserted(() -> {
			Map<String, Integer> counted = counted(one);
			assertThat(counted).hasSize(KEYS);
			assertThat(counted.values()).containsOnly(sent[0]);
		});
	}

	private ConfigurableApplicationContext start(String name) {
		return this.group.start(Counter.class, name, this.properties);
	}

	private static void send(ConfigurableApplicationContext sender, int number) {
		List<Outgoing> records = IntStream.range(0, KEYS)
			.mapToObj((key) -> new Outgoing("key-" + key, new Order("key-" + key, number)))
			.toList();
		sender.getBean(ShardTemplate.class).sendAll("orders", records);
	}

	/** The loads in descending order. */
	private static void awaitLoads(ConfigurableApplicationContext instance, long... loads) {
		await().atMost(PATIENCE)
			.untilAsserted(() -> assertThat(instance.getBean(GroupReporter.class)
				.report()
				.shards()
				.stream()
				.filter((shard) -> shard.state().equals("OWNED"))
				.collect(Collectors.groupingBy(ShardReport::owner, Collectors.counting()))
				.values()
				.stream()
				.mapToLong((load) -> -load)
				.sorted()
				.map((load) -> -load)).containsExactly(Arrays.stream(loads).boxed().toArray(Long[]::new)));
	}

	private static void awaitCounted(ConfigurableApplicationContext instance) {
		await().atMost(PATIENCE).until(() -> counted(instance).size() == KEYS);
	}

	private static Map<String, Integer> counted(ConfigurableApplicationContext instance) {
		Map<String, Integer> counted = new TreeMap<>();
		ShardStateReader reader = instance.getBean(ShardStateReader.class);
		for (int shard = 0; shard < 4; shard++) {
			counted.putAll(reader.read(ShardId.of("orders", shard), Integer.class));
		}
		return counted;
	}

	record Order(String key, int number) {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Sender {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Counter {

		/** Numbers of a key count up by one, so a repeated or lost record shows. */
		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		@ShardConsumer("orders")
		void count(Order order, ShardState state) {
			int last = state.get(order.key(), Integer.class).orElse(0);
			assertThat(order.number()).as("number after %d of %s", last, order.key()).isEqualTo(last + 1);
			state.put(order.key(), order.number());
		}

	}

}
