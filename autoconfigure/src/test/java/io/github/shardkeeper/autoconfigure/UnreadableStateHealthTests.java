package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;

import static org.assertj.core.api.Assertions.assertThat;

/** What operators see of a value of the state that cannot be read. */
class UnreadableStateHealthTests {

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class))
		.withUserConfiguration(Application.class)
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop",
				"shardkeeper.consumer.retry.max-attempts=1");

	@ParameterizedTest
	@ValueSource(strings = { "coordinated", "broadcast" })
	void healthNamesShardKeyAndClass(String mode) {
		this.memory.withPropertyValues("shardkeeper.topics.orders.mode=" + mode).run((context) -> {
			ShardTemplate shards = context.getBean(ShardTemplate.class);
			List.of("write", "read", "write").forEach((payload) -> shards.send("orders", "ann", payload));
			ShardkeeperHealthIndicator indicator = context.getBean(ShardkeeperHealthIndicator.class);
			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.until(() -> indicator.health().getStatus().equals(Status.DOWN));

			Health health = indicator.health();
			assertThat(health.getDetails().toString()).contains("orders/0", "Halted at offset",
					"the state under key 'ann' cannot be read as " + Account.class.getName(),
					"No record is retried or put aside");
			assertThat(context.getBean(Handler.class).called).containsExactly("write", "read");
			assertThat(context.getBean(DeadLetters.class).list(DeadLetterFilter.topic("orders"), null, 10).letters())
				.isEmpty();
		});
	}

	record Account(int balance, int limit) {

	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		final List<String> called = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			this.called.add(payload);
			if (payload.equals("read")) {
				state.get("ann", Account.class);
			}
			else {
				state.put("ann", List.of(1));
			}
		}

	}

}
