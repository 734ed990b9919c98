package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.test.Disturbance;
import io.github.shardkeeper.test.Disturbance.Role;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What does not reply turns health down once it has lasted, and not before: neither a
 * connection that is cut nor a short outage.
 */
@Tag("proof")
class HealthOfOutagesTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=3",
			"shardkeeper.redis.trust-empty=true", "shardkeeper.session.lease=1s",
			"shardkeeper.session.heartbeat-interval=100ms", "management.health.shardkeeper.outage-tolerance=3s");

	private ConfigurableApplicationContext one;

	@Test
	void connectionsForRecordsTurnHealthDownOnlyIfTheyStayAway() {
		start();
		this.instances.network("one").disturb(Disturbance.refuse(Set.of(Role.DATA)));
		await().until(() -> health().getDetails().containsKey("retrying"));

		List<Status> seen = statusesUntil(Status.DOWN);

		assertThat(seen).containsExactly(Status.UP, Status.DOWN);
		assertThat(health().getDetails().get("problems")).asString().contains("Records cannot be read");
		this.instances.network("one").heal();
		await().until(() -> health().getStatus().equals(Status.UP));
	}

	@Test
	void connectionThatIsCutIsADetail() {
		start();
		this.instances.network("one").disturb(Disturbance.refuse(Set.of(Role.DATA)));

		await().until(() -> health().getDetails().containsKey("retrying"));
		assertThat(health().getStatus()).isEqualTo(Status.UP);
		this.instances.network("one").heal();

		await().until(() -> {
			assertThat(health().getStatus()).isEqualTo(Status.UP);
			return !health().getDetails().containsKey("retrying");
		});
	}

	@Test
	void outageOfTheStoreGoesFromUnknownToDown() {
		start();
		this.instances.network("one").disturb(Disturbance.refuse(Disturbance.ALL));

		assertThat(statusesUntil(Status.DOWN)).containsExactly(Status.UP, Status.UNKNOWN, Status.DOWN);
		this.instances.network("one").heal();

		await().until(() -> health().getStatus().equals(Status.UP));
	}

	@Test
	void subscriptionOnWhichNothingArrivesIsNoticed() {
		start();
		this.instances.network("one").disturb(Disturbance.hold(Set.of(Role.SUBSCRIPTION)));

		await().until(() -> health().getDetails().containsKey("subscription"));
		assertThat(health().getStatus()).isEqualTo(Status.UP);
		this.instances.network("one").heal();

		await().until(() -> !health().getDetails().containsKey("subscription"));
	}

	private void start() {
		this.one = this.instances.start(Application.class, "one");
		await().untilAsserted(() -> {
			assertThat(health().getStatus()).isEqualTo(Status.UP);
			assertThat(this.one.getBean(GroupReporter.class).report().shards()).extracting(ShardReport::state)
				.hasSize(3)
				.containsOnly("OWNED");
		});
	}

	/** Returns the statuses in their order, each once until it changes. */
	private List<Status> statusesUntil(Status last) {
		List<Status> seen = new ArrayList<>();
		await().pollInterval(Duration.ofMillis(10)).until(() -> {
			Status now = health().getStatus();
			if (seen.isEmpty() || !seen.get(seen.size() - 1).equals(now)) {
				seen.add(now);
			}
			return now.equals(last);
		});
		return seen;
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(PATIENCE);
	}

	private Health health() {
		return this.one.getBean(ShardkeeperHealthIndicator.class).health();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

}
