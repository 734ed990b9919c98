package io.github.shardkeeper.endtoend;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/** A Redis that is configured as a cache loses data one day: it is said before. */
@ExtendWith(OutputCaptureExtension.class)
class EvictingRedisTests {

	private EmbeddedRedis redis;

	private EmbeddedGroup instances;

	@AfterEach
	void close() {
		this.instances.close();
		this.redis.close();
	}

	@ParameterizedTest
	@CsvSource({ "allkeys-lru, coordinated, DOWN", "allkeys-lfu, broadcast, DOWN", "volatile-lru, coordinated, UP" })
	void policyIsInHealthAndInTheLogOnce(String policy, String mode, String status, CapturedOutput output) {
		this.redis = EmbeddedRedis.start("--maxmemory", "100mb", "--maxmemory-policy", policy);
		this.instances = EmbeddedGroup.onRedis(this.redis, "shardkeeper.topics.orders.shards=1",
				"shardkeeper.topics.orders.mode=" + mode, "shardkeeper.redis.trust-empty=true");
		ConfigurableApplicationContext one = this.instances.start(Orders.class, "one");

		Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
			Health health = one.getBean(ShardkeeperHealthIndicator.class).health();
			assertThat(health.getStatus().getCode()).isEqualTo(status);
			assertThat(health.getDetails().get("eviction")).asString()
				.contains("'maxmemory-policy' is " + policy, "noeviction");
		});
		assertThat(output.getOut().lines().filter((line) -> line.contains("'maxmemory-policy' is"))).hasSize(1)
			.allMatch((line) -> line.contains("WARN"));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Orders {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

}
