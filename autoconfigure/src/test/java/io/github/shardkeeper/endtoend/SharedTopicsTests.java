package io.github.shardkeeper.endtoend;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.coordination.ProblemReport;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/** Two applications with one topic name in one Redis, each in a group of its own. */
@ExtendWith(OutputCaptureExtension.class)
class SharedTopicsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.visits.shards=4",
			"shardkeeper.redis.trust-empty=true");

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@Test
	void otherNumberOfShardsIsSaidWithBothGroups(CapturedOutput output) {
		start("one", "shardkeeper.group=visits-app");
		ConfigurableApplicationContext two = start("two", "shardkeeper.group=shop",
				"shardkeeper.topics.visits.shards=8");

		awaitProblem(two, "'visits'", "'shop' with 8 shards", "'visits-app' with 4 shards", "'shardkeeper.key-prefix'",
				"another topic name");
		assertThat(output.getOut()
			.lines()
			.filter((line) -> line.contains("WARN") && line.contains("is used by this group 'shop'"))).hasSize(1);
	}

	@Test
	@Tag("proof")
	void otherFormatIsSaidWithBothGroups() {
		start("one", "shardkeeper.group=visits-app");
		ConfigurableApplicationContext two = this.instances.start(
				new SpringApplicationBuilder(Application.class).sources(Text.class), "two", "shardkeeper.group=shop");

		awaitProblem(two, "payloads as " + TextConverter.class.getName(),
				"'visits-app' with 4 shards and payloads as JSON");
	}

	@Test
	@Tag("proof")
	void groupsThatShareATopicAreNoProblem() {
		start("one", "shardkeeper.group=visits-app");
		ConfigurableApplicationContext two = start("two", "shardkeeper.group=shop");

		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.redis.opsForHash().hasKey(this.instances.name() + ":{visits}:topic", "user:shop"));
		assertThat(health(two).getDetails()).doesNotContainKey("applications");
	}

	private ConfigurableApplicationContext start(String instance, String... properties) {
		ConfigurableApplicationContext started = this.instances.start(Application.class, instance, properties);
		String group = started.getEnvironment().getProperty("shardkeeper.group");
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.redis.opsForHash().hasKey(this.instances.name() + ":{visits}:topic", "user:" + group));
		return started;
	}

	private static void awaitProblem(ConfigurableApplicationContext instance, String... texts) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			Health health = health(instance);
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails().get("applications")).asString().contains(texts);
		});
		assertThat(instance.getBean(GroupReporter.class).report().problems()).extracting(ProblemReport::kind)
			.contains("applications");
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("visits")
		void handle(String page) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Text {

		@Bean
		TextConverter converter() {
			return new TextConverter();
		}

	}

	static final class TextConverter implements PayloadConverter {

		@Override
		public byte[] write(Object payload) {
			return payload.toString().getBytes(StandardCharsets.UTF_8);
		}

		@Override
		public Object read(byte[] payload, Type type) {
			return new String(payload, StandardCharsets.UTF_8);
		}

	}

}
