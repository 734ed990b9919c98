package io.github.shardkeeper.autoconfigure;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextRefreshedEvent;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.actuate.ShardsEndpoint;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

class StartWithoutRedisTests {

	private final ApplicationContextRunner redis = ShardkeeperAutoConfigurationTests.onRedis();

	@Test
	@Promise("Clear errors")
	void wrongPasswordFailsStartup() {
		try (EmbeddedRedis locked = EmbeddedRedis.start("--requirepass", "secret")) {
			this.redis.withUserConfiguration(ShardkeeperAutoConfigurationTests.OneHandler.class)
				.withPropertyValues("spring.data.redis.port=" + locked.port(), "spring.data.redis.password=wrong")
				.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(), "refuses",
						"spring.data.redis.password"));
			this.redis.withUserConfiguration(ShardkeeperAutoConfigurationTests.OneHandler.class)
				.withPropertyValues("spring.data.redis.port=" + locked.port())
				.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(), "password",
						"spring.data.redis.password"));
			this.redis.withUserConfiguration(ShardkeeperAutoConfigurationTests.OneHandler.class)
				.withPropertyValues("spring.data.redis.port=" + locked.port(), "spring.data.redis.password=secret")
				.run((context) -> assertThat(context).hasNotFailed());
		}
	}

	@Test
	@Promise("Clear errors")
	void startsWithoutRedisAndConsumesOnceItAnswers() {
		try (EmbeddedRedis away = EmbeddedRedis.start()) {
			away.kill();
			this.redis.withUserConfiguration(ShardkeeperAutoConfigurationTests.OneHandler.class)
				.withPropertyValues("spring.data.redis.port=" + away.port(),
						"management.health.shardkeeper.outage-tolerance=0s")
				.run((context) -> {
					assertThat(context).hasNotFailed();
					ShardkeeperHealthIndicator health = context.getBean(ShardkeeperHealthIndicator.class);
					Health down = health.health();
					assertThat(down.getStatus()).isEqualTo(Status.DOWN);
					assertThat(down.getDetails().get("reason").toString()).contains("The lease is not held", "Redis");
					assertThat(context.getBean(ShardsEndpoint.class).groups().groups().get(0).error()).isNotNull();

					away.restart();
					Awaitility.await()
						.atMost(Duration.ofSeconds(20))
						.until(() -> health.health().getStatus().equals(Status.UP));
					context.getBean(ShardTemplate.class).send("orders", "key", "hello");
					Awaitility.await()
						.atMost(Duration.ofSeconds(20))
						.until(() -> context.getBean(ShardkeeperAutoConfigurationTests.Handler.class).received
							.isDone());
				});
		}
	}

	/** The kernel accepts connections, but nothing replies. */
	@Test
	@Tag("proof")
	@Promise("Clear errors")
	void silentRedisDelaysStartupForLimitedTime() {
		try (EmbeddedRedis hanging = EmbeddedRedis.start()) {
			hanging.freeze();
			this.redis.withUserConfiguration(ShardkeeperAutoConfigurationTests.OneHandler.class, StartWatch.class)
				.withPropertyValues("spring.data.redis.port=" + hanging.port(),
						"shardkeeper.topics.orders.start=latest", "management.health.shardkeeper.outage-tolerance=0s")
				.run((context) -> {
					assertThat(context).hasNotFailed();
					assertThat(context.getBean(StartWatch.class).taken).isLessThan(Duration.ofSeconds(8));
					ShardkeeperHealthIndicator health = context.getBean(ShardkeeperHealthIndicator.class);
					assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);

					hanging.thaw();
					Awaitility.await()
						.atMost(Duration.ofSeconds(20))
						.until(() -> health.health().getStatus().equals(Status.UP));
				});
		}
	}

	@Test
	@Tag("proof")
	@Promise("Automatic recovery")
	void consumptionStopsWithoutRedisAndRecovers() {
		try (EmbeddedRedis comesAndGoes = EmbeddedRedis.start()) {
			this.redis.withUserConfiguration(ShardkeeperAutoConfigurationTests.OneHandler.class)
				.withPropertyValues("spring.data.redis.port=" + comesAndGoes.port(), "shardkeeper.session.lease=1500ms",
						"management.health.shardkeeper.outage-tolerance=3s")
				.run((context) -> {
					ShardkeeperHealthIndicator health = context.getBean(ShardkeeperHealthIndicator.class);
					awaitStatus(health, Status.UP);
					comesAndGoes.kill();
					awaitStatus(health, Status.UNKNOWN);
					assertThat(health.health().getDetails().get("reason")).asString().contains("The lease is not held");
					awaitStatus(health, Status.DOWN);
					comesAndGoes.restart();
					awaitStatus(health, Status.UP);
					context.getBean(ShardTemplate.class).send("orders", "key", "hello");
					Awaitility.await()
						.atMost(Duration.ofSeconds(20))
						.until(() -> context.getBean(ShardkeeperAutoConfigurationTests.Handler.class).received
							.isDone());
				});
		}
	}

	private static void awaitStatus(ShardkeeperHealthIndicator health, Status status) {
		Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> health.health().getStatus().equals(status));
	}

	/** Measures how long the start of all beans takes. */
	static final class StartWatch implements SmartLifecycle, ApplicationListener<ContextRefreshedEvent> {

		private MonotonicTime begun = MonotonicClock.SYSTEM.now();

		private Duration taken = Duration.ZERO;

		@Override
		public void start() {
			this.begun = MonotonicClock.SYSTEM.now();
		}

		@Override
		public void onApplicationEvent(ContextRefreshedEvent event) {
			this.taken = this.begun.until(MonotonicClock.SYSTEM.now());
		}

		@Override
		public void stop() {
		}

		@Override
		public boolean isRunning() {
			return false;
		}

		@Override
		public int getPhase() {
			return Integer.MIN_VALUE;
		}

	}

}
