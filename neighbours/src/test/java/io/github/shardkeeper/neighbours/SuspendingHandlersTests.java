package io.github.shardkeeper.neighbours;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.handler.CallArguments;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Suspending functions of Kotlin are handlers whose results come later. */
class SuspendingHandlersTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@RegisterExtension
	private final EmbeddedGroup group = EmbeddedGroup.inMemory("shardkeeper.topics.rated.shards=1",
			"shardkeeper.topics.batches.shards=1", "shardkeeper.topics.messages.shards=1",
			"shardkeeper.consumer.retry.max-attempts=1", "spring.main.web-application-type=none");

	@Test
	void recordCountsWhenTheFunctionReturns() {
		ConfigurableApplicationContext one = this.group.start(Handlers.class, "one");
		SuspendingHandlers handlers = one.getBean(SuspendingHandlers.class);

		send(one, "rated", "one", "bad", "two");

		eventually(() -> assertThat(handlers.getEvents()).containsExactly("assigned rated/0", "one is good, 1 so far",
				"two is good, 2 so far"));
		eventually(() -> assertThat(
				one.getBean(DeadLetters.class).list(DeadLetterFilter.topic("rated"), null, 10).letters())
			.singleElement()
			.extracting(DeadLetter::exception)
			.asString()
			.contains("caused by the test"));
	}

	@Test
	void batchesAndPartsOfMessagesAreParameters() {
		ConfigurableApplicationContext one = this.group.start(Handlers.class, "one");

		send(one, "batches", "one", "two");
		one.getBean(ShardTemplate.class).send("messages", Outgoing.of("three").withHeader("tenant", "acme"));

		eventually(
				() -> assertThat(one.getBean(SuspendingBatches.class).getEvents()).containsExactly("k one", "k two"));
		eventually(
				() -> assertThat(one.getBean(SuspendingMessages.class).getEvents()).containsExactly("three of acme"));
	}

	/** As at the end of a lease. */
	@Test
	void interruptedCallCancelsTheCoroutine() {
		SuspendingForever forever = new SuspendingForever();
		ShardHandler handler = detect(forever).get("forever");
		ShardContext shard = mock(ShardContext.class);
		given(shard.shard()).willReturn(ShardId.of("forever", 0));
		CompletableFuture<Throwable> failure = new CompletableFuture<>();
		Thread call = new Thread(() -> {
			try {
				SourceRecord source = new SourceRecord(new Offset("1"), "k", "one".getBytes(), Instant.EPOCH);
				handler.handle(handler.convert(shard, source, 1), new CallArguments(shard, null, null));
			}
			catch (Throwable ex) {
				failure.complete(ex);
			}
		});
		call.start();
		assertThat(forever.getBegun()).succeedsWithin(PATIENCE);

		call.interrupt();

		assertThat(forever.getCancelled()).succeedsWithin(PATIENCE).isEqualTo("one");
		assertThat(failure).succeedsWithin(PATIENCE).isInstanceOf(InterruptedException.class);
	}

	@Test
	void functionWithAResultIsRefused() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> detect(new SuspendingWithResult()))
			.withMessageContaining("SuspendingWithResult.handle(String) is a suspending function that returns Integer");
	}

	@Test
	void exampleOfTheGuideIsCompiled() throws IOException {
		Matcher block = Pattern.compile("```kotlin\\n(.*?)```", Pattern.DOTALL)
			.matcher(Files.readString(Path.of("../docs/guides/handlers.md")));
		assertThat(block.find()).isTrue();
		String source = Files
			.readString(Path.of("src/test/kotlin/io/github/shardkeeper/neighbours/SuspendingHandlers.kt"));

		assertThat(source.replace("\n\t", "\n")).contains(block.group(1).strip());
	}

	private static Map<String, ShardHandler> detect(Object bean) {
		Map<String, Integer> topics = Map.of("forever", 1, "rated", 1);
		return new ShardHandlerDetector(new DefaultListableBeanFactory(), new JsonPayloadConverter(new JsonMapper()))
			.detect(bean, null, topics, (topic) -> true);
	}

	private static void send(ConfigurableApplicationContext sender, String topic, String... payloads) {
		for (String payload : payloads) {
			sender.getBean(ShardTemplate.class).send(topic, "k", payload);
		}
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(assertion);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(ShardkeeperAutoConfiguration.class)
	static class Handlers {

		@Bean
		SuspendingHandlers handlers() {
			return new SuspendingHandlers();
		}

		@Bean
		SuspendingBatches batches() {
			return new SuspendingBatches();
		}

		@Bean
		SuspendingMessages messages() {
			return new SuspendingMessages();
		}

	}

}
