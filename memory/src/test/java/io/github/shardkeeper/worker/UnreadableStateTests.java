package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.BiConsumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.worker.failure.ShardProblem;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A class of the state that does not go with what is stored must not turn the topic into
 * dead letters.
 */
@CapturesOutput
class UnreadableStateTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final BiConsumer<ShardState, String> OLD_CLASS = (state, key) -> {
		Account before = state.get(key, Account.class).orElse(new Account(0));
		state.put(key, new Account(before.balance() + 1));
	};

	private static final BiConsumer<ShardState, String> NEW_CLASS = (state, key) -> state.get(key, WithLimit.class)
		.ifPresent((account) -> state.put(key, account));

	private static BiConsumer<ShardState, String> code = OLD_CLASS;

	private final List<String> handled = new ArrayList<>();

	private final TestSettings settings = new TestSettings().commits(CommitMode.BACKGROUND, Duration.ofSeconds(1), 1);

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void unreadableValueHaltsTheShardUntilAnOwnerCanReadIt(Ordering ordering) {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings.ordering(ordering, 8));
		deploy(OLD_CLASS, shard);
		offer(shard, 1, 3);
		deploy(NEW_CLASS, shard);
		offer(shard, 4, 9);
		assertHalted(shard, "at offset 4");
		shard.pass(HOUR);

		assertHalted(shard, "at offset 4");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		deploy(OLD_CLASS, shard);
		offer(shard, 4, 9);
		shard.pass(Duration.ofSeconds(1));
		assertThat(shard.worker().problem()).isNull();
		assertThat(new TreeSet<>(this.handled)).containsExactly("r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9");
		assertThat(shard.checkpoint().state()).containsEntry("k", "{\"balance\":9}");
	}

	@ParameterizedTest
	@EnumSource(value = OnFailure.class)
	void howFailuresAreTreatedDoesNotMatter(OnFailure onFailure) {
		ConsumingShard shard = new ConsumingShard(new Single(),
				this.settings.onFailure(onFailure, Duration.ofSeconds(1)));
		deploy(OLD_CLASS, shard);
		offer(shard, 1, 1);
		deploy(NEW_CLASS, shard);
		offer(shard, 2, 2);
		shard.pass(HOUR);

		assertHalted(shard, "at offset 2");
	}

	@Test
	void wrappedFailureCountsToo() {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings);
		deploy(OLD_CLASS, shard);
		offer(shard, 1, 1);
		deploy((state, key) -> {
			try {
				NEW_CLASS.accept(state, key);
			}
			catch (UnreadableStateException ex) {
				throw new IllegalStateException("Cannot book", ex);
			}
		}, shard);
		offer(shard, 2, 2);

		assertHalted(shard, "at offset 2");
	}

	@Test
	void handlerMayCatchItAndReadTheEarlierClass() {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings);
		deploy(OLD_CLASS, shard);
		offer(shard, 1, 1);
		deploy((state, key) -> {
			Optional<WithLimit> account;
			try {
				account = state.get(key, WithLimit.class);
			}
			catch (UnreadableStateException ex) {
				account = state.get(key, Account.class).map((before) -> new WithLimit(before.balance(), 100));
			}
			state.put(key, account.orElseThrow());
		}, shard);
		offer(shard, 2, 3);
		shard.pass(Duration.ofSeconds(1));

		assertThat(shard.worker().problem()).isNull();
		assertThat(shard.checkpoint().state()).containsEntry("k", "{\"balance\":1,\"limit\":100}");
	}

	@Test
	void constructorThatThrowsAndTextThatIsNoNumberCountToo() {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings);
		deploy(OLD_CLASS, shard);
		offer(shard, 1, 1);
		deploy((state, key) -> state.get(key, Rich.class), shard);
		offer(shard, 2, 2);
		assertThat(shard.worker().problem()).asString().contains(Rich.class.getName());
		deploy((state, key) -> state.increment(key, 1), shard);
		offer(shard, 2, 2);

		assertThat(shard.worker().problem()).asString().contains("under key 'k' cannot be read as java.lang.Long");
		assertThat(shard.deadLetters()).isEmpty();
	}

	@Test
	void errorOfTheClassOfAValueCountsToo() {
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings);
		deploy(OLD_CLASS, shard);
		offer(shard, 1, 1);
		deploy((state, key) -> state.get(key, Asserting.class), shard);
		offer(shard, 2, 2);

		assertThat(shard.worker().problem()).asString().contains("Halted at offset 2", Asserting.class.getName());
		assertThat(shard.deadLetters()).isEmpty();
	}

	@Test
	void listHaltsAsAWhole() {
		ConsumingShard shard = new ConsumingShard(new Lists(), this.settings);
		deploy(OLD_CLASS, shard);
		offer(shard, 1, 3);
		deploy(NEW_CLASS, shard);
		offer(shard, 4, 9);
		shard.pass(HOUR);

		assertHalted(shard, "at offset 4");
	}

	@Test
	void recordOfTheRetryQueueStaysThere() {
		ConsumingShard shard = new ConsumingShard(new Single(),
				this.settings.maxAttempts(1).onFailure(OnFailure.RETRY_QUEUE, Duration.ofSeconds(1)));
		deploy(OLD_CLASS, shard);
		offer(shard, 1, 1);
		deploy((state, key) -> {
			throw new IllegalStateException("caused by the test");
		}, shard);
		offer(shard, 2, 2);
		assertThat(shard.retries()).isOne();
		deploy(NEW_CLASS, shard);
		shard.pass(HOUR);
		assertHalted(shard, "at offset 2");
		assertThat(shard.retries()).isOne();
		deploy(OLD_CLASS, shard);
		shard.pass(HOUR);

		assertThat(shard.retries()).isZero();
		assertThat(this.handled).containsExactly("r1", "r2");
	}

	@Test
	void manuallyAcknowledgedRecordsHaltToo() {
		ConsumingShard shard = new ConsumingShard(new ByHand(),
				new TestSettings().commits(CommitMode.MANUAL, Duration.ofSeconds(1), 1));
		deploy(OLD_CLASS, shard);
		offer(shard, 1, 1);
		deploy(NEW_CLASS, shard);
		offer(shard, 2, 2);

		assertHalted(shard, "at offset 2");
	}

	@Test
	void handlerWithoutRecordsIsNotCalledAgain() {
		Looping bean = new Looping();
		ConsumingShard shard = new ConsumingShard(bean, new TestSettings());
		deploy(OLD_CLASS, shard);
		deploy(NEW_CLASS, shard);
		bean.calls = 0;
		shard.pass(HOUR);
		assertHalted(shard, "Halted:");
		assertThat(bean.calls).isZero();
		deploy(OLD_CLASS, shard);

		assertThat(shard.worker().problem()).isNull();
		assertThat(bean.calls).isOne();
	}

	@Test
	void scheduledRunIsRepeatedByTheNextOwner() {
		Scheduled bean = new Scheduled();
		Instant[] time = { Instant.parse("2026-11-23T00:00:00Z") };
		code = OLD_CLASS;
		ConsumingShard shard = ConsumingShard.withoutRecords(bean,
				new TopicSchedule("0 0 * * * *", null, null, null, null, null), () -> time[0]);
		pass(shard, time, HOUR);
		assertThat(bean.calls).isOne();
		code = NEW_CLASS;
		pass(shard, time, HOUR);
		assertHalted(shard, "Halted:");
		assertThat(bean.calls).isEqualTo(2);
		code = OLD_CLASS;
		pass(shard, time, Duration.ofMinutes(30));
		assertThat(bean.calls).isEqualTo(2);
		release(shard);
		shard.restart();

		assertThat(bean.calls).as("the run that could not be made").isEqualTo(3);
		assertThat(shard.worker().problem()).isNull();
	}

	@Test
	void assignedCallbackHoldsTheShardAndIsRepeated() {
		Assigned bean = new Assigned();
		ConsumingShard shard = new ConsumingShard(bean, this.settings);
		deploy(OLD_CLASS, shard);
		deploy(NEW_CLASS, shard);
		shard.pass(HOUR);
		assertHalted(shard, "@OnShardAssigned");
		assertThat(shard.reader().calls()).last().asString().startsWith("stop");
		deploy(OLD_CLASS, shard);

		assertThat(shard.worker().problem()).isNull();
		assertThat(shard.reader().calls()).last().asString().startsWith("start");
	}

	@Test
	void problemQuotesTheValueOnlyIfMessagesAreShown(CapturedOutput output) {
		BiConsumer<ShardState, String> text = (state, key) -> state.put(key, "a secret");
		BiConsumer<ShardState, String> number = (state, key) -> state.get(key, Integer.class);
		ConsumingShard shard = new ConsumingShard(new Single(), this.settings);
		deploy(text, shard);
		offer(shard, 1, 1);
		deploy(number, shard);
		offer(shard, 2, 2);

		assertThat(shard.worker().problem()).asString()
			.contains("under key 'k' cannot be read as java.lang.Integer", "(the log has the message)")
			.doesNotContain("a secret");
		assertThat(output).contains("orders/1 is halted. Halted at offset 2: The state under key 'k' cannot be read as "
				+ "java.lang.Integer: Cannot deserialize value");
		this.settings.showExceptionMessages();
		deploy(text, shard);
		offer(shard, 2, 2);
		deploy(number, shard);
		offer(shard, 3, 3);
		assertThat(shard.worker().problem()).asString().contains("Cannot deserialize value");
	}

	private static void assertHalted(ConsumingShard shard, String where) {
		assertThat(shard.worker().problem()).isNotNull()
			.matches(ShardProblem::alarm, "an alarm")
			.asString()
			.contains(where, "the state under key 'k' cannot be read as " + WithLimit.class.getName());
		assertThat(shard.deadLetters()).isEmpty();
	}

	/** The shard moves to an instance with other classes. */
	private void deploy(BiConsumer<ShardState, String> classes, ConsumingShard shard) {
		release(shard);
		code = classes;
		shard.restart();
	}

	private static void release(ConsumingShard shard) {
		shard.worker().drain();
		shard.run();
	}

	private static void pass(ConsumingShard shard, Instant[] time, Duration duration) {
		time[0] = time[0].plus(duration);
		shard.pass(duration);
	}

	private static void offer(ConsumingShard shard, int first, int last) {
		for (int i = first; i <= last; i++) {
			shard.offer(i, "k", "r" + i);
		}
		shard.run();
	}

	record Account(int balance) {

	}

	record WithLimit(int balance, int limit) {

	}

	record Asserting(int balance) {

		Asserting {
			throw new AssertionError("caused by the test");
		}

	}

	record Rich(int balance) {

		Rich {
			if (balance < 1_000_000) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	final class Single {

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			code.accept(state, "k");
			UnreadableStateTests.this.handled.add(payload);
		}

	}

	final class Lists {

		@ShardConsumer("orders")
		void handle(List<String> payloads, ShardState state) {
			code.accept(state, "k");
			UnreadableStateTests.this.handled.addAll(payloads);
		}

	}

	static final class ByHand {

		@ShardConsumer("orders")
		void handle(String payload, ShardState state, Acknowledgment acknowledgment) {
			code.accept(state, "k");
			acknowledgment.acknowledge();
		}

	}

	static final class Looping {

		private int calls;

		@ShardConsumer(value = "orders", interval = "10s")
		void poll(ShardState state) {
			this.calls++;
			code.accept(state, "k");
		}

	}

	static final class Scheduled {

		private int calls;

		@ShardConsumer("orders")
		void run(ShardState state) {
			this.calls++;
			code.accept(state, "k");
		}

	}

	final class Assigned {

		@OnShardAssigned
		void assigned(ShardState state) {
			code.accept(state, "k");
		}

		@ShardConsumer("orders")
		void handle(String payload) {
			UnreadableStateTests.this.handled.add(payload);
		}

	}

}
