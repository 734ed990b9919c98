package io.github.shardkeeper.autoconfigure.failure;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.autoconfigure.ShardkeeperActuatorAutoConfiguration;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Failure handlers of an application, and rules in its properties. */
class FailureHandlersTests {

	private static final String RULE = "shardkeeper.topics.orders.consumer.failures[0].";

	private final List<String> calls = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.orders.shards=1",
				"shardkeeper.consumer.commit.interval=100ms", "shardkeeper.consumer.retry.max-attempts=3",
				"shardkeeper.consumer.retry.initial-interval=1ms");

	private final ApplicationContextRunner consuming = this.runner.withBean(Failing.class,
			() -> new Failing(this.calls));

	@Test
	void rulesOfATopicReplaceThoseOfAllTopicsAndPrecedeBeans() {
		this.consuming.withUserConfiguration(DeadLetterBeans.class)
			.withPropertyValues("shardkeeper.consumer.failures[0].exceptions=java.lang.Throwable",
					"shardkeeper.consumer.failures[0].action=halt",
					RULE + "exceptions=java.io.IOException, java.lang.Error", RULE + "action=retry", RULE + "delay=1ms",
					RULE + "max-attempts=5")
			.run((context) -> {
				send(context, "io", "error", "state");

				assertThat(deadLetters(context, 3)).containsExactly("io after 5", "error after 5", "state after 1");
			});
	}

	@Test
	void beansChooseInTheirOrder() {
		this.consuming.withUserConfiguration(Ordered.class).run((context) -> {
			send(context, "io", "state");

			assertThat(deadLetters(context, 2)).containsExactly("io after 2", "state after 3");
		});
	}

	@Test
	void topicHasOnlyTheBeanThatItNames() {
		this.consuming.withUserConfiguration(Ordered.class)
			.withPropertyValues("shardkeeper.topics.orders.failure-handler=named")
			.run((context) -> {
				send(context, "io");

				assertThat(deadLetters(context, 1)).containsExactly("io after 1");
			});
	}

	@Test
	void choiceThatCannotBeUsedIsCountedAndTheRecordIsTreatedAsConfigured() {
		this.consuming.withBean(FailureHandler.class, () -> (shard, record, failure) -> {
			throw new StackOverflowError("caused by the test");
		}).run((context) -> {
			send(context, "io");

			assertThat(deadLetters(context, 1)).containsExactly("io after 3");
			assertThat(context.getBean(MeterRegistry.class)
				.get("shardkeeper.failure.handler.failures")
				.tag("topic", "orders")
				.counter()
				.count()).isEqualTo(3);
		});
	}

	@Test
	void missingBeanFailsStartup() {
		this.runner.withUserConfiguration(Ordered.class)
			.withPropertyValues("shardkeeper.topics.orders.failure-handler=nome")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining(
						"'shardkeeper.topics.orders.failure-handler' is 'nome', but there is no FailureHandler bean")
				.hasMessageContaining("asConfigured, deadLetters, named, retries"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					action=halt                                  | [0].exceptions' is not set | java.lang.Throwable
					exceptions=java.io.IOException               | [0].action' is not set | 'retry-queue'
					exceptions=java.lang.String;action=halt      | [0].exceptions' is java.lang.String | classes of exceptions
					exceptions=java.io.IOException;action=retry  | [0].delay' is not set | Set the delay
					exceptions=java.io.IOException;action=halt;delay=1s | makes no further call | Remove the delay
					exceptions=java.io.IOException;action=retry;delay=0s | [0].delay' is 0s | 1ms or more
					exceptions=java.io.IOException;action=retry;delay=366d | [0].delay' is 366d | 365d or less
					exceptions=java.io.IOException;action=retry;delay=1s;max-delay=0s | [0].max-delay' is 0s | 1s or more
					exceptions=java.io.IOException;action=retry;delay=1s;multiplier=0.5 | [0].multiplier' is 0.5 | Set it to 1
					exceptions=java.io.IOException;action=retry;delay=1s;max-attempts=1 | [0].max-attempts' is 1 | 2 or more
					exceptions=java.io.IOException;action=retry-queue;multiplier=2 | [0].delay' is not | Set the delay, or remove them
					exceptions=java.io.IOException;action=park-key | [0].action' is 'park-key', but 'shardkeeper.consumer.on-failure' is not | Set 'on-failure' to 'park-key'
					""")
	void ruleThatIsNotPossibleFailsStartup(String rule, String description, String action) {
		this.runner.withPropertyValues(Stream.of(rule.split(";")).map(RULE::concat).toArray(String[]::new))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'shardkeeper.topics.orders.consumer.failures")
				.hasMessageContaining(description)
				.hasMessageContaining(action));
	}

	@Test
	void retryQueueIsNotPossibleWhereKeysWait() {
		this.runner
			.withPropertyValues("shardkeeper.consumer.on-failure=park-key", RULE + "exceptions=java.io.IOException",
					RULE + "action=retry-queue")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("but 'shardkeeper.consumer.on-failure' is 'park-key'")
				.hasMessageContaining("Set the action to 'park-key'"));
	}

	@Test
	void retryQueueNeedsADelay() {
		this.runner
			.withPropertyValues("shardkeeper.consumer.retry-queue.delays=", RULE + "exceptions=java.io.IOException",
					RULE + "action=retry-queue")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("nor 'shardkeeper.consumer.retry-queue.delays' has a delay"));
	}

	private static void send(AssertableApplicationContext context, String... payloads) {
		context.getBean(ShardTemplate.class)
			.sendAll("orders", List.of(payloads).stream().map((payload) -> new Outgoing("ann", payload)).toList());
	}

	/** Returns payloads and attempts, once there are so many. */
	private static List<String> deadLetters(AssertableApplicationContext context, int count) {
		DeadLetters letters = context.getBean(DeadLetters.class);
		List<DeadLetter> found = await().atMost(Duration.ofSeconds(60))
			.until(() -> letters.list(DeadLetterFilter.topic("orders"), null, 10).letters(),
					(stored) -> stored.size() == count);
		return found.stream().map((letter) -> letter.text() + " after " + letter.attempts()).toList();
	}

	record Failing(List<String> calls) {

		@ShardConsumer("orders")
		void handle(String payload) throws IOException {
			this.calls.add(payload);
			switch (payload) {
				case "io" -> throw new IllegalArgumentException(new IOException("caused by the test"));
				case "error" -> throw new NoClassDefFoundError("caused by the test");
				default -> throw new IllegalStateException("caused by the test");
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class DeadLetterBeans {

		@Bean
		FailureHandler deadLetters() {
			return (shard, record, failure) -> FailureAction.deadLetter();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Ordered {

		@Bean
		@Order(3)
		FailureHandler deadLetters() {
			return (shard, record, failure) -> (failure.getCause() instanceof IOException) ? FailureAction.deadLetter()
					: FailureAction.asConfigured();
		}

		@Bean
		@Order(2)
		FailureHandler retries() {
			return (shard, record, failure) -> (failure.getCause() instanceof IOException && record.attempt() == 1)
					? FailureAction.retry(FailureAction.MIN_DELAY) : FailureAction.asConfigured();
		}

		@Bean
		@Order(1)
		FailureHandler asConfigured() {
			return (shard, record, failure) -> FailureAction.asConfigured();
		}

		@Bean(defaultCandidate = false)
		FailureHandler named() {
			return (shard, record, failure) -> FailureAction.deadLetter();
		}

	}

}
