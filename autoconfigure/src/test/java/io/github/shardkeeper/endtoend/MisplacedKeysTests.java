package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

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

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Reports of an application when another client has written a value of another type under
 * one of its keys: the key's name and the fix, once. Everything else continues.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
class MisplacedKeysTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=3",
			"shardkeeper.topics.extra.shards=2", "shardkeeper.consumer.commit.interval=100ms");

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	@Test
	void unreadableShardCountIsReportedAndOtherTopicsAreConsumed(CapturedOutput output) {
		String key = this.instances.name() + ":{extra}:topic";
		this.redis.opsForValue().set(key, "mine");
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one");
		awaitOwned(one, 3);

		Health health = health(one);
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		assertThat(health.getDetails().get("topics")).asString().contains("'extra'", key, "RENAME", "DEL");
		assertThat(output.getOut().lines().filter((line) -> line.contains("WARN") && line.contains(key))).hasSize(1);
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> one.getBean(ShardPositions.class).seek("extra", StartPosition.EARLIEST))
			.withMessageContaining(key);
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> one.getBean(DeadLetters.class).count("extra"))
			.withMessageContaining(key);

		this.redis.delete(key);
		awaitOwned(one, 5);
		assertThat(health(one).getDetails()).doesNotContainKey("topics");
	}

	@Test
	void shardThatCannotBeCommittedIsNamedAndOthersAreShown(CapturedOutput output) {
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one",
				"spring.lifecycle.timeout-per-shutdown-phase=2s");
		awaitOwned(one, 5);
		ShardTemplate template = one.getBean(ShardTemplate.class);
		ShardId shard = template.shardFor("orders", "key");
		String key = this.instances.name() + ":{" + this.instances.name() + "/" + shard + "}:checkpoint";
		// An owner who has not acquired it yet has nothing to commit at the stop.
		template.send("orders", "key", "first");
		Awaitility.await().atMost(PATIENCE).until(() -> !one.getBean(Handler.class).handled.isEmpty());
		this.redis.delete(key);
		this.redis.opsForValue().set(key, "mine");
		template.send("orders", "key", "second");

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			GroupReport report = report(one);
			assertThat(report.error()).isNull();
			assertThat(report.members()).hasSize(1);
			assertThat(report.shards()).hasSize(5)
				.filteredOn((each) -> each.problem() != null)
				.singleElement()
				.satisfies((each) -> assertThat(each.problem()).contains(key, "RENAME"));
			assertThat(output).contains(shard + " is held up");
		});
		one.close();

		assertThat(output.getOut().lines().filter((line) -> line.contains(" is held up") && line.contains(key)))
			.as("said once, however often it is tried")
			.hasSize(1);
		assertThat(output.getOut().lines().filter((line) -> line.contains("Could not release all shards")))
			.singleElement()
			.asString()
			.contains(shard + " (", key);
	}

	@Test
	void refusedPlansAreReportedOnceWhileHeartbeatsAreAnswered(CapturedOutput output) {
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one");
		awaitOwned(one, 5);
		String key = this.instances.name() + ":{" + this.instances.name() + "}:shards";
		this.redis.delete(key);
		this.redis.opsForValue().set(key, "mine");
		// There is something to plan.
		this.instances.start(Application.class, "two");

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(one).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(one).getDetails().get("reason")).asString().contains(key, "RENAME", "DEL");
		});
		assertThat(report(one).error()).contains(key, "RENAME", "DEL");
		assertThat(output.getOut().lines().filter((line) -> line.contains("cannot be used; retrying")))
			.allMatch((line) -> line.contains(key))
			.hasSizeBetween(1, 2);
		assertThat(output).doesNotContain("The store replies again");
		// Without its records the group begins again.
		this.redis.delete(key);
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(output).contains("The store replies again"));
		awaitOwned(one, 5);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(health(one).getStatus()).isEqualTo(Status.UP));
	}

	private static void awaitOwned(ConfigurableApplicationContext instance, int shards) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(report(instance).shards()).extracting(ShardReport::state)
				.hasSize(shards)
				.containsOnly("OWNED"));
	}

	private static GroupReport report(ConfigurableApplicationContext instance) {
		return instance.getBean(GroupReporter.class).report();
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		final List<String> handled = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void handle(ShardRecord<String> order) {
			this.handled.add(order.payload());
		}

		@ShardConsumer("extra")
		void handleExtra(ShardRecord<String> extra) {
			this.handled.add(extra.payload());
		}

	}

}
