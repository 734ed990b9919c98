package io.github.shardkeeper.endtoend;

import java.time.Duration;

import io.lettuce.core.KillArgs;
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
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Behind a proxy that keeps subscriptions to itself, the evidence of life is missing for
 * ever: that is found out once, said once, and costs nothing.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
@Promise("Automatic recovery")
class HiddenSubscriptionsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ProxyWithSubscriptions proxy = new ProxyWithSubscriptions(EmbeddedRedis.shared().port());

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=3",
			"spring.data.redis.port=" + this.proxy.port());

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	@Test
	void hiddenSubscriptionIsDetectedAndReportedOnce(CapturedOutput output) {
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one");
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(health(one).getDetails().get("subscription")).asString()
				.contains("does not see", "shardkeeper.session.timeout"));
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(
					() -> assertThat(one.getBean(GroupReporter.class).report().shards()).extracting(ShardReport::state)
						.hasSize(3)
						.containsOnly("OWNED"));

		assertThat(health(one).getStatus()).isEqualTo(Status.UP);
		assertThat(this.proxy.subscriptions()).isLessThan(10);
		assertThat(output.getOut().lines().filter((line) -> line.contains("does not see"))).hasSizeBetween(1, 2);

		this.proxy.hideNoMore();
		Awaitility.await()
			.atMost(PATIENCE.multipliedBy(2))
			.untilAsserted(() -> assertThat(health(one).getDetails()).doesNotContainKey("subscription"));
		assertThat(output.getOut()).containsOnlyOnce("sees the subscription of");
		one.close();
		this.proxy.close();
	}

	/** Heartbeats are answered all the while. */
	@Test
	void connectionClosedWhileSubscribingIsReportedOnceAndRetried(CapturedOutput output) {
		this.proxy.hideNoMore();
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one");
		this.proxy.closeInstead(true);
		EmbeddedRedis.shared().call((commands) -> commands.clientKill(KillArgs.Builder.typePubsub()));
		int before = this.proxy.subscriptions();
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.proxy.subscriptions()).isGreaterThan(before + 5));

		assertThat(health(one).getStatus()).isEqualTo(Status.UP);
		assertThat(health(one).getDetails().get("subscription")).asString().contains("Cannot subscribe", "closed");
		assertThat(output.getOut()).containsOnlyOnce("Cannot subscribe").doesNotContain("\tat ");

		this.proxy.closeInstead(false);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(health(one).getDetails()).doesNotContainKey("subscription"));
		assertThat(output.getOut()).containsOnlyOnce("sees the subscription of");
		one.close();
		this.proxy.close();
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

}
