package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardConsumers;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.Disturbance;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/** Topics that an application starts and stops while Redis is away. */
@Tag("proof")
class ShardConsumersOnRedisTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	@RegisterExtension
	private final EmbeddedGroup group = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=4",
			"shardkeeper.redis.trust-empty=true");

	@Test
	void changesTakePlaceOnceRedisIsBack() {
		ConfigurableApplicationContext one = this.group.start(Application.class, "one");
		eventually(() -> assertThat(shards(one)).hasSize(4));
		ConfigurableApplicationContext two = this.group.start(Application.class, "two");
		eventually(() -> assertThat(shards(two)).hasSize(2));

		cutOff("two", two);
		CompletableFuture<Void> stop = consumers(two).stop("orders");
		this.group.network("two").heal();
		assertThat(stop).succeedsWithin(PATIENCE);
		eventually(() -> assertThat(shards(one)).hasSize(4));
		send(one, 20);
		eventually(() -> assertThat(handler(one).calls).hasSize(20));

		cutOff("two", two);
		consumers(two).start("orders");
		assertThat(shards(two)).isEmpty();
		this.group.network("two").heal();
		eventually(() -> assertThat(shards(two)).hasSize(2));
		send(one, 20);
		eventually(() -> assertThat(handler(one).calls.size() + handler(two).calls.size()).isEqualTo(40));
		assertThat(handler(two).calls).isNotEmpty();
	}

	/** Cuts an instance off until it knows. */
	private void cutOff(String instance, ConfigurableApplicationContext context) {
		this.group.network(instance).disturb(Disturbance.refuse(Disturbance.ALL));
		eventually(() -> assertThat(context.getBean(ShardCoordinator.class).storeProblem()).isPresent());
	}

	private static ShardConsumers consumers(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardConsumers.class);
	}

	private static Set<ShardId> shards(ConfigurableApplicationContext instance) {
		return consumers(instance).registrations().get("orders").shards();
	}

	private static Handler handler(ConfigurableApplicationContext instance) {
		return instance.getBean(Handler.class);
	}

	private static void send(ConfigurableApplicationContext sender, int count) {
		for (int i = 0; i < count; i++) {
			sender.getBean(ShardTemplate.class).send("orders", "key" + i, i);
		}
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(assertion);
	}

	static class Handler {

		private final List<Integer> calls = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void handle(Integer order) {
			this.calls.add(order);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

}
