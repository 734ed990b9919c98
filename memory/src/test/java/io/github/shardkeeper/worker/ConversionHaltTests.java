package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.annotation.JsonDeserialize;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.failure.ShardProblem;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.FailureLog;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A payload class that does not go with the topic must not turn the topic into dead
 * letters.
 */
@CapturesOutput
@Promise("Nothing lost")
class ConversionHaltTests {

	private static final Duration LOOK_PERIOD = Duration.ofSeconds(30);

	/** Whether the schema registry is unavailable. */
	private static boolean away;

	private final List<String> handled = new ArrayList<>();

	private final TestSettings settings = new TestSettings().maxConversionFailures(5)
		.commits(CommitMode.BATCH, Duration.ofSeconds(1), 500);

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void failedConversionsInARowHaltTheShardAndAreReported(Ordering ordering) {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings.ordering(ordering, 8));
		offer(shard, 1, 200, "nonsense");

		assertThat(shard.deadLetters()).hasSize(4);
		assertThat(shard.worker().problem()).isNotNull()
			.matches(ShardProblem::alarm, "an alarm")
			.asString()
			.contains("Halted at offset", "5 records in a row could not be converted", "Visit",
					"'shardkeeper.topics.orders.consumer.max-conversion-failures'");
		shard.pass(LOOK_PERIOD.multipliedBy(10));
		assertThat(shard.deadLetters()).as("however often it looks").hasSize(4);
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("4"));
	}

	@Test
	void listHaltsAtTheFirstRecordAboveTheLimit() {
		ConsumingShard shard = new ConsumingShard(new Lists(), this.settings);
		offer(shard, 1, 200, "nonsense");

		assertThat(shard.deadLetters()).containsExactly("1 after 0", "2 after 0", "3 after 0", "4 after 0");
		assertThat(shard.worker().problem()).asString().contains("Halted at offset 5");
	}

	@Test
	void convertedRecordResetsTheCount() {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings);
		for (int i = 0; i < 10; i++) {
			offer(shard, 10 * i + 1, 10 * i + 4, "nonsense");
			offer(shard, 10 * i + 5, 10 * i + 5, "{\"client\":\"c\"}");
		}

		assertThat(this.handled).hasSize(10);
		assertThat(shard.deadLetters()).hasSize(40);
		assertThat(shard.worker().problem()).isNull();
	}

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void haltedShardRecoversAutomatically(Ordering ordering) {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings.ordering(ordering, 8));
		away = true;
		offer(shard, 1, 20, "{\"client\":\"c\"}");
		assertThat(shard.worker().problem()).asString().contains("Halted at offset");
		away = false;
		shard.pass(LOOK_PERIOD.minusMillis(1));
		assertThat(this.handled).isEmpty();
		shard.pass(Duration.ofMillis(1));

		assertThat(this.handled).hasSize(16);
		assertThat(shard.worker().problem()).isNull();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("20"));
		shard.sendBackAll();
		assertThat(this.handled).hasSize(20);
	}

	@Test
	void nextOwnerStartsWithTheHaltedRecord() {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings);
		away = true;
		offer(shard, 1, 10, "{\"client\":\"c\"}");
		shard.worker().drain();
		shard.run();
		assertThat(shard.ended()).containsExactly("released");
		away = false;
		shard.restart();
		assertThat(shard.reader().calls()).endsWith("start after 4");
		offer(shard, 5, 10, "{\"client\":\"c\"}");

		assertThat(this.handled).hasSize(6);
	}

	@Test
	void eachOwnerCountsFromZero() {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings);
		offer(shard, 1, 200, "nonsense");
		shard.restart();
		offer(shard, 5, 200, "nonsense");

		assertThat(shard.deadLetters()).hasSize(8);
		assertThat(shard.worker().problem()).asString().contains("Halted at offset 9");
	}

	@Test
	void limitOfOneStoresNoDeadLetter() {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings.maxConversionFailures(1));
		offer(shard, 1, 200, "nonsense");
		shard.restart();
		offer(shard, 1, 200, "nonsense");

		assertThat(shard.deadLetters()).isEmpty();
		assertThat(shard.worker().problem()).asString().contains("Halted at offset 1:");
	}

	@Test
	void withoutALimitEachRecordBecomesADeadLetter() {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings.maxConversionFailures(0));
		offer(shard, 1, 200, "nonsense");
		shard.pass(Duration.ofSeconds(1));

		assertThat(shard.deadLetters()).hasSize(200);
		assertThat(shard.worker().problem()).isNull();
	}

	@Test
	void failuresAreLoggedOnceWithTheirNumber(CapturedOutput output) {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings.maxConversionFailures(0));
		offer(shard, 1, 200, "nonsense");
		shard.pass(FailureLog.PERIOD);

		assertThat(output).containsOnlyOnce("stored as a dead letter after 0 calls\n")
			.containsOnlyOnce("\tat " + ShardHandler.class.getName() + ".convert(")
			.containsOnlyOnce("199 more like that in 60 s. The last: ")
			.containsOnlyOnce("at offset 200 of orders/1");
	}

	@Test
	void retriesAreLoggedOnceWithTheirNumber(CapturedOutput output) {
		ConsumingShard shard = new ConsumingShard(new Failing(),
				new TestSettings().maxAttempts(3).onFailure(OnFailure.DEAD_LETTER));
		offer(shard, 1, 5, "any");
		IntStream.range(0, 5).forEach((round) -> {
			shard.pass(Duration.ofMillis(200));
			shard.pass(Duration.ofMillis(400));
		});
		assertThat(shard.deadLetters()).hasSize(5);
		assertThat(output).containsOnlyOnce("trying again in").containsOnlyOnce("\tat " + Failing.class.getName());
		shard.pass(FailureLog.PERIOD);

		assertThat(output).containsOnlyOnce("9 more like that in 60 s.").containsOnlyOnce("4 more like that in 60 s.");
	}

	private static void offer(ConsumingShard shard, int first, int last, String payload) {
		for (int i = first; i <= last; i++) {
			shard.offer(i, "key-" + i, payload);
		}
		shard.run();
	}

	@JsonDeserialize(using = Converter.class)
	record Visit(String client) {

	}

	static final class Converter extends ValueDeserializer<Visit> {

		@Override
		public Visit deserialize(JsonParser parser, DeserializationContext context) {
			if (away) {
				throw new IllegalStateException("The registry is away, caused by the test");
			}
			return new Visit(parser.readValueAsTree().get("client").toString());
		}

	}

	final class Single {

		@ShardConsumer("orders")
		void handle(Visit visit) {
			ConversionHaltTests.this.handled.add(visit.client());
		}

	}

	final class Lists {

		@ShardConsumer("orders")
		void handle(List<Visit> visits) {
			visits.forEach((visit) -> ConversionHaltTests.this.handled.add(visit.client()));
		}

	}

	static final class Failing {

		@ShardConsumer("orders")
		void handle(String payload) {
			throw new IllegalStateException("caused by the test, for " + payload);
		}

	}

}
