package io.github.shardkeeper.autoconfigure.payload;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import jakarta.validation.Valid;
import jakarta.validation.Validator;
import jakarta.validation.constraints.Min;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardHeaders;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.handler.MessageArguments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * Auto-configuration of Spring Messaging, up to the call of a handler.
 */
class MessagingConfigurationTests {

	private final ApplicationContextRunner contexts = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.orders.shards=2",
				"shardkeeper.consumer.commit.interval=100ms");

	private final ApplicationContextRunner validating = this.contexts
		.withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class));

	@Test
	void annotatedParametersAreResolved() {
		this.validating.withBean(Handler.class).run((context) -> {
			context.getBean(ShardTemplate.class).send("orders", "customer-1", new Order(2));
			assertThat(context.getBean(Handler.class).calls.poll(60, TimeUnit.SECONDS))
				.isEqualTo("Order[amount=2] of customer-1");
		});
	}

	@Test
	void invalidPayloadOrMissingHeaderBecomesDeadLetter() {
		this.validating.withBean(Handler.class).run((context) -> {
			ShardTemplate shards = context.getBean(ShardTemplate.class);
			shards.send("orders", "customer-1", new Order(0));
			shards.send("orders", Outgoing.of(new Order(3)).toShard(0));
			shards.send("orders", "customer-1", new Order(2));
			assertThat(context.getBean(Handler.class).calls.poll(60, TimeUnit.SECONDS))
				.isEqualTo("Order[amount=2] of customer-1");

			DeadLetters letters = context.getBean(DeadLetters.class);
			DeadLetterFilter all = DeadLetterFilter.topic("orders");
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.untilAsserted(() -> assertThat(letters.list(all, null, 10).letters()).hasSize(2));
			assertThat(letters.list(all, null, 10).letters()).extracting(DeadLetter::exception)
				.anyMatch((reason) -> reason.contains("The payload is not valid: amount must be"))
				.anyMatch((reason) -> reason.contains("Missing header '" + ShardHeaders.KEY + "'"));
			assertThat(context.getBean(Handler.class).calls).isEmpty();
		});
	}

	@Test
	void validatedPayloadRequiresAValidator() {
		this.contexts.withBean(Handler.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("Handler.handle(Order, String) has a payload to be validated, but there is no")
				.hasMessageContaining("spring-boot-starter-validation"));
		this.validating.withClassLoader(new FilteredClassLoader(Validator.class))
			.withBean(Handler.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("spring-boot-starter-validation"));
	}

	@Test
	void severalValidatorsWithoutAPrimaryOneFailStartup() {
		this.validating.withBean(Handler.class)
			.withBean("one", Validator.class, () -> mock(Validator.class))
			.withBean("two", Validator.class, () -> mock(Validator.class))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("none of several is primary")
				.hasMessageContaining("mark one of several jakarta.validation.Validator beans as @Primary"));
	}

	@Test
	void unknownPlaceholderInHeaderFailsStartup() {
		this.contexts.withBean(OfUnknownHeader.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("OfUnknownHeader.handle(String, String) has a @Header with '${nope}'"));
	}

	@Test
	void springMessagingIsOptional() {
		this.contexts.withClassLoader(new FilteredClassLoader("org.springframework.messaging"))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(MessageArguments.class));
	}

	@Test
	void messageArgumentsBeanReplacesDefault() {
		this.contexts.withBean("own", MessageArguments.class, () -> MessageArguments.NONE)
			.run((context) -> assertThat(context.getBean(MessageArguments.class)).isSameAs(MessageArguments.NONE));
	}

	static class Handler {

		final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

		@ShardConsumer("orders")
		void handle(@Payload @Valid Order order, @Header(ShardHeaders.KEY) String key) {
			this.calls.add(order + " of " + key);
		}

	}

	static class OfUnknownHeader {

		@ShardConsumer("orders")
		void handle(@Payload String order, @Header("${nope}") String header) {
		}

	}

	record Order(@Min(1) int amount) {

	}

}
