package io.github.shardkeeper.autoconfigure.payload;

import java.lang.reflect.Type;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import com.google.protobuf.Timestamp;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.awaitility.Awaitility.await;

class ConverterSelectionTests {

	private static final String TIMES = "shardkeeper.topics.times.converter";

	private static final String VISITS = "shardkeeper.topics.visits.converter";

	private static final BeanDefinitionCustomizer PRIMARY = (definition) -> definition.setPrimary(true);

	private static final BeanDefinitionCustomizer BY_NAME_ONLY = (definition) -> ((AbstractBeanDefinition) definition)
		.setDefaultCandidate(false);

	private final Handlers handlers = new Handlers();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.visits.shards=1",
				"shardkeeper.topics.times.shards=1", "shardkeeper.topics.nightly.source=fixed",
				"shardkeeper.consumer.on-failure=dead-letter", "shardkeeper.consumer.commit.interval=100ms");

	/** Also where another topic without records names none. */
	@Test
	void topicReadsAndWritesWithTheConverterThatItNames() {
		withProtobuf(BY_NAME_ONLY).withPropertyValues(TIMES + "=protobuf").run(this::handlesBothFormats);
		withProtobuf().withPropertyValues(TIMES + "=protobuf", VISITS + "=json").run(this::handlesBothFormats);
	}

	private void handlesBothFormats(AssertableApplicationContext context) throws InterruptedException {
		Timestamp time = Timestamp.newBuilder().setSeconds(1_764_000_000).build();
		ShardTemplate shards = context.getBean(ShardTemplate.class);
		shards.send("times", "ann", time);
		shards.send("visits", "ann", new Visit("ann"));
		assertThat(this.handlers.times.poll(20, TimeUnit.SECONDS)).isEqualTo(time);
		assertThat(this.handlers.visits.poll(20, TimeUnit.SECONDS)).isEqualTo(new Visit("ann"));
	}

	@Test
	void recordInAnotherFormatBecomesADeadLetterAndASendFails() {
		withProtobuf(BY_NAME_ONLY).withPropertyValues(TIMES + "=protobuf").run((context) -> {
			ShardTemplate shards = context.getBean(ShardTemplate.class);
			assertThatExceptionOfType(ClassCastException.class)
				.isThrownBy(() -> shards.send("times", "ann", new Visit("ann")));
			context.getBean(ShardAppender.class)
				.append(List.of(new NewRecord(ShardId.of("times", 0), "ann", new byte[] { 1, 2, 3 })));
			assertThat(deadLetter(context, "times").exception()).contains("PayloadConversionException",
					"It is no com.google.protobuf.Timestamp");
		});
	}

	@Test
	void converterThatThrowsOrReturnsNullFailsTheSendOrTheRecord() {
		withConverter("failing", Failing::new, BY_NAME_ONLY).withPropertyValues(TIMES + "=failing").run((context) -> {
			ShardTemplate shards = context.getBean(ShardTemplate.class);
			assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> shards.send("times", "ann", "throw"));
			assertThatNullPointerException().isThrownBy(() -> shards.send("times", "ann", "null"))
				.withMessageContaining("Failing.write has returned null");
			shards.send("times", "ann", "read");
			assertThat(deadLetter(context, "times").exception()).contains("Failing.read has returned null");
		});
	}

	private static DeadLetter deadLetter(AssertableApplicationContext context, String topic) {
		DeadLetters letters = context.getBean(DeadLetters.class);
		DeadLetterFilter all = DeadLetterFilter.topic(topic);
		return await().until(() -> letters.list(all, null, 1).letters(), (found) -> !found.isEmpty()).get(0);
	}

	@Test
	void primaryConverterIsThatOfTopicsThatNameNone() {
		withProtobuf(PRIMARY).withBean("json", PayloadConverter.class, Backwards::new)
			.withPropertyValues(VISITS + "=json")
			.run((context) -> {
				assertThat(context.getBean(ConverterSelection.class).format("times")).contains("ProtobufConverter");
				assertThat(write(context, "visits")).isEqualTo("yaw");
			});
	}

	@Test
	void unknownNameFailsStartupWithTheNamesThereAre() {
		withProtobuf(BY_NAME_ONLY).withPropertyValues(TIMES + "=protobuff")
			.run((context) -> assertThat(failure(context)).hasMessageContaining("'" + TIMES + "' is 'protobuff'")
				.hasMessageContaining("Write one of json, protobuf, shardkeeperPayloadConverter"));
		this.runner.withPropertyValues(TIMES + "=shardkeeperCoordinator")
			.run((context) -> assertThat(failure(context)).hasMessageContaining("no PayloadConverter bean"));
	}

	@Test
	void severalConvertersFailStartupUnlessOneIsPrimaryOrAllTopicsWithRecordsNameTheirs() {
		ApplicationContextRunner two = withProtobuf().withBean("backwards", PayloadConverter.class, Backwards::new)
			.withPropertyValues(TIMES + "=protobuf");
		two.run((context) -> assertThat(failure(context)).hasMessageContaining("several PayloadConverter beans")
			.hasMessageContaining("protobuf, backwards")
			.hasMessageContaining("@Primary")
			.hasMessageContaining("'" + VISITS + "'"));
		two.withPropertyValues(VISITS + "=backwards")
			.run((context) -> assertThat(write(context, "visits")).isEqualTo("yaw"));
	}

	/** Others would change their format when a topic begins to name it. */
	@Test
	void onlyConverterThatATopicNamesFailsStartupUnlessOthersSayWhetherTheyUseIt() {
		withProtobuf().withPropertyValues(TIMES + "=protobuf")
			.run((context) -> assertThat(failure(context))
				.hasMessageContaining("'times' names the PayloadConverter 'protobuf'")
				.hasMessageContaining("visits")
				.hasMessageContaining("Set '" + VISITS + "' to 'protobuf' or 'json'")
				.hasMessageContaining("defaultCandidate = false"));
	}

	private ApplicationContextRunner withProtobuf(BeanDefinitionCustomizer... customizers) {
		return withConverter("protobuf", ProtobufConverter::new, customizers);
	}

	private ApplicationContextRunner withConverter(String name, Supplier<PayloadConverter> converter,
			BeanDefinitionCustomizer... customizers) {
		return this.runner.withBean("handlers", Handlers.class, () -> this.handlers)
			.withBean(name, PayloadConverter.class, converter, customizers);
	}

	/** Returns what the default converter makes of a text. */
	private static String write(AssertableApplicationContext context, String topic) {
		PayloadConverter converter = context.getBean(ConverterSelection.class).ofTopics(List.of());
		return new String(converter.write(ShardId.of(topic, 0), "way", new HashMap<>()));
	}

	private static Throwable failure(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		Throwable failure = context.getStartupFailure();
		while (failure.getCause() != null) {
			failure = failure.getCause();
		}
		assertThat(failure).isInstanceOf(ShardkeeperConfigurationException.class);
		return failure;
	}

	static class Handlers {

		private final BlockingQueue<Timestamp> times = new LinkedBlockingQueue<>();

		private final BlockingQueue<Visit> visits = new LinkedBlockingQueue<>();

		@ShardConsumer("times")
		void time(Timestamp time) {
			this.times.add(time);
		}

		@ShardConsumer("visits")
		void visit(Visit visit) {
			this.visits.add(visit);
		}

	}

	record Visit(String client) {

	}

	private static final class Backwards implements PayloadConverter {

		@Override
		public byte[] write(Object payload) {
			return new StringBuilder(payload.toString()).reverse().toString().getBytes();
		}

		@Override
		public Object read(byte[] payload, Type type) {
			throw new UnsupportedOperationException();
		}

	}

	private static final class Failing implements PayloadConverter {

		@Override
		public byte[] write(Object payload) {
			if (payload.equals("throw")) {
				throw new StackOverflowError();
			}
			return payload.equals("null") ? null : new byte[0];
		}

		@Override
		public Object read(byte[] payload, Type type) {
			return null;
		}

	}

}
