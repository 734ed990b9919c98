package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Timers of Redis commands in an application, as Spring Boot registers them, show the
 * commands of the application only.
 */
@org.junit.jupiter.api.Tag("proof")
class RedisTimersTests {

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=2",
			"shardkeeper.consumer.commit.interval=50ms");

	@Test
	void timersOfRedisCommandsContainThoseOfTheApplicationOnly() throws InterruptedException {
		ConfigurableApplicationContext instance = this.instances.start(Consuming.class, "instance");
		Consuming consuming = instance.getBean(Consuming.class);
		instance.getBean(ShardTemplate.class).send("orders", "a", "one");
		assertThat(consuming.records.poll(30, TimeUnit.SECONDS)).isEqualTo("one");
		MeterRegistry meters = instance.getBean(MeterRegistry.class);
		await().atMost(Duration.ofSeconds(30))
			.until(() -> meters.get("shardkeeper.commits").tag("outcome", "committed").counter().count() > 0);

		instance.getBean(StringRedisTemplate.class).opsForValue().set("greeting", "hello");

		await().atMost(Duration.ofSeconds(30)).until(() -> commands(meters).contains("SET"));
		// HELLO and CLIENT are from opening the application's own connection.
		assertThat(commands(meters)).doesNotContain("EVALSHA", "EVAL", "XREAD", "XADD", "SUBSCRIBE", "HGET", "HMGET");
	}

	private static Set<String> commands(MeterRegistry meters) {
		return meters.getMeters()
			.stream()
			.map(Meter::getId)
			.filter((id) -> id.getName().startsWith("lettuce"))
			.flatMap((id) -> id.getTags().stream())
			.map(Tag::getValue)
			.collect(Collectors.toSet());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Consuming {

		private final BlockingQueue<String> records = new LinkedBlockingQueue<>();

		@Bean
		SimpleMeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

		@ShardConsumer("orders")
		void handle(String payload) {
			this.records.add(payload);
		}

	}

}
