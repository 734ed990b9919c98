package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;

/** Failed records of which the application chooses what becomes of them. */
@CapturesOutput
class ChosenFailuresTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final FailureHandler RETRIES = (shard, record, failure) -> FailureAction.retry(SECOND);

	private final Single bean = new Single();

	/** What was chosen about, like {@code r1#2}. */
	private final List<String> chosen = new ArrayList<>();

	@Test
	void recordIsRetriedAfterTheDelayThatWasChosenWithItsAttempt() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(1)
					.failureHandlers(recorded((context, record, failure) -> (record.attempt() < 4)
							? FailureAction.retry(SECOND.multipliedBy(record.attempt()))
							: FailureAction.asConfigured())));
		this.bean.failing.add("r1");
		shard.deliver(1, 2);
		shard.pass(Duration.ofMillis(999));
		assertThat(this.bean.calls).hasSize(1);
		shard.pass(Duration.ofMillis(1));
		assertThat(this.bean.calls).hasSize(2);
		assertThat(shard.worker().problem()).asString().contains("keeps failing");
		shard.pass(SECOND.multipliedBy(2));
		shard.pass(SECOND.multipliedBy(3));

		assertThat(this.chosen).containsExactly("r1#1", "r1#2", "r1#3", "r1#4");
		assertThat(shard.deadLetters()).containsExactly("1 after 4");
		assertThat(this.bean.calls).containsExactly("r1", "r1", "r1", "r1", "r2");
		assertThat(shard.worker().problem()).isNull();
		assertThat(shard.unusableChoices()).isZero();
	}

	@Test
	void chosenRetriesCountForTheAttemptsInPlace() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(4)
					.failureHandlers((context, record, failure) -> (record.attempt() < 3) ? FailureAction.retry(SECOND)
							: FailureAction.asConfigured()));
		this.bean.failing.add("r1");
		shard.deliver(1, 1);
		for (int i = 0; i < 10; i++) {
			shard.pass(SECOND);
		}

		assertThat(shard.deadLetters()).containsExactly("1 after 4");
	}

	@Test
	void recordBecomesADeadLetterWithoutRetries() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().onFailure(OnFailure.HALT)
			.failureHandlers((context, record, failure) -> FailureAction.deadLetter()));
		this.bean.failing.add("r1");
		shard.deliver(1, 2);

		assertThat(this.bean.calls).containsExactly("r1", "r2");
		assertThat(shard.deadLetters()).containsExactly("1 after 1");
	}

	@Test
	void recordWaitsInTheRetryQueueForAsLongAsWasChosen() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().failureHandlers(recorded(
				(context, record, failure) -> FailureAction.retryQueue(SECOND.multipliedBy(10 * record.attempt())))));
		this.bean.failing.add("r1");
		shard.deliver(1, 2);
		assertThat(this.bean.calls).as("the shard continues").containsExactly("r1", "r2");
		shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.calls).hasSize(3);
		shard.pass(SECOND.multipliedBy(19));
		assertThat(this.bean.calls).hasSize(3);
		this.bean.failing.clear();
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(5));

		assertThat(this.bean.calls).containsExactly("r1", "r2", "r1", "r1");
		assertThat(this.chosen).containsExactly("r1#1", "r1#2");
		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
	}

	@Test
	void retryQueueWithoutADelayHasTheConfiguredOnesAndThenTheDeadLetters() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().onFailure(OnFailure.HALT, SECOND)
			.failureHandlers((context, record, failure) -> FailureAction.retryQueue()));
		this.bean.failing.add("r1");
		shard.deliver(1, 1);
		assertThat(shard.retries()).isOne();
		shard.pass(SECOND);

		assertThat(shard.retries()).isZero();
		assertThat(shard.deadLetters()).containsExactly("1 after 2");
	}

	@Test
	void keyWaitsForAsLongAsWasChosenAndOthersAreDeadLetters() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().onFailure(OnFailure.PARK_KEY, SECOND)
					.failureHandlers((context, record, failure) -> "a".equals(record.key())
							? FailureAction.parkKey(SECOND.multipliedBy(20)) : FailureAction.deadLetter()));
		this.bean.failing.addAll(List.of("a1", "b2"));
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.offer(3, "a", "a3");
		shard.offer(4, "b", "b4");
		shard.run();
		assertThat(this.bean.calls).containsExactly("a1", "b2", "b4");
		assertThat(shard.deadLetters()).containsExactly("2 after 1");
		this.bean.failing.clear();
		shard.pass(SECOND.multipliedBy(19));
		assertThat(this.bean.calls).hasSize(3);
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(5));

		assertThat(this.bean.calls).containsExactly("a1", "b2", "b4", "a1", "a3");
		assertThat(shard.retries()).isZero();
	}

	@Test
	void keyWaitsForTheConfiguredDelayWithoutRetriesInPlace() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().onFailure(OnFailure.PARK_KEY, SECOND)
			.failureHandlers((context, record, failure) -> FailureAction.parkKey()));
		this.bean.failing.add("r1");
		shard.deliver(1, 1);
		assertThat(shard.retries()).isOne();
		this.bean.failing.clear();
		shard.pass(SECOND);

		assertThat(this.bean.calls).containsExactly("r1", "r1");
	}

	@Test
	void shardHaltsAndItsNextOwnerContinues() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().failureHandlers((context, record, failure) -> FailureAction.halt()));
		this.bean.failing.add("r2");
		shard.deliver(1, 3);
		shard.pass(SECOND.multipliedBy(5));
		assertThat(this.bean.calls).containsExactly("r1", "r2");
		assertThat(shard.worker().problem()).asString().contains("Halted at offset 2");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("1"));
		this.bean.failing.clear();
		shard.restart();
		shard.deliver(2, 3);

		assertThat(this.bean.calls).containsExactly("r1", "r2", "r2", "r3");
	}

	@Test
	void recordIsThatOfTheShardAndTheFailureThatOfTheHandler() {
		List<Object> seen = new ArrayList<>();
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().failureHandlers((context, record, failure) -> {
					seen.addAll(List.of(context.shard(), record.shard(), record.offset(), String.valueOf(record.key()),
							new String(record.payload()), failure));
					return FailureAction.deadLetter();
				}));
		this.bean.failing.add("a1");
		shard.offer(1, "a", "a1");
		shard.run();

		assertThat(seen).containsExactly(ConsumingShard.SHARD, ConsumingShard.SHARD, new Offset("1"), "a", "a1",
				this.bean.failure);
	}

	@Test
	void firstHandlerThatChoosesDecides() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().failureHandlers((context, record, failure) -> FailureAction.asConfigured(),
						(context, record, failure) -> FailureAction.deadLetter(),
						(context, record, failure) -> FailureAction.halt()));
		this.bean.failing.add("r1");
		shard.deliver(1, 2);

		assertThat(shard.deadLetters()).containsExactly("1 after 1");
	}

	static Stream<FailureHandler> unusable() {
		return Stream.of(throwing(() -> new IllegalStateException("caused by the test")),
				throwing(() -> new StackOverflowError("caused by the test")),
				throwing(() -> new NoClassDefFoundError("caused by the test")), throwing(Unprintable::new),
				(context, record, failure) -> null, (context, record, failure) -> FailureAction.parkKey(),
				(context, record, failure) -> FailureAction.retry(Duration.ZERO));
	}

	/** It is counted each time, and logged once. */
	@ParameterizedTest
	@MethodSource("unusable")
	void recordIsTreatedAsConfiguredIfItsHandlerCannotChoose(FailureHandler unusable, CapturedOutput output) {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxAttempts(2)
			.failureHandlers(unusable, (context, record, failure) -> FailureAction.halt()));
		this.bean.failing.addAll(List.of("r1", "r2"));
		shard.deliver(1, 3);
		shard.pass(SECOND);
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(5));

		assertThat(shard.deadLetters()).containsExactly("1 after 2", "2 after 2");
		assertThat(this.bean.calls).containsExactly("r1", "r1", "r2", "r2", "r3");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		assertThat(shard.unusableChoices()).isEqualTo(4);
		assertThat(output.getOut().lines().filter((line) -> line.contains("is treated as configured"))).singleElement()
			.asString()
			.contains("ERROR", "The FailureHandler " + ChosenFailuresTests.class.getName(), "offset 1 of orders/1");
	}

	/** A record in this queue holds up its key, which was not chosen. */
	@Test
	void retryQueueOfAParkingTopicIsNotThere(CapturedOutput output) {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(1)
					.onFailure(OnFailure.PARK_KEY, SECOND)
					.failureHandlers((context, record, failure) -> FailureAction.retryQueue(SECOND.multipliedBy(100))));
		this.bean.failing.add("a1");
		shard.offer(1, "a", "a1");
		shard.offer(2, "a", "a2");
		shard.run();
		this.bean.failing.clear();
		shard.pass(SECOND);

		assertThat(this.bean.calls).containsExactly("a1", "a1", "a2");
		assertThat(shard.unusableChoices()).isOne();
		assertThat(output).contains("has chosen RETRY_QUEUE, but 'shardkeeper.topics.orders.consumer.on-failure' is");
	}

	@Test
	void listIsRetriedAsAWhole() {
		Lists lists = new Lists();
		ConsumingShard shard = new ConsumingShard(lists, new TestSettings().failureHandlers(recorded(RETRIES)));
		lists.poison = "r2";
		shard.deliver(1, 3);
		lists.poison = "";
		shard.pass(SECOND);

		assertThat(lists.calls).containsExactly(List.of("r1", "r2", "r3"), List.of("r1", "r2", "r3"));
		assertThat(this.chosen).containsExactly("r1#1");
	}

	@Test
	void onlyFailingRecordsOfAListTakeTheChosenRoute() {
		Lists lists = new Lists();
		ConsumingShard shard = new ConsumingShard(lists,
				new TestSettings().failureHandlers(recorded((context, record, failure) -> FailureAction.deadLetter())));
		lists.poison = "r2";
		shard.deliver(1, 3);
		shard.pass(SECOND.multipliedBy(5));

		assertThat(lists.calls).containsExactly(List.of("r1", "r2", "r3"), List.of("r1"), List.of("r2"), List.of("r3"));
		assertThat(this.chosen).containsExactly("r1#1", "r2#2");
		assertThat(shard.deadLetters()).containsExactly("2 after 2");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
	}

	@Test
	void otherRecordsOfAListKeepTheirRetries() {
		Lists lists = new Lists();
		ConsumingShard shard = new ConsumingShard(lists, new TestSettings().failureHandlers((context, record,
				failure) -> lists.poison.equals("r2") ? FailureAction.deadLetter() : FailureAction.asConfigured()));
		lists.poison = "r2";
		lists.then = "r3";
		shard.deliver(1, 3);
		assertThat(shard.deadLetters()).containsExactly("2 after 2");
		lists.poison = "";
		lists.then = "";
		shard.pass(SECOND.multipliedBy(10));
		shard.pass(SECOND.multipliedBy(5));

		assertThat(lists.calls).endsWith(List.of("r3"), List.of("r3"));
		assertThat(shard.deadLetters()).containsExactly("2 after 2");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
	}

	@Test
	void shardHaltsAtTheRecordOfAListThatCannotBeConverted() {
		ManyNumbers numbers = new ManyNumbers();
		ConsumingShard shard = new ConsumingShard(numbers,
				new TestSettings()
					.failureHandlers((context, record, failure) -> (failure instanceof PayloadConversionException)
							? FailureAction.halt() : FailureAction.asConfigured()));
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
	void payloadThatCannotBeConvertedMayWaitForAnotherAttempt() {
		Numbers numbers = new Numbers();
		ConsumingShard shard = new ConsumingShard(numbers, new TestSettings().failureHandlers((context, record,
				failure) -> (record.attempt() < 3) ? FailureAction.retryQueue(SECOND) : FailureAction.asConfigured()));
		shard.offer(1, "k", "no number");
		shard.offer(2, "k", "2");
		shard.run();
		assertThat(numbers.calls).containsExactly(2);
		assertThat(shard.retries()).isOne();
		shard.pass(SECOND);
		shard.pass(SECOND);

		assertThat(shard.retries()).isZero();
		assertThat(shard.letters()).hasSize(1);
	}

	/** There is no call that could be repeated: that is not a mistake of the handler. */
	@Test
	void payloadThatCannotBeConvertedIsNotRetriedInPlace() {
		Numbers numbers = new Numbers();
		ConsumingShard shard = new ConsumingShard(numbers, new TestSettings().failureHandlers(RETRIES));
		shard.offer(1, "k", "no number");
		shard.offer(2, "k", "2");
		shard.run();

		assertThat(numbers.calls).containsExactly(2);
		assertThat(shard.deadLetters()).containsExactly("1 after 0");
		assertThat(shard.unusableChoices()).isZero();
	}

	@Test
	void manyThatCannotBeConvertedHaltTheShardWhateverIsChosen() {
		ConsumingShard shard = new ConsumingShard(new Numbers(), new TestSettings().maxConversionFailures(3)
			.failureHandlers((context, record, failure) -> FailureAction.deadLetter()));
		for (int i = 1; i <= 5; i++) {
			shard.offer(i, "k", "no number");
		}
		shard.run();

		assertThat(shard.deadLetters()).hasSize(2);
		assertThat(shard.worker().problem()).asString().contains("3 records in a row could not be converted");
	}

	@Test
	void oneThatWaitsAndCannotBeConvertedIsNotMany() {
		Numbers numbers = new Numbers();
		ConsumingShard shard = new ConsumingShard(numbers, new TestSettings().maxConversionFailures(3)
			.failureHandlers((context, record, failure) -> FailureAction.retryQueue(SECOND)));
		shard.offer(1, "k", "no number");
		shard.run();
		for (int round = 0; round < 5; round++) {
			shard.pass(SECOND);
		}
		shard.offer(2, "k", "2");
		shard.run();

		assertThat(shard.worker().problem()).isNull();
		assertThat(numbers.calls).containsExactly(2);
		assertThat(shard.retries()).isOne();
	}

	@ParameterizedTest
	@EnumSource(value = Ordering.class, mode = EnumSource.Mode.EXCLUDE, names = "SHARD")
	void retryDelaysNoOtherKey(Ordering ordering) {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().ordering(ordering, 8).failureHandlers(RETRIES));
		this.bean.failing.add("a1");
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.offer(3, "a", "a3");
		shard.run();
		assertThat(this.bean.calls).contains("a1", "b2");
		assertThat(this.bean.calls.contains("a3")).isEqualTo(ordering == Ordering.NONE);
		this.bean.failing.clear();
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(5));

		assertThat(this.bean.calls).containsExactlyInAnyOrder("a1", "a1", "b2", "a3");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
	}

	@Test
	void recordThatHasFailedNeedsNoAcknowledgment() {
		Acknowledging acknowledging = new Acknowledging();
		ConsumingShard shard = new ConsumingShard(acknowledging,
				new TestSettings().commits(CommitMode.MANUAL, SECOND, 1)
					.failureHandlers(recorded((context, record, failure) -> (record.attempt() == 1)
							? FailureAction.retry(SECOND) : FailureAction.deadLetter())));
		acknowledging.failing.add("r1");
		shard.deliver(1, 2);
		assertThat(acknowledging.handled).isEmpty();
		shard.pass(SECOND);
		shard.pass(SECOND);

		assertThat(acknowledging.handled).containsExactly("r2");
		assertThat(this.chosen).containsExactly("r1#1", "r1#2");
		assertThat(shard.deadLetters()).containsExactly("1 after 2");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
	}

	/** The state of a call that is retried is undone, as with a configured retry. */
	@Test
	void nothingOfAFailedCallStays() {
		Counting counting = new Counting();
		ConsumingShard shard = new ConsumingShard(counting, new TestSettings().failureHandlers(RETRIES));
		counting.failing = true;
		shard.deliver(1, 1);
		counting.failing = false;
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(5));

		assertThat(shard.checkpoint().state()).containsEntry("count", "1");
	}

	@Test
	void stateThatCannotBeReadHaltsTheShardWhateverIsChosen() {
		Counting counting = new Counting();
		ConsumingShard shard = new ConsumingShard(counting,
				new TestSettings().failureHandlers(recorded((context, record, failure) -> FailureAction.deadLetter())));
		shard.deliver(1, 1);
		counting.readsAs = List.class;
		shard.deliver(2, 2);

		assertThat(shard.worker().problem()).asString().contains("Halted at offset 2");
		assertThat(this.chosen).isEmpty();
		assertThat(shard.deadLetters()).isEmpty();
	}

	@Test
	void interruptedCallIsNoFailure() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().failureHandlers(recorded((context, record, failure) -> FailureAction.deadLetter())));
		this.bean.onCall = () -> {
			shard.interruptCalls();
			throw new IllegalStateException("interrupted");
		};
		shard.deliver(1, 1);

		assertThat(this.bean.calls).containsExactly("r1", "r1");
		assertThat(this.chosen).isEmpty();
		assertThat(shard.deadLetters()).isEmpty();
	}

	private FailureHandler recorded(FailureHandler handler) {
		return (context, record, failure) -> {
			this.chosen.add(new String(record.payload()) + "#" + record.attempt());
			return handler.choose(context, record, failure);
		};
	}

	private static FailureHandler throwing(Supplier<Throwable> failure) {
		return (context, record, ignored) -> {
			throw ChosenFailuresTests.<RuntimeException>unchecked(failure.get());
		};
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> T unchecked(Throwable failure) throws T {
		throw (T) failure;
	}

	static final class Single {

		private final List<String> calls = new ArrayList<>();

		private final Set<String> failing = new LinkedHashSet<>();

		private final IllegalStateException failure = new IllegalStateException("caused by the test");

		private Runnable onCall = () -> {
		};

		@ShardConsumer("orders")
		void handle(String payload) {
			this.calls.add(payload);
			Runnable meanwhile = this.onCall;
			this.onCall = () -> {
			};
			meanwhile.run();
			if (this.failing.contains(payload)) {
				throw this.failure;
			}
		}

	}

	static final class Lists {

		private final List<List<String>> calls = new ArrayList<>();

		private String poison = "";

		/** Poison once the other one has failed alone. */
		private String then = "";

		@ShardConsumer("orders")
		void handle(List<String> payloads) {
			this.calls.add(List.copyOf(payloads));
			if (payloads.contains(this.poison)) {
				throw new IllegalStateException("caused by the test");
			}
			if (payloads.equals(List.of(this.then))) {
				this.poison = this.then;
				throw new IllegalStateException("caused by the test");
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
			this.calls.add(List.copyOf(payloads));
		}

	}

	static final class Acknowledging {

		private final List<String> handled = new ArrayList<>();

		private final Set<String> failing = new LinkedHashSet<>();

		@ShardConsumer("orders")
		void handle(String payload, Acknowledgment acknowledgment) {
			if (this.failing.contains(payload)) {
				throw new IllegalStateException("caused by the test");
			}
			this.handled.add(payload);
			acknowledgment.acknowledge();
		}

	}

	static final class Counting {

		private boolean failing;

		private Class<?> readsAs = Integer.class;

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			state.get("count", this.readsAs);
			state.increment("count", 1);
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	/** Its text cannot be read. */
	private static final class Unprintable extends RuntimeException {

		@Override
		public String getMessage() {
			throw new UnsupportedOperationException("caused by the test");
		}

	}

}
