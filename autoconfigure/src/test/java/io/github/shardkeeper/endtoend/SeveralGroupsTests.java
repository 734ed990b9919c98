package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardConsumers;
import io.github.shardkeeper.ShardGroups;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardsWebExtension;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/** Two groups of an application on Redis, which read the same topic. */
class SeveralGroupsTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	@RegisterExtension
	private final EmbeddedGroup group = EmbeddedGroup.onRedis("shardkeeper.topics.visits.shards=2",
			"shardkeeper.groups.billing.topics.visits.shards=2", "shardkeeper.redis.trust-empty=true",
			"management.endpoints.web.exposure.include=shards");

	@Test
	void groupsOfOneTopicHaveTheirOwnOffsetsStateAndOwners() {
		ConfigurableApplicationContext one = this.group.start(Application.class, "one");
		send(one, 10);
		eventually(() -> assertThat(counted(one, null)).isEqualTo(10));
		eventually(() -> assertThat(counted(one, "billing")).isEqualTo(1_000));
		assertThat(one.getBeansOfType(RedisConnector.class)).hasSize(1);

		act(one, "pause");
		ShardCoordinator billing = one.getBean(ShardGroups.class).get("billing", ShardCoordinator.class);
		eventually(() -> assertThat(billing.directives().pauseOf(ShardId.of("visits", 0))).isNotNull());
		send(one, 10);
		eventually(() -> assertThat(counted(one, null)).isEqualTo(20));
		assertThat(counted(one, "billing")).isEqualTo(1_000);

		ConfigurableApplicationContext two = this.group.start(Application.class, "two");
		eventually(() -> assertThat(shards(two.getBean(ShardConsumers.class))).isEqualTo(1));
		eventually(() -> assertThat(shards(two.getBean(ShardGroups.class).get("billing", ShardConsumers.class)))
			.isEqualTo(1));
		assertThat(counted(two, "billing")).isEqualTo(1_000);

		act(two, "resume");
		eventually(() -> assertThat(counted(one, "billing")).isEqualTo(2_000));
		assertThat(counted(one, null)).isEqualTo(20);
		one.close();
		eventually(() -> assertThat(shards(two.getBean(ShardGroups.class).get("billing", ShardConsumers.class)))
			.isEqualTo(2));
	}

	private static void act(ConfigurableApplicationContext instance, String action) {
		Map<String, @Nullable String> fields = new TreeMap<>(Map.of("action", action, "by", "ann", "group", "billing"));
		WebEndpointResponse<Object> response = instance.getBean(ShardsWebExtension.class)
			.actOnTopic(SecurityContext.NONE, "visits", fields);
		assertThat(response.getStatus()).as("%s", response.getBody()).isEqualTo(200);
	}

	private static int shards(ShardConsumers consumers) {
		return consumers.registrations().get("visits").shards().size();
	}

	private static long counted(ConfigurableApplicationContext instance, @Nullable String group) {
		ShardStateReader reader = (group != null)
				? instance.getBean(ShardGroups.class).get(group, ShardStateReader.class)
				: instance.getBean(ShardStateReader.class);
		long sum = 0;
		for (int shard = 0; shard < 2; shard++) {
			sum += reader.read(ShardId.of("visits", shard), Long.class).getOrDefault("visits", 0L);
		}
		return sum;
	}

	private static void send(ConfigurableApplicationContext sender, int count) {
		for (int i = 0; i < count; i++) {
			sender.getBean(ShardTemplate.class).send("visits", "client" + i, "page");
		}
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(assertion);
	}

	static class Visits {

		@ShardConsumer("visits")
		void count(String page, ShardState state) {
			state.increment("visits", 1);
		}

		@ShardConsumer(value = "visits", group = "billing")
		void bill(String page, ShardState state) {
			state.increment("visits", 100);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Visits visits() {
			return new Visits();
		}

	}

}
