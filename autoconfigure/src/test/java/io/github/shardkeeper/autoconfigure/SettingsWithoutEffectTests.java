package io.github.shardkeeper.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.env.DefaultPropertiesPropertySource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.memory.MemoryStreamSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What is said at startup about settings that have no effect. */
@ExtendWith(OutputCaptureExtension.class)
class SettingsWithoutEffectTests {

	private static final String SAID = "has no effect";

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class, DataRedisAutoConfiguration.class))
		// The consumers are checked, but never started.
		.withPropertyValues("spring.threads.virtual.enabled=false", "shardkeeper.store=memory",
				"shardkeeper.group=shop", "shardkeeper.topics.orders.shards=2", "shardkeeper.topics.jobs.source=fixed",
				"shardkeeper.consumer.startup=after-readiness");

	private final ApplicationContextRunner orders = this.memory.withBean(Orders.class);

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					version=abc | version | does not begin with a number
					session.away-timeout=5s | session.away-timeout | no shards are kept
					redis.wait-timeout=300ms | redis.wait-timeout | no change waits for replicas
					kafka.refresh-interval=1s | kafka | no topic has the source 'kafka'
					sls.threads=2 | sls | no topic has the source 'sls'
					jdbc.lock-wait=5s | jdbc | no topic has 'consumer.transaction: jdbc'
					assignment.load.gain=5 | assignment.load | no strategy in use measures loads
					assignment.timeout=1s | assignment.timeout | AssignmentStrategy and ShardCatalog beans
					assignment.capacity=2;assignment.strategy=range | assignment.capacity | ignore the capacity
					assignment.zone=eu;assignment.strategy=incremental | assignment.zone | ignore zones
					history.retention=1d;history.max-moves=0 | history.retention | no history is kept
					observations.enabled=true | observations.enabled | no ObservationRegistry bean
					outbox.max-records=5 | outbox | takes a ShardOutput
					topics.jobs.converter=json | topics.jobs.converter | have no records
					topics.orders.weights.0=2;assignment.strategy=consistent-hash | topics.orders.weights | ignores weights
					topics.orders.zones.0=eu;topics.orders.strategy=incremental | topics.orders.zones | ignores zones
					topics.orders.trim.beyond-checkpoints=true | topics.orders.trim.beyond-checkpoints | nothing of the topic is trimmed
					consumer.concurrency=4 | consumer.concurrency | one after the other with 'consumer.ordering: shard'
					consumer.batch-size=4 | consumer.batch-size | one record at a time
					consumer.max-ahead=4 | consumer.max-ahead | one record at a time
					consumer.retry-queue.delays=1s | consumer.retry-queue | do not go to the retry queue
					consumer.retry-queue.max-age=1s;consumer.on-failure=park-key | consumer.retry-queue.max-age | waits for its record for any time
					consumer.park-key.max-keys=4 | consumer.park-key | no key waits
					consumer.retry.multiplier=3;consumer.retry.max-attempts=1 | consumer.retry.multiplier | there are no retries in place
					consumer.retry.excludes=java.io.IOException;consumer.retry.max-attempts=1 | consumer.retry.excludes | no failed record is retried
					consumer.max-conversion-failures=3;consumer.on-failure=halt | consumer.max-conversion-failures | that cannot be converted halts
					topics.orders.consumer.concurrency=4 | topics.orders.consumer.concurrency | one after the other with 'consumer.ordering: shard'
					topics.orders.consumer.concurrency=4;consumer.ordering=key;topics.orders.consumer.ordering=shard | topics.orders.consumer.concurrency | one after
					""")
	void settingWithoutEffectIsSaidWithItsReason(String settings, String property, String reason,
			CapturedOutput output) {
		this.orders.withPropertyValues(properties(settings)).run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).singleElement()
			.asString()
			.contains("WARN", "'shardkeeper.%s' is set, but has no effect:".formatted(property), reason,
					", or remove the property.");
	}

	/** Several in each row, because each row is an application. */
	@ParameterizedTest
	@ValueSource(strings = {
			"version=v1.4;session.away-timeout=5s;session.on-leave=keep;instance-id=one;"
					+ "redis.wait-timeout=300ms;redis.wait-for-replicas=1;history.retention=1d;"
					+ "template.retries=3;consumer.threads=4;assignment.zone=eu",
			"assignment.load.gain=5;topics.jobs.strategy=load-aware;topics.orders.weights.0=2;"
					+ "topics.orders.zones.0=eu;topics.orders.trim.beyond-checkpoints=true;"
					+ "topics.orders.trim.max-length=5",
			"assignment.capacity=2;assignment.strategy=range;topics.jobs.strategy=sticky",
			"consumer.concurrency=4;consumer.max-ahead=4;consumer.ordering=key;"
					+ "consumer.retry-queue.delays=1s;consumer.retry-queue.max-age=1s;"
					+ "consumer.on-failure=retry-queue;consumer.retry.excludes=java.io.IOException;"
					+ "consumer.retry.max-attempts=1",
			"consumer.park-key.max-keys=4;consumer.on-failure=park-key;consumer.retry.multiplier=3;"
					+ "consumer.max-conversion-failures=3",
			"topics.orders.consumer.concurrency=4;topics.orders.consumer.ordering=none",
			"consumer.retry-queue.delays=1s;consumer.failures[0].exceptions=java.io.IOException;"
					+ "consumer.failures[0].action=retry-queue",
			"consumer.concurrency=4;topics.orders.consumer.ordering=key;topics.mails.shards=2;"
					+ "topics.mails.mode=broadcast;topics.mails.consumer.dead-letters.max-count=5" })
	void settingWithAnEffectIsNotSaid(String settings, CapturedOutput output) {
		this.orders.withPropertyValues(properties(settings)).run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).isEmpty();
	}

	@Test
	void handlersDecideWhatHasAnEffect(CapturedOutput output) {
		this.memory.withBean(Batches.class)
			.withPropertyValues("shardkeeper.consumer.batch-size=4", "shardkeeper.consumer.max-ahead=8",
					"shardkeeper.outbox.max-records=5")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).isEmpty();
	}

	/** It may choose the retry queue. */
	@Test
	void failureHandlerDecidesWhatHasAnEffect(CapturedOutput output) {
		this.orders
			.withBean("failures", FailureHandler.class, () -> (shard, record, failure) -> FailureAction.retryQueue())
			.withPropertyValues("shardkeeper.consumer.retry-queue.delays=1s",
					"shardkeeper.topics.jobs.failure-handler=failures")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).singleElement()
			.asString()
			.contains("'shardkeeper.topics.jobs.failure-handler' is set, but has no effect", "have no records");
	}

	@Test
	void handlerWithoutRecordsHasNoSettingsOfRecords(CapturedOutput output) {
		this.memory.withBean(Jobs.class)
			.withPropertyValues("shardkeeper.topics.jobs.consumer.ordering=key",
					"shardkeeper.topics.jobs.consumer.retry.max-attempts=2", "shardkeeper.consumer.batch-size=4",
					"shardkeeper.topics.jobs.consumer.long-call=1m")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).hasSize(3)
			.allMatch((line) -> line.contains("takes no records"))
			.anyMatch((line) -> line.contains("'shardkeeper.consumer.batch-size'"))
			.anyMatch((line) -> line.contains("'shardkeeper.topics.jobs.consumer.retry'"));
	}

	/** One of several handlers is enough. */
	@Test
	void settingOfAllTopicsHasAnEffectIfItHasOneForSomeTopic(CapturedOutput output) {
		this.orders.withBean(Jobs.class)
			.withPropertyValues("shardkeeper.consumer.concurrency=4", "shardkeeper.consumer.ordering=key",
					"shardkeeper.consumer.batch-size=4")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).singleElement().asString().contains("'shardkeeper.consumer.batch-size'");
	}

	@Test
	void instanceWithoutHandlersSharesSettingsOfConsumers(CapturedOutput output) {
		this.memory
			.withPropertyValues("shardkeeper.consumer.concurrency=4", "shardkeeper.outbox.max-records=5",
					"shardkeeper.topics.orders.consumer.concurrency=4")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).isEmpty();
	}

	@Test
	void defaultsOfTheApplicationAreNotSaid(CapturedOutput output) {
		this.orders
			.withInitializer((context) -> DefaultPropertiesPropertySource.addOrMerge(
					Map.of("shardkeeper.consumer.concurrency", "4"), context.getEnvironment().getPropertySources()))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).isEmpty();
	}

	@Test
	void environmentVariableIsSaidAsItsProperty(CapturedOutput output) {
		this.orders
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.replace("systemEnvironment",
						new SystemEnvironmentPropertySource("systemEnvironment",
								Map.of("SHARDKEEPER_CONSUMER_BATCHSIZE", "4"))))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).singleElement().asString().contains("'shardkeeper.consumer.batch-size'");
	}

	@Test
	void threadsHaveNoEffectWithVirtualThreads(CapturedOutput output) {
		this.orders.withPropertyValues("shardkeeper.consumer.threads=4", "spring.threads.virtual.enabled=true")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).hasSize((Runtime.version().feature() >= 21) ? 1 : 0);
	}

	@Test
	void idsOfRecordsHaveNoEffectWithoutTopicsInRedis(CapturedOutput output) {
		this.memory
			.withPropertyValues("shardkeeper.store=redis", "shardkeeper.topics.orders.source=memory",
					"shardkeeper.redis.record-ids.max-count=5")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).singleElement().asString().contains("'shardkeeper.redis.record-ids'");
	}

	@Test
	void sendsAreNotRepeatedWithoutTopicsInRedisOrMemory(CapturedOutput output) {
		this.memory.withPropertyValues("shardkeeper.topics.orders.source=fixed", "shardkeeper.template.retries=3")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).singleElement().asString().contains("'shardkeeper.template.retries'");
	}

	@Test
	void beansThatAreLimitedAreKnown(CapturedOutput output) {
		this.orders.withBean(ShardCatalog.class, () -> ShardCatalog.PLAIN)
			.withPropertyValues("shardkeeper.assignment.timeout=1s")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).isEmpty();
	}

	@Test
	void sourceOfTheApplicationHasItsOwnTopicsAndShards(CapturedOutput output) {
		this.orders.withBean("files", ShardSource.class, () -> new MemoryStreamSource(Map.of("orders", 2)))
			.withPropertyValues("shardkeeper.topics.oders.consumer.ordering=key")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).satisfiesExactlyInAnyOrder(
				(line) -> assertThat(line).contains("'shardkeeper.topics.orders.shards'",
						"the shards of the topic are those of its source"),
				(line) -> assertThat(line).contains("'shardkeeper.topics.oders'", "no source has such a topic",
						"Did you mean 'orders'?"));
	}

	@Test
	void topicWithSettingsOfAConsumerAndWithoutHandlerIsSaidWithTheNearestName(CapturedOutput output) {
		this.orders
			.withPropertyValues("shardkeeper.topics.oders.consumer.ordering=key",
					"shardkeeper.topics.[mails.eu].start=latest", "shardkeeper.topics.orderz.shards=2")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).satisfiesExactlyInAnyOrder(
				(line) -> assertThat(line).contains(
						"'shardkeeper.topics.oders.consumer' is set, but has no effect here", "Did you mean 'orders'?"),
				(line) -> assertThat(line).contains("'shardkeeper.topics.mails.eu.start'")
					.doesNotContain("Did you mean"));
		assertThat(output).containsPattern(
				"INFO.*No @ShardConsumer method of this instance consumes the topic 'orderz'.*Did you mean 'orders'");
	}

	@Test
	void consumersThatStartWithTheContextAreKnown(CapturedOutput output) {
		this.orders.withPropertyValues("shardkeeper.consumer.startup=with-context", "shardkeeper.consumer.batch-size=4")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(said(output)).singleElement().asString().contains("'shardkeeper.consumer.batch-size'");
	}

	private static String[] properties(String settings) {
		return Arrays.stream(settings.split(";")).map("shardkeeper."::concat).toArray(String[]::new);
	}

	private static List<String> said(CapturedOutput output) {
		return output.getAll().lines().filter((line) -> line.contains(SAID)).toList();
	}

	static class Orders {

		@ShardConsumer("${no.such.property:orders}")
		void handle(String payload) {
		}

	}

	static class Batches {

		@ShardConsumer("orders")
		void handle(List<String> payloads, ShardOutput output) {
		}

	}

	static class Jobs {

		@ShardConsumer(value = "jobs", interval = "1h")
		void handle() {
		}

	}

}
