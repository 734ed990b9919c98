package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.annotation.JsonDeserialize;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Records that cannot be handled.
 */
@Promise("Nothing lost")
class FailedRecordsTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Poisoned bean = new Poisoned();

	@Test
	void recordIsRetriedInPlaceAndThenBecomesADeadLetter() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxAttempts(3));
		this.bean.poison.add("r2");
		shard.deliver(1, 3);
		assertThat(this.bean.calls).containsExactly("r1", "r2");
		assertThat(shard.worker().problem()).asString()
			.contains("at offset 2", "keeps failing", "java.lang.AssertionError at");
		shard.pass(Duration.ofMillis(199));
		assertThat(this.bean.calls).hasSize(2);
		shard.pass(Duration.ofMillis(1));
		assertThat(this.bean.calls).containsExactly("r1", "r2", "r2");
		shard.pass(Duration.ofMillis(400));

		assertThat(this.bean.calls).containsExactly("r1", "r2", "r2", "r2", "r3");
		assertThat(shard.deadLetters()).containsExactly("2 after 3");
		assertThat(shard.worker().problem()).isNull();
		shard.pass(SECOND.multipliedBy(5));
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		assertThat(shard.checkpoint().state()).as("what its calls wrote is undone").containsEntry("count", "2");
	}

	@Test
	void deadLetterContainsRecordCauseAndAttempts() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxAttempts(1));
		this.bean.poison.add("bad");
		shard.offer(7, "a key", "bad");
		shard.run();

		assertThat(shard.letters()).singleElement().satisfies((letter) -> {
			assertThat(letter.record().offset()).isEqualTo(new Offset("7"));
			assertThat(letter.record().key()).isEqualTo("a key");
			assertThat(letter.record().payload()).isEqualTo("bad".getBytes());
			assertThat(letter.record().exception()).isEqualTo("java.lang.AssertionError: caused by the test");
			assertThat(letter.record().stackTrace()).contains("FailedRecordsTests$Poisoned.handle");
		});
	}

	@Test
	@Promise("State exactly once")
	void deadLetterAndOffsetAreOneCommitThatCountsOnce() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxAttempts(1));
		this.bean.poison.add("r1");
		shard.checkpoints().holdAnswers();
		shard.deliver(1, 1);
		assertThat(shard.checkpoints().heldAnswers()).as("at once, not at its time").isEqualTo(1);
		shard.checkpoints().loseAnswer();
		shard.run();
		shard.checkpoints().answerAll();
		shard.pass(SECOND);

		assertThat(shard.deadLetters()).containsExactly("1 after 1");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("1"));
	}

	/** Their payloads are kept in memory, and written by one script. */
	@Test
	void numberOfUncommittedDeadLettersIsLimited() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxAttempts(1));
		for (int i = 1; i <= 500; i++) {
			this.bean.poison.add("r" + i);
		}
		shard.checkpoints().holdAnswers();
		shard.deliver(1, 500);

		assertThat(this.bean.calls).as("one is written, and the next 100 wait").hasSize(101);
		shard.checkpoints().reply();
		shard.run();
		assertThat(this.bean.calls).hasSize(201);
		shard.checkpoints().answerAll();
		shard.run();
		assertThat(shard.deadLetters()).hasSize(500).doesNotHaveDuplicates();
	}

	@Test
	void deadLetterMayBeSentBackBeforeTheAnswerToItsCommit() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxAttempts(1));
		this.bean.poison.add("r1");
		shard.deliver(1, 1);
		shard.checkpoints().holdAnswers();
		shard.sendBackAll();
		assertThat(shard.deadLetters()).as("dead again, which is not answered").containsExactly("1 after 1");
		this.bean.poison.clear();
		shard.sendBackAll();
		assertThat(shard.retries()).isOne();
		shard.checkpoints().answerAll();
		shard.run();
		shard.pass(SECOND.multipliedBy(5));

		assertThat(shard.deadLetters()).isEmpty();
		assertThat(shard.checkpoint().retryDueIn()).as("handled, not left in the queue").isNull();
		assertThat(shard.checkpoint().state()).containsEntry("count", "1");
	}

	@Test
	void exceptionThatIsNotRetryableIsNotRetried() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().excludes(AssertionError.class));
		this.bean.poison.add("r1");
		shard.deliver(1, 2);

		assertThat(this.bean.calls).containsExactly("r1", "r2");
		assertThat(shard.deadLetters()).containsExactly("1 after 1");
	}

	@Test
	void problemsShowMessagesOfExceptionsOnlyIfWanted() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(2).onFailure(OnFailure.HALT).showExceptionMessages());
		this.bean.poison.add("r1");
		shard.deliver(1, 1);

		assertThat(shard.worker().problem()).asString()
			.contains("keeps failing: java.lang.AssertionError: caused by the test");
		shard.pass(SECOND);
		assertThat(shard.worker().problem()).asString()
			.contains("Halted at offset 1", "java.lang.AssertionError: caused by the test");
	}

	@Test
	void shardMayHaltAtAFailedRecord() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(2).onFailure(OnFailure.HALT));
		this.bean.poison.add("r2");
		shard.deliver(1, 3);
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(5));

		assertThat(this.bean.calls).containsExactly("r1", "r2", "r2");
		assertThat(shard.worker().problem()).asString()
			.contains("Halted at offset 2", "java.lang.AssertionError at")
			.doesNotContain("caused by the test");
		assertThat(shard.checkpoint().offset()).as("handled records are committed").isEqualTo(new Offset("1"));
		assertThat(shard.deadLetters()).isEmpty();
		this.bean.poison.clear();
		shard.restart();
		assertThat(shard.reader().calls()).endsWith("start after 1");
		shard.deliver(2, 3);
		assertThat(this.bean.calls).endsWith("r2", "r3");
	}

	@Test
	void shardContinuesWhileARecordWaitsInTheRetryQueue() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(2).onFailure(OnFailure.RETRY_QUEUE, SECOND.multipliedBy(10)));
		this.bean.poison.add("r1");
		shard.deliver(1, 2);
		shard.pass(Duration.ofMillis(200));
		assertThat(this.bean.calls).containsExactly("r1", "r1", "r2");
		assertThat(shard.retries()).isEqualTo(1);
		shard.pass(SECOND.multipliedBy(9));
		assertThat(this.bean.calls).hasSize(3);
		this.bean.poison.clear();
		shard.pass(SECOND);
		assertThat(this.bean.calls).containsExactly("r1", "r1", "r2", "r1");

		assertThat(shard.retries()).as("leaves the queue with the commit of its writes").isEqualTo(1);
		assertThat(shard.checkpoint().state()).containsEntry("count", "1");
		shard.pass(SECOND.multipliedBy(5));
		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("2"), Set.of(), Map.of("count", "2"), null));
	}

	@Test
	void uncommittedRecordOfTheRetryQueueIsNotHandledTwice() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(1).onFailure(OnFailure.RETRY_QUEUE, SECOND));
		this.bean.poison.add("r1");
		shard.deliver(1, 1);
		this.bean.poison.clear();
		shard.pass(SECOND);
		shard.worker().attend();
		shard.run();
		shard.worker().attend();
		shard.run();

		assertThat(this.bean.calls).containsExactly("r1", "r1");
		shard.worker().drain();
		shard.run();
		assertThat(shard.retries()).as("committed before the release").isZero();
		assertThat(shard.checkpoint().state()).containsEntry("count", "1");
	}

	@Test
	void recordBecomesADeadLetterAfterTheLastDelay() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(2).onFailure(OnFailure.RETRY_QUEUE, SECOND, SECOND.multipliedBy(3)));
		this.bean.poison.add("r1");
		shard.deliver(1, 1);
		shard.pass(Duration.ofMillis(200));
		shard.pass(SECOND);
		assertThat(this.bean.calls).hasSize(3);
		shard.pass(SECOND.multipliedBy(3));

		assertThat(this.bean.calls).hasSize(4);
		assertThat(shard.deadLetters()).containsExactly("1 after 4");
		assertThat(shard.retries()).isZero();
	}

	@Test
	void recordThatWaitsTooLongInTheRetryQueueBecomesADeadLetter() {
		AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
		ConsumingShard shard = ConsumingShard.withWallClock(this.bean,
				new TestSettings().maxAttempts(1)
					.onFailure(OnFailure.RETRY_QUEUE, SECOND.multipliedBy(10))
					.retryMaxAge(Duration.ofHours(1)),
				now::get);
		this.bean.poison.add("r1");
		this.bean.poison.add("r2");
		shard.deliver(1, 1);
		shard.worker().drain();
		shard.run();
		now.set(Instant.EPOCH.plus(Duration.ofHours(2)));
		shard.restart();
		shard.deliver(2, 2);
		shard.pass(SECOND.multipliedBy(10));

		assertThat(this.bean.calls).as("the second one has not waited for long").containsExactly("r1", "r2", "r2");
		assertThat(shard.deadLetters()).containsExactly("1 after 1", "2 after 2");
		assertThat(shard.retries()).isZero();
	}

	@Test
	void newOwnerContinuesWithTheRetryQueue() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(1).onFailure(OnFailure.RETRY_QUEUE, SECOND.multipliedBy(10)));
		this.bean.poison.add("r1");
		shard.deliver(1, 1);
		shard.worker().drain();
		shard.run();
		this.bean.poison.clear();
		shard.restart();
		assertThat(this.bean.calls).containsExactly("r1");
		shard.pass(SECOND.multipliedBy(10));

		assertThat(this.bean.calls).containsExactly("r1", "r1");
	}

	@Test
	void deadLetterSentBackIsHandledAtOnceWithAllAttempts() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxAttempts(2));
		this.bean.poison.add("r1");
		shard.deliver(1, 1);
		shard.pass(SECOND);
		assertThat(shard.deadLetters()).containsExactly("1 after 2");
		shard.sendBackAll();
		assertThat(this.bean.calls).hasSize(3);
		this.bean.poison.clear();
		shard.pass(SECOND);

		assertThat(this.bean.calls).hasSize(4);
		shard.pass(SECOND.multipliedBy(5));
		assertThat(shard.deadLetters()).isEmpty();
		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint().state()).containsEntry("count", "1");
	}

	@Test
	void unreadablePayloadBecomesADeadLetterAtOnce() {
		Numbers numbers = new Numbers();
		ConsumingShard shard = new ConsumingShard(numbers, new TestSettings());
		shard.offer(1, "k", "no number");
		shard.offer(2, "k", "2");
		shard.run();

		assertThat(numbers.calls).containsExactly(2);
		assertThat(shard.deadLetters()).containsExactly("1 after 0");
		assertThat(shard.letters().get(0).record().exception()).contains("PayloadConversionException", "Integer");
	}

	@Test
	void recordOverTheLimitBecomesADeadLetter() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxRecordBytes("k123".length()));
		shard.offer(1, "k", "123");
		shard.offer(2, "k", "1234");
		shard.run();

		assertThat(this.bean.calls).containsExactly("123");
		assertThat(shard.letters().get(0).record().payload()).as("nothing of it is lost").isEqualTo("1234".getBytes());
		assertThat(shard.letters().get(0).record().exception()).contains("'shardkeeper.max-record-size' allows 4");
	}

	@Test
	void onlyFailingRecordsOfAListBecomeDeadLetters() {
		Lists lists = new Lists();
		lists.poison = "r3";
		ConsumingShard shard = new ConsumingShard(lists, new TestSettings().maxAttempts(2).batchSize(4));
		shard.deliver(1, 5);
		shard.pass(SECOND);

		assertThat(lists.calls).containsExactly(List.of("r1", "r2", "r3", "r4"), List.of("r1", "r2", "r3", "r4"),
				List.of("r1"), List.of("r2"), List.of("r3"), List.of("r4"), List.of("r5"));
		assertThat(shard.deadLetters()).containsExactly("3 after 3");
		shard.pass(SECOND.multipliedBy(5));
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("5"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "4");
	}

	@Test
	void unreadableRecordsOfAListAreLeftOut() {
		ManyNumbers numbers = new ManyNumbers();
		ConsumingShard shard = new ConsumingShard(numbers, new TestSettings());
		shard.offer(1, "k", "1");
		shard.offer(2, "k", "no number");
		shard.offer(3, "k", "3");
		shard.run();

		assertThat(numbers.calls).containsExactly(List.of(1, 3));
		assertThat(shard.deadLetters()).containsExactly("2 after 0");
	}

	@Test
	void haltedShardHandlesOnlyRecordsOfTheListBeforeTheHalt() {
		ManyNumbers numbers = new ManyNumbers();
		ConsumingShard shard = new ConsumingShard(numbers, new TestSettings().onFailure(OnFailure.HALT));
		shard.offer(1, "k", "1");
		shard.offer(2, "k", "no number");
		shard.offer(3, "k", "3");
		shard.run();
		shard.pass(SECOND.multipliedBy(10));

		assertThat(numbers.calls).containsExactly(List.of(1));
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("1"));
		assertThat(shard.worker().problem()).asString().contains("Halted at offset 2");
	}

	@Test
	void callThatRunsWhileTheShardHaltsCounts() {
		Beside bean = new Beside();
		ConsumingShard shard = new ConsumingShard(bean,
				new TestSettings().ordering(Ordering.KEY, 8).maxAttempts(1).onFailure(OnFailure.HALT));
		bean.duringFirst = shard::run;
		shard.offer(1, "a", "first");
		shard.offer(2, "b", "bad");
		shard.run();
		shard.worker().drain();
		shard.run();

		assertThat(bean.events).containsExactly("first begins", "bad begins", "first ends");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("1"));
	}

	/** The application's own deserializers and constructors may throw anything, too. */
	@ParameterizedTest
	@EnumSource(Ordering.class)
	void anyExceptionOfAConversionMakesTheRecordUnreadable(Ordering ordering) {
		Odd bean = new Odd();
		ConsumingShard shard = new ConsumingShard(bean, new TestSettings().ordering(ordering, 8));
		shard.offer(1, "k", "{\"number\": 1}");
		shard.offer(2, "k", "{\"number\": -1}");
		shard.offer(3, "k", "{\"number\": -2}");
		shard.offer(4, "k", "{\"number\": 4}");
		shard.run();
		shard.worker().drain();
		shard.run();

		assertThat(bean.calls).containsExactly(1, 4);
		assertThat(shard.deadLetters()).containsExactly("2 after 0", "3 after 0");
		assertThat(shard.letters()).extracting((letter) -> letter.record().exception())
			.allSatisfy((exception) -> assertThat(exception).contains("cannot be converted"));
		assertThat(shard.ended()).containsExactly("released");
	}

	@Test
	void exceptionThatCannotBePrintedIsHandled() {
		Unprintable bean = new Unprintable();
		ConsumingShard shard = new ConsumingShard(bean, new TestSettings().maxAttempts(2));
		shard.deliver(1, 3);
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(10));

		assertThat(bean.calls).containsExactly("r1", "r1", "r2", "r3");
		assertThat(shard.deadLetters()).containsExactly("1 after 2");
		assertThat(shard.letters().get(0).record().exception()).contains(Unprintable.class.getName(),
				"cannot be printed");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
	}

	/** Exceptions whose text cannot be printed. */
	@ParameterizedTest
	@EnumSource(Ordering.class)
	void exceptionThatCannotBeReplacedIsHandled(Ordering ordering) {
		Unprintable bean = new Unprintable();
		bean.whenPrinted = new RuntimeException("caused by the test") {

			@Override
			public StackTraceElement[] getStackTrace() {
				return null;
			}

		};
		ConsumingShard shard = new ConsumingShard(bean, new TestSettings().ordering(ordering, 8).maxAttempts(2));
		shard.deliver(1, 3);
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(10));

		assertThat(bean.calls).containsExactlyInAnyOrder("r1", "r1", "r2", "r3");
		assertThat(shard.deadLetters()).containsExactly("1 after 2");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
	}

	@Test
	void nextListWaitsForTheAnswerInBatchMode() {
		Lists lists = new Lists();
		ConsumingShard shard = new ConsumingShard(lists,
				new TestSettings().commits(CommitMode.BATCH, SECOND.multipliedBy(5), 1000).batchSize(2));
		shard.checkpoints().holdAnswers();
		shard.deliver(1, 4);
		assertThat(lists.calls).containsExactly(List.of("r1", "r2"));
		shard.checkpoints().reply();
		shard.run();

		assertThat(lists.calls).containsExactly(List.of("r1", "r2"), List.of("r3", "r4"));
	}

	/** Counts in the state, and throws at the records that the test names. */
	static final class Poisoned {

		private final List<String> calls = new ArrayList<>();

		private final List<String> poison = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			this.calls.add(payload);
			state.increment("count", 1);
			if (this.poison.contains(payload)) {
				// Handlers may throw anything.
				throw new AssertionError("caused by the test");
			}
		}

	}

	static final class Numbers {

		private final List<Integer> calls = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(Integer payload) {
			this.calls.add(payload);
		}

	}

	static final class ManyNumbers {

		private final List<List<Integer>> calls = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(List<Integer> payloads) {
			this.calls.add(payloads);
		}

	}

	static final class Lists {

		private final List<List<String>> calls = new ArrayList<>();

		private String poison;

		@ShardConsumer("orders")
		void handle(List<String> payloads, ShardState state) {
			this.calls.add(List.copyOf(payloads));
			state.increment("count", payloads.size());
			if (payloads.contains(this.poison)) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	static final class Beside {

		private final List<String> events = new ArrayList<>();

		private Runnable duringFirst = () -> {
		};

		@ShardConsumer("orders")
		void handle(String payload) {
			this.events.add(payload + " begins");
			if (payload.equals("bad")) {
				throw new IllegalStateException("caused by the test");
			}
			this.duringFirst.run();
			this.events.add(payload + " ends");
		}

	}

	static final class Odd {

		private final List<Integer> calls = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(Positive payload) {
			this.calls.add(payload.number());
		}

		@JsonDeserialize(using = PositiveDeserializer.class)
		record Positive(int number) {

		}

		static final class PositiveDeserializer extends ValueDeserializer<Positive> {

			@Override
			public Positive deserialize(JsonParser parser, DeserializationContext context) {
				int number = context.readTree(parser).get("number").asInt();
				if (number == -1) {
					throw new IllegalStateException("caused by the test");
				}
				if (number == -2) {
					throw new AssertionError("caused by the test");
				}
				return new Positive(number);
			}

		}

	}

	static final class Unprintable {

		private final List<String> calls = new ArrayList<>();

		private RuntimeException whenPrinted = new NullPointerException("caused by the test");

		@ShardConsumer("orders")
		void handle(String payload) {
			this.calls.add(payload);
			if (payload.equals("r1")) {
				throw new RuntimeException() {

					@Override
					public String getMessage() {
						throw Unprintable.this.whenPrinted;
					}

				};
			}
		}

	}

}
