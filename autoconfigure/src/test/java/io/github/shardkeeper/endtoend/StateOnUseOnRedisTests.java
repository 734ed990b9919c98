package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.RedisKeys;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/** Whole applications whose state is read when it is used, on a real Redis. */
@Promise("State exactly once")
class StateOnUseOnRedisTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final ShardId SHARD = ShardId.of("orders", 0);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.topics.orders.consumer.state.read=on-use", "shardkeeper.consumer.commit.interval=50ms");

	private final Map<String, Long> sent = new TreeMap<>();

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	@ParameterizedTest
	@ValueSource(strings = { "shard", "key" })
	void everyRecordCountsOnceAlsoAfterLostCommitsAndMoves(String ordering) {
		String order = "shardkeeper.consumer.ordering=" + ordering;
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one", order);
		send(one, 100);
		awaitCounts(one);
		RedisKeys stored = new RedisKeys(this.instances.name() + ":{" + this.instances.name() + "/");
		Object before = stored.snapshot();
		send(one, 100);
		awaitCounts(one);

		stored.restore(before);
		send(one, 1);
		awaitCounts(one);
		assertThat(one.getBean(Counter.class).tokens).as("resumed under another token").hasSize(2);

		ConfigurableApplicationContext two = this.instances.start(Application.class, "two", order);
		one.close();
		send(two, 100);
		awaitCounts(two);
	}

	@Test
	void stateIsNotReadAtTheAcquisition() {
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one");
		send(one, 500);
		awaitCounts(one);
		one.close();
		ConfigurableApplicationContext two = this.instances.start(Application.class, "two");
		send(two, 1);
		awaitCounts(two);

		assertThat(two.getBean(Counter.class).keys).isEqualTo(500);
	}

	private void send(ConfigurableApplicationContext instance, int keys) {
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		for (int key = 0; key < keys; key++) {
			template.send("orders", "key-" + key, 1);
			this.sent.merge("key-" + key, 1L, Long::sum);
		}
	}

	private void awaitCounts(ConfigurableApplicationContext instance) {
		ShardStateReader states = instance.getBean(ShardStateReader.class);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(states.read(SHARD, Long.class)).isEqualTo(this.sent));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Counter counter() {
			return new Counter();
		}

	}

	/** Counts the records of each key. */
	static final class Counter {

		private final ConcurrentSkipListSet<Long> tokens = new ConcurrentSkipListSet<>();

		/** Number of keys that the first call has found. */
		private volatile int keys = -1;

		@ShardConsumer("orders")
		void count(ShardRecord<Integer> record, ShardState state, ShardContext context) {
			if (this.keys < 0) {
				this.keys = state.keys().size();
			}
			this.tokens.add(context.token().value());
			state.increment(record.key(), record.payload());
		}

	}

}
