package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.actuate.LoopsHealthIndicator;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.SettableClock;

import static org.assertj.core.api.Assertions.assertThat;

/** What applications can set of health: status, tolerance, liveness, own indicators. */
class HealthSettingsTests {

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class,
						DataRedisAutoConfiguration.class, JacksonAutoConfiguration.class))
		.withPropertyValues("shardkeeper.group=orders", "shardkeeper.topics.orders.shards=2",
				"shardkeeper.store=memory");

	@Test
	void problemsHaveTheConfiguredStatus() {
		try (EmbeddedRedis away = EmbeddedRedis.start()) {
			away.kill();
			this.memory.withUserConfiguration(OneHandler.class)
				.withPropertyValues("shardkeeper.store=redis", "spring.data.redis.port=" + away.port(),
						"management.health.shardkeeper.problem-status=OUT_OF_SERVICE",
						"management.health.shardkeeper.outage-tolerance=0s")
				.run((context) -> assertThat(context.getBean(ShardkeeperHealthIndicator.class).health().getStatus())
					.isEqualTo(Status.OUT_OF_SERVICE));
		}
	}

	/** Most outages of Redis end without a person. */
	@Test
	void outageIsUnknownUntilItHasLastedForLong() {
		try (EmbeddedRedis away = EmbeddedRedis.start()) {
			away.kill();
			this.memory.withUserConfiguration(OneHandler.class)
				.withPropertyValues("shardkeeper.store=redis", "spring.data.redis.port=" + away.port(),
						"management.health.shardkeeper.outage-tolerance=1h")
				.run((context) -> {
					Health health = context.getBean(ShardkeeperHealthIndicator.class).health();
					assertThat(health.getStatus()).isEqualTo(Status.UNKNOWN);
					assertThat(health.getDetails().get("reason")).asString().contains("The lease is not held", "Redis");
				});
		}
	}

	@Test
	void wrongSettingsFailStartup() {
		this.memory.withPropertyValues("management.health.shardkeeper.outage-tolerance=-1s")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("'management.health.shardkeeper.outage-tolerance' is negative"));
		this.memory.withPropertyValues("management.health.shardkeeper.problem-status= ")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("'management.health.shardkeeper.problem-status' is blank"));
	}

	@Test
	void ownIndicatorReplacesTheOneOfTheSameName() {
		this.memory.withUserConfiguration(OwnIndicator.class)
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(ShardkeeperHealthIndicator.class)
				.hasBean("shardkeeperHealthIndicator"));
	}

	@Test
	void indicatorForLivenessIsOptIn() {
		this.memory.run((context) -> assertThat(context).doesNotHaveBean(LoopsHealthIndicator.class));
		this.memory.withPropertyValues("management.health.shardkeeper.loops.enabled=true")
			.run((context) -> assertThat(
					context.getBean("shardkeeperLoopsHealthIndicator", HealthIndicator.class).health().getStatus())
				.isEqualTo(Status.UP));
	}

	@Test
	void livenessIsDownOnlyIfALoopIgnoresItsInterruptions() {
		SettableClock clock = new SettableClock();
		LoopThreads loops = new LoopThreads(clock, new LoopMeters() {

			@Override
			public void failed(String loop) {
				// Not under test.
			}

			@Override
			public void stalled(String loop) {
				// Not under test.
			}

		}, LoopThreads.DEFAULT_STALL_LIMIT);
		LoopsHealthIndicator indicator = new LoopsHealthIndicator(loops);
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		Loops.Loop loop = loops.start("stubborn", () -> {
			begun.countDown();
			boolean ended = false;
			while (!ended) {
				try {
					end.await();
					ended = true;
				}
				catch (InterruptedException ex) {
					// As a call that does not react to its interruption.
				}
			}
			return null;
		});
		try {
			Awaitility.await().until(() -> begun.getCount() == 0);
			clock.advance(Duration.ofSeconds(59));
			assertThat(loops.problems()).containsKey("stubborn");
			assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
			clock.advance(Duration.ofSeconds(1));
			Health health = indicator.health();
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails().get("loops")).asString().contains("stubborn", "Hangs for 60 s");
		}
		finally {
			end.countDown();
			loop.close();
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class OneHandler {

		@ShardConsumer("orders")
		void handle(String order) {
			// Only its existence counts.
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnIndicator {

		@Bean
		HealthIndicator shardkeeperHealthIndicator() {
			return () -> Health.up().build();
		}

	}

}
