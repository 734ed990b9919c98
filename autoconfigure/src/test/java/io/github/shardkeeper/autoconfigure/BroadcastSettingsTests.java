package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.checkpoint.DeadLetterStore.Retention;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.memory.MemoryStreamSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Properties of broadcast topics, on the memory store. */
class BroadcastSettingsTests {

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class))
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.prices.shards=2",
				"shardkeeper.topics.prices.mode=broadcast", "management.endpoints.web.exposure.include=shards");

	@ParameterizedTest
	@ValueSource(strings = { "strategy=sticky", "weights.0=3", "zones.0=eu-1", "pinned.1=one" })
	void assignmentPropertiesAreRefused(String setting) {
		String name = setting.substring(0, setting.indexOf('=')).replaceAll("\\..*", "");
		this.memory.withPropertyValues("shardkeeper.topics.prices." + setting)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'shardkeeper.topics.prices.%s' is set, but 'shardkeeper.topics.prices.mode'",
						name)
				.hasMessageContaining("Remove '%s', or set the mode to 'coordinated'", name));
	}

	@Test
	void resumingNeedsAnInstanceId() {
		this.memory.withPropertyValues("shardkeeper.topics.prices.resume=true")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining(
						"'shardkeeper.topics.prices.resume' is true, but 'shardkeeper.instance-id' is not set")
				.hasMessageContaining("each start begins at 'shardkeeper.topics.prices.start'"));
		this.memory.withPropertyValues("shardkeeper.topics.prices.resume=true", "shardkeeper.instance-id=one")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void resumingIsOnlyForBroadcastTopics() {
		this.memory
			.withPropertyValues("shardkeeper.topics.prices.resume=true", "shardkeeper.instance-id=one",
					"shardkeeper.topics.prices.mode=coordinated")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining(
						"'shardkeeper.topics.prices.resume' is true, but the topic's mode is 'coordinated'"));
	}

	@Test
	void deadLettersInMemoryAreLimited() {
		this.memory
			.withPropertyValues("shardkeeper.topics.prices.consumer.dead-letters.max-age=1h",
					"shardkeeper.topics.kept.mode=broadcast", "shardkeeper.topics.kept.resume=true",
					"shardkeeper.topics.few.mode=broadcast", "shardkeeper.topics.few.consumer.dead-letters.max-count=5",
					"shardkeeper.topics.orders.shards=1", "shardkeeper.instance-id=one")
			.run((context) -> assertThat(context.getBean(ShardkeeperSettings.class).deadLetterRetentions())
				.containsOnly(Map.entry("prices", new Retention(Duration.ofHours(1), 1000L)),
						Map.entry("few", new Retention(null, 5L))));
	}

	@Test
	void unknownModeIsRefused() {
		this.memory.withPropertyValues("shardkeeper.topics.prices.mode=both")
			.run((context) -> assertThat(context).hasFailed());
	}

	@Test
	void instanceWithBroadcastTopicsOnlyDoesNotJoin() {
		this.memory.withUserConfiguration(PricesConfiguration.class).run((context) -> {
			Prices prices = context.getBean(Prices.class);
			Awaitility.await().until(() -> prices.assigned.size() == 2);
			assertThat(context.getBean(ShardCoordinator.class).member()).isEmpty();
			assertThat(context.getBean(ShardConsumerRunner.class).isCoordinated()).isFalse();
			Health health = context.getBean(ShardkeeperHealthIndicator.class).health();
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails().get("member").toString()).contains("broadcast");
		});
	}

	@Test
	void newShardsAndChildrenOfCompletedShardsAreConsumed() {
		this.memory.withUserConfiguration(PricesConfiguration.class).run((context) -> {
			Prices prices = context.getBean(Prices.class);
			MemoryStreamSource source = context.getBean(MemoryStreamSource.class);
			Awaitility.await().until(() -> prices.assigned.size() == 2);
			List<ShardId> children = source.split(ShardId.of("prices", 0));
			Awaitility.await().until(() -> prices.assigned.size() == 4);
			assertThat(prices.assigned.subList(2, 4)).containsExactlyInAnyOrderElementsOf(children);
			source.raise("prices", 6);
			Awaitility.await().until(() -> prices.assigned.size() == 6);
			assertThat(context.getBean(ShardConsumerRunner.class).problems()).isEmpty();
		});
	}

	@Test
	void childWaitsForItsParent() {
		this.memory.withUserConfiguration(PricesConfiguration.class)
			.withPropertyValues("shardkeeper.consumer.retry.max-attempts=100000",
					"shardkeeper.consumer.retry.max-interval=200ms")
			.run((context) -> {
				Prices prices = context.getBean(Prices.class);
				Awaitility.await().until(() -> prices.assigned.size() == 2);
				prices.failing = true;
				List<String> sent = send(context, 10);
				MemoryStreamSource source = context.getBean(MemoryStreamSource.class);
				source.split(ShardId.of("prices", 0));
				source.split(ShardId.of("prices", 1));
				source.raise("prices", 7);
				Awaitility.await().until(() -> prices.assigned.contains(ShardId.of("prices", 6)));
				assertThat(prices.assigned).as("the parents, and the one without").hasSize(3);
				prices.failing = false;
				Awaitility.await().until(() -> prices.assigned.size() == 7);
				assertThat(prices.handled).containsExactlyInAnyOrderElementsOf(sent);
			});
	}

	private static List<String> send(ApplicationContext context, int count) {
		List<String> sent = new ArrayList<>();
		IntStream.range(0, count).forEach((number) -> {
			context.getBean(ShardTemplate.class).send("prices", "key-" + number, "price-" + number);
			sent.add("price-" + number);
		});
		return sent;
	}

	@Configuration(proxyBeanMethods = false)
	static class PricesConfiguration {

		@Bean
		Prices prices() {
			return new Prices();
		}

	}

	static class Prices {

		final List<String> handled = new CopyOnWriteArrayList<>();

		final List<ShardId> assigned = new CopyOnWriteArrayList<>();

		volatile boolean failing;

		@ShardConsumer("prices")
		void handle(String price) {
			if (this.failing) {
				throw new IllegalStateException("not now");
			}
			this.handled.add(price);
		}

		@OnShardAssigned
		void assigned(ShardContext shard) {
			this.assigned.add(shard.shard());
		}

	}

}
