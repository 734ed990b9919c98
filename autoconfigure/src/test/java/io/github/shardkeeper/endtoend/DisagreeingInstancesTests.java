package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.test.Disturbance;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.FaultyProxy;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** Instances of one group whose settings differ. */
@ExtendWith(OutputCaptureExtension.class)
class DisagreeingInstancesTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final String COORDINATED = "shardkeeper.topics.visits.mode=coordinated";

	private static final String BROADCAST = "shardkeeper.topics.visits.mode=broadcast";

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.visits.shards=4",
			"shardkeeper.redis.trust-empty=true", "management.health.shardkeeper.outage-tolerance=1h");

	private final AtomicInteger calls = new AtomicInteger();

	/** Each record would be handled once by the group, and once more by the other. */
	@ParameterizedTest
	@ValueSource(strings = { "with-context", "after-readiness" })
	void topicIsNotCoordinatedOnOneInstanceAndBroadcastOnAnother(String startup) {
		ConfigurableApplicationContext one = start("one", COORDINATED);

		assertRefused(() -> start("two", BROADCAST, "shardkeeper.consumer.startup=" + startup),
				"'shardkeeper.topics.visits.mode' is 'broadcast' here, but 'coordinated' on one");

		send(one, 60);
		await().until(() -> this.calls.get() >= 60);
		one.close();
		assertThat(this.calls).hasValue(60);
	}

	@Test
	@Tag("proof")
	void broadcastInstanceKeepsOutOneThatWouldCoordinate() {
		start("one", BROADCAST);

		assertRefused(() -> start("two", COORDINATED),
				"'shardkeeper.topics.visits.mode' is 'coordinated' here, but 'broadcast' on one");
	}

	@Test
	@Tag("proof")
	void settingsAreChangedWhenAllInstancesHaveStopped() {
		start("one", COORDINATED).close();

		ConfigurableApplicationContext two = start("two", BROADCAST);

		send(two, 10);
		await().until(() -> this.calls.get() == 10);
		two.stop();
		two.start();
		assertThat(health(two).getStatus()).isEqualTo(Status.UP);
	}

	@Test
	@Tag("proof")
	void otherSelectorOfShardsIsRefused() {
		start("one", COORDINATED);

		assertRefused(
				() -> this.instances.start(application().sources(Selector.class), "two", COORDINATED,
						"shardkeeper.topics.visits.selector=first"),
				"'shardkeeper.topics.visits.selector' is 'first' here, but 'the hash of the key' on one");
	}

	@Test
	void harmlessDifferenceIsSaidOnce(CapturedOutput output) {
		start("one", COORDINATED);
		ConfigurableApplicationContext two = start("two", COORDINATED, "shardkeeper.topics.visits.trim.max-age=1d");

		await().until(() -> two.getBean(ShardCoordinator.class).isConnected());
		assertThat(output.getOut())
			.containsOnlyOnce("'shardkeeper.topics.visits.trim.max-age' is 'PT24H' here, but 'not set' on one");
		assertThat(health(two).getStatus()).isEqualTo(Status.UP);
	}

	/** Redis could not be reached when they were to be compared. */
	@ParameterizedTest
	@Tag("proof")
	@ValueSource(strings = { COORDINATED, BROADCAST })
	void refusedInstanceConsumesNothingAndIsDown(String mode) {
		ConfigurableApplicationContext one = start("one", mode.equals(BROADCAST) ? COORDINATED : BROADCAST);
		try (FaultyProxy network = new FaultyProxy(EmbeddedRedis.shared().port(), "{" + this.instances.name() + "}")) {
			network.disturb(Disturbance.refuse(Disturbance.ALL));
			ConfigurableApplicationContext two = start("two", mode, "spring.data.redis.port=" + network.port());
			assertThat(health(two).getStatus()).isEqualTo(Status.UNKNOWN);
			assertThat(health(two).getDetails().get("settings")).asString().contains("Waits until the settings");
			network.heal();

			await().untilAsserted(() -> {
				assertThat(health(two).getStatus()).isEqualTo(Status.DOWN);
				assertThat(health(two).getDetails().get("settings")).asString()
					.contains("'shardkeeper.topics.visits.mode'", "on one", "stop all instances");
			});
			send(one, 60);
			await().during(Duration.ofSeconds(1)).until(() -> this.calls.get() == 60);
			one.close();

			await().until(() -> health(two).getStatus().equals(Status.UP));
			two.close();
		}
	}

	private void assertRefused(ThrowingCallable start, String difference) {
		assertThatException().isThrownBy(start)
			.extracting((failure) -> NestedExceptionUtils.getMostSpecificCause(failure))
			.asInstanceOf(InstanceOfAssertFactories.THROWABLE)
			.isInstanceOf(ShardkeeperConfigurationException.class)
			.hasMessageContaining(difference);
	}

	private SpringApplicationBuilder application() {
		return new SpringApplicationBuilder(Application.class).initializers(
				(ApplicationContextInitializer<ConfigurableApplicationContext>) (context) -> context.getBeanFactory()
					.registerSingleton("calls", this.calls));
	}

	private ConfigurableApplicationContext start(String instance, String... properties) {
		return this.instances.start(application(), instance, properties);
	}

	private static void send(ConfigurableApplicationContext sender, int records) {
		ShardTemplate template = sender.getBean(ShardTemplate.class);
		IntStream.range(0, records).forEach((i) -> template.send("visits", "client-" + i, "page"));
		template.flush();
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(PATIENCE);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		private final AtomicInteger calls;

		Application(AtomicInteger calls) {
			this.calls = calls;
		}

		@ShardConsumer("visits")
		void handle(String page) {
			this.calls.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Selector {

		@Bean
		ShardSelector first() {
			return (topic, record, shards) -> 0;
		}

	}

}
