package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.Map;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A managed Redis may lack commands. What can be done without one is done; otherwise
 * health names it, and advises nobody to grant it.
 */
class RenamedCommandsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private EmbeddedRedis redis;

	private EmbeddedGroup instances;

	@AfterEach
	void close() {
		this.instances.close();
		this.redis.close();
	}

	@Test
	void withoutInfoRecordsAreConsumed() {
		ConfigurableApplicationContext one = startWithout("INFO");

		one.getBean(ShardTemplate.class).send("orders", "a", 7L);

		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> one.getBean(ShardStateReader.class).read(ShardId.of("orders", 0), Long.class),
					Map.of("sum", 7L)::equals);
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(one).getStatus()).isEqualTo(Status.UP);
			assertThat(health(one).getDetails().get("refused")).asString()
				.contains("check the version of Redis", "check whether Redis may evict keys",
						"trim what all groups have handled", "does not have the command INFO")
				.doesNotContain("grant");
		});
	}

	@ParameterizedTest
	@Tag("proof")
	@CsvSource({ "PUBSUB, PUBSUB NUMSUB, .lua", "TYPE, TYPE, .lua", "CLIENT, CLIENT ID, CLIENT ID" })
	void healthNamesTheCommand(String missing, String named, String where) {
		ConfigurableApplicationContext one = startWithout(missing);

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(one).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(one).getDetails().toString())
				.contains("this Redis does not have the command " + named + ";", where)
				.doesNotContain("grant");
		});
	}

	private ConfigurableApplicationContext startWithout(String command) {
		this.redis = EmbeddedRedis.start("--rename-command", command, "");
		this.instances = EmbeddedGroup.onRedis(this.redis, "shardkeeper.topics.orders.shards=1",
				"shardkeeper.redis.trust-empty=true", "shardkeeper.topics.orders.trim.max-length=10");
		return this.instances.start(Orders.class, "one");
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Orders {

		@ShardConsumer("orders")
		void add(long amount, ShardState state) {
			state.increment("sum", amount);
		}

	}

}
