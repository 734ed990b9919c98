package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A problem of a group shows in the health of every instance, leader or not, and its text
 * stays the same while the problem does.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
@Promise("Automatic recovery")
class GroupHealthTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=4",
			"shardkeeper.topics.extra.shards=2", "shardkeeper.session.lease=1s",
			"shardkeeper.session.heartbeat-interval=100ms", "shardkeeper.session.timeout=10m");

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	/**
	 * An operator sets another owner of a shard: it is consumed again when its owner has
	 * gone, without any action.
	 */
	@Test
	void shardOwnedByNonMemberIsConsumedAgain() {
		ConfigurableApplicationContext one = this.instances.start(Orders.class, "one");
		awaitOwned(one, 4);
		ConfigurableApplicationContext two = this.instances.start(Orders.class, "two");
		awaitHealthy(one, two);
		this.redis.opsForHash().entries(key("shards")).forEach((shard, record) -> {
			if (String.valueOf(record).contains("|two~")) {
				this.redis.opsForHash().put(key("shards"), shard, "OWNED|1|dead~1||1|0");
			}
		});

		two.close();

		awaitHealthy(one);
		awaitOwned(one, 4);
	}

	@Test
	void unattendedShardShowsOnEveryInstanceWithSameText() {
		ConfigurableApplicationContext one = this.instances.start(Extra.class, "one");
		awaitOwned(one, 2);
		ConfigurableApplicationContext two = this.instances.start(Orders.class, "two");
		awaitOwned(two, 6);
		ConfigurableApplicationContext three = this.instances.start(Orders.class, "three");
		awaitHealthy(one, two, three);

		one.close();

		awaitDown(two, "unattended", "extra/0, extra/1", "no instance of the group consumes its topic");
		awaitDown(three, "unattended", "extra/0, extra/1", "no instance of the group consumes its topic");
		Object first = health(two).getDetails().get("unattended");
		long second = System.nanoTime();
		Awaitility.await().until(() -> System.nanoTime() - second > 1_500_000_000L);
		assertThat(health(two).getDetails().get("unattended")).isEqualTo(first);
		assertThat(health(three).getDetails().get("unattended")).isEqualTo(first);
		// A member consumes it again.
		this.instances.start(Extra.class, "four");
		awaitHealthy(two, three);
	}

	/** Like a start from an IDE: it joins, and members with a version get all shards. */
	@Test
	void instanceWithoutVersionThatGetsNoShardsIsReported(CapturedOutput output) {
		ConfigurableApplicationContext one = this.instances.start(Orders.class, "one", "shardkeeper.version=1.4");
		awaitOwned(one, 4);
		ConfigurableApplicationContext plain = this.instances.start(Orders.class, "plain",
				"spring.application.version=");

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(plain).getStatus()).isEqualTo(Status.UP);
			assertThat(health(plain).getDetails().get("versions")).asString()
				.contains("shardkeeper.version", "gets no shards", "plain~");
			assertThat(
					output.getOut().lines().filter((line) -> line.contains("WARN") && line.contains("gets no shards")))
				.as("at the instance and at the leader")
				.hasSize(2);
			assertThat(health(one).getDetails().get("versions")).asString().contains("plain~");
		});
	}

	private String key(String end) {
		return this.instances.name() + ":{" + this.instances.name() + "}:" + end;
	}

	private static void awaitDown(ConfigurableApplicationContext instance, String detail, String... texts) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			Health health = health(instance);
			assertThat(health.getDetails()).containsKey(detail);
			assertThat(health.getDetails().get(detail)).asString().contains(texts);
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		});
	}

	private static void awaitHealthy(ConfigurableApplicationContext... instances) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(List.of(instances)).allSatisfy((instance) -> {
				assertThat(health(instance).getStatus()).isEqualTo(Status.UP);
				assertThat(instance.getBean(GroupReporter.class).report().shards()).extracting(ShardReport::state)
					.containsOnly("OWNED");
			}));
	}

	private static void awaitOwned(ConfigurableApplicationContext instance, int shards) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			GroupReport report = instance.getBean(GroupReporter.class).report();
			assertThat(report.shards()).extracting(ShardReport::state).hasSize(shards).containsOnly("OWNED");
		});
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Orders {

		@Bean
		OrdersHandler ordersHandler() {
			return new OrdersHandler();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Extra {

		@Bean
		ExtraHandler extraHandler() {
			return new ExtraHandler();
		}

	}

	static class OrdersHandler {

		@ShardConsumer("orders")
		void handle(ShardRecord<String> order) {
		}

	}

	static class ExtraHandler {

		@ShardConsumer("extra")
		void handle(ShardRecord<String> extra) {
		}

	}

}
