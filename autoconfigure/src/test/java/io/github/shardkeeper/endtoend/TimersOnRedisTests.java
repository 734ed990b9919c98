package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/** Timers that an instance has set fire on another one, after the first was killed. */
@Timeout(120)
@Promise("Timers fire once")
class TimersOnRedisTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.redis.trust-empty=true", "shardkeeper.consumer.commit.interval=100ms",
			"shardkeeper.consumer.retry.max-attempts=1000", "shardkeeper.session.profile=fast-failover");

	@Test
	void timerOfAKilledInstanceFiresOnTheNextOneAndACancelledOneDoesNot() {
		ConfigurableApplicationContext one = this.instances.start(Shop.class, "one");
		one.getBean(Reminders.class).failing = true;
		one.getBean(ShardTemplate.class)
			.sendAll("orders",
					List.of(new Outgoing("ann", "new"), new Outgoing("bob", "new"), new Outgoing("bob", "paid")));
		ShardStateReader states = one.getBean(ShardStateReader.class);
		ShardId shard = ShardId.of("orders", 0);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> states.read(shard, Long.class).getOrDefault("handled", 0L) == 3);

		this.instances.kill("one");
		ConfigurableApplicationContext two = this.instances.start(Shop.class, "two");
		Reminders reminders = two.getBean(Reminders.class);
		Awaitility.await().atMost(PATIENCE).until(() -> !reminders.fired.isEmpty());
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(two.getBean(ShardStateReader.class).read(shard, Long.class))
				.isEqualTo(Map.of("handled", 3L, "reminders of ann", 1L)));
		assertThat(reminders.fired).containsExactly("ann");
		assertThat(reminders.early).isFalse();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Shop {

		@Bean
		Reminders reminders() {
			return new Reminders();
		}

	}

	static final class Reminders {

		private final List<String> fired = new CopyOnWriteArrayList<>();

		/** Whether no call for a timer succeeds. */
		private volatile boolean failing;

		private volatile boolean early;

		@ShardConsumer("orders")
		void order(ShardRecord<String> order, ShardState state, ShardTimers timers) {
			state.increment("handled", 1);
			if (order.payload().equals("paid")) {
				timers.cancel(order.key(), "remind");
			}
			else {
				timers.set(order.key(), "remind", Instant.now().plusSeconds(5));
			}
		}

		@OnShardTimer
		void due(ShardTimer timer, ShardState state) {
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
			this.early |= Instant.now().isBefore(timer.dueAt());
			state.increment("reminders of " + timer.key(), 1);
			this.fired.add(timer.key());
		}

	}

}
