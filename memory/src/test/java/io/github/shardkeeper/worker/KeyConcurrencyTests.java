package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several calls at once inside a shard. A call overlaps others by running them from
 * inside.
 */
class KeyConcurrencyTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration LONGER_THAN_THE_LEASE = Duration.ofDays(2);

	private final Application bean = new Application();

	@Test
	@Promise("Order")
	void recordsOfDifferentKeysOverlapAndThoseOfAKeyStayInOrder() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8));
		this.bean.during.put("a1", shard::run);
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b1");
		shard.offer(3, "a", "a2");
		shard.offer(4, "b", "b2");
		shard.run();

		assertThat(this.bean.events).containsExactly("a1 begins", "b1 begins", "b1 ends", "b2 begins", "b2 ends",
				"a1 ends", "a2 begins", "a2 ends");
	}

	@Test
	void recordsOfAKeyOverlapWithoutOrdering() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.NONE, 8));
		this.bean.during.put("a1", shard::run);
		shard.offer(1, "a", "a1");
		shard.offer(2, "a", "a2");
		shard.run();

		assertThat(this.bean.events).containsExactly("a1 begins", "a2 begins", "a2 ends", "a1 ends");
	}

	@Test
	void recordsWithoutAKeyDoNotWait() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8));
		this.bean.during.put("x1", shard::run);
		shard.offer(1, null, "x1");
		shard.offer(2, null, "x2");
		shard.run();

		assertThat(this.bean.events).containsExactly("x1 begins", "x2 begins", "x2 ends", "x1 ends");
	}

	@Test
	void concurrencyIsLimited() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.NONE, 2));
		this.bean.during.put("1", shard::run);
		this.bean.during.put("2", shard::run);
		for (int number = 1; number <= 3; number++) {
			shard.offer(number, null, Integer.toString(number));
		}
		shard.run();

		assertThat(this.bean.events).containsExactly("1 begins", "2 begins", "2 ends", "3 begins", "3 ends", "1 ends");
	}

	@Test
	@Promise("Nothing lost")
	void committedOffsetStaysBelowTheFirstRecordThatIsNotDone() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8).maxAttempts(100));
		this.bean.failing.add("b1");
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b1");
		shard.offer(3, "c", "c1");
		shard.offer(4, "b", "b2");
		shard.offer(5, "a", "a2");
		shard.run();
		shard.worker().drain();
		shard.run();

		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("1"),
				Set.of(new Offset("3"), new Offset("5")), Map.of("a", "2", "c", "1", "all", "3"), null));
		assertThat(this.bean.events).as("waits behind b1").doesNotContain("b2 begins");
	}

	@Test
	@Promise("State exactly once")
	void newOwnerRepeatsOnlyRecordsThatAreNotDone() {
		committedOffsetStaysBelowTheFirstRecordThatIsNotDone();
		this.bean.failing.clear();
		this.bean.events.clear();
		ConsumingShard shard = this.shard;
		shard.restart();
		assertThat(shard.reader().calls()).endsWith("start after 1");
		shard.offer(2, "b", "b1");
		shard.offer(3, "c", "c1");
		shard.offer(4, "b", "b2");
		shard.offer(5, "a", "a2");
		shard.offer(6, "a", "a3");
		shard.run();
		shard.pass(SECOND.multipliedBy(5));

		assertThat(this.bean.events).containsExactly("b1 begins", "b1 ends", "a3 begins", "a3 ends", "b2 begins",
				"b2 ends");
		assertThat(shard.checkpoint()).isEqualTo(
				new Checkpoint(new Offset("6"), Set.of(), Map.of("a", "3", "b", "2", "c", "1", "all", "6"), null));
	}

	@Test
	void numberOfRecordsAheadIsLimited() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8).maxAhead(3).maxAttempts(100));
		this.bean.failing.add("1");
		for (int number = 1; number <= 5; number++) {
			shard.offer(number, null, Integer.toString(number));
		}
		shard.run();

		assertThat(this.bean.events).contains("2 ends", "3 ends").doesNotContain("4 begins");
		this.bean.failing.clear();
		shard.pass(SECOND);
		assertThat(this.bean.events).endsWith("5 ends");
	}

	@Test
	@Promise("State exactly once")
	void callIsRepeatedIfAnotherCallChangesStateThatItHasRead() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8));
		this.bean.during.put("read 1", shard::run);
		shard.offer(1, "a", "read 1");
		shard.offer(2, "b", "read 2");
		shard.run();
		shard.pass(SECOND.multipliedBy(5));

		assertThat(this.bean.events).containsExactly("read 1 begins", "read 2 begins", "read 2 ends", "read 1 ends",
				"read 1 begins", "read 1 ends");
		assertThat(shard.checkpoint().state()).containsEntry("read", "2").containsEntry("all", "2");
	}

	@Test
	void failingKeyDoesNotBlockOthers() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8).maxAttempts(3));
		this.bean.failing.add("a1");
		shard.offer(1, "a", "a1");
		shard.offer(2, "a", "a2");
		shard.offer(3, "b", "b1");
		shard.run();
		assertThat(this.bean.events).containsExactly("a1 begins", "b1 begins", "b1 ends");
		assertThat(shard.worker().problem()).asString().contains("at offset 1");
		shard.pass(Duration.ofMillis(200));
		shard.pass(Duration.ofMillis(400));

		assertThat(this.bean.events).endsWith("a1 begins", "a2 begins", "a2 ends");
		assertThat(shard.deadLetters()).containsExactly("1 after 3");
		assertThat(shard.worker().problem()).isNull();
	}

	@Test
	void drainWaitsForRunningCallsAndCommitsThem() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8));
		this.bean.during.put("a1", () -> {
			shard.worker().drain();
			shard.run();
			assertThat(shard.ended()).isEmpty();
		});
		shard.offer(1, "a", "a1");
		shard.offer(2, "a", "a2");
		shard.run();

		assertThat(this.bean.events).containsExactly("a1 begins", "a1 ends");
		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("1"));
	}

	@Test
	void fencedWorkerEndsAfterItsCalls() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8));
		this.bean.during.put("a1", () -> {
			shard.worker().abandon();
			shard.run();
			assertThat(shard.worker().ended()).isNotDone();
		});
		shard.offer(1, "a", "a1");
		shard.run();

		assertThat(shard.worker().ended()).isDone();
	}

	@Test
	void callWithoutLeaseIsNoFailureEvenIfTheLeaseIsHeldAgain() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8).maxAttempts(1));
		shard.offer(1, "a", "a1");
		shard.threads().runOne();
		shard.clock().advance(LONGER_THAN_THE_LEASE);
		shard.threads().runOne();
		assertThat(this.bean.events).as("it has waited for its thread for too long").isEmpty();
		shard.renewLease();
		shard.run();

		assertThat(this.bean.events).containsExactly("a1 begins", "a1 ends");
		assertThat(shard.deadLetters()).isEmpty();
		assertThat(shard.worker().problem()).isNull();
	}

	@Test
	void exceptionWithoutLeaseIsNoFailureEvenIfTheLeaseIsHeldAgain() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8).maxAttempts(1));
		this.bean.during.put("a1", () -> {
			shard.clock().advance(LONGER_THAN_THE_LEASE);
			throw new IllegalStateException("isHeld() is false, says the handler");
		});
		shard.offer(1, "a", "a1");
		shard.threads().runOne();
		shard.threads().runOne();
		shard.renewLease();
		shard.run();

		assertThat(this.bean.events).containsExactly("a1 begins", "a1 begins", "a1 ends");
		assertThat(shard.deadLetters()).isEmpty();
	}

	@Test
	void callThatWaitsForAThreadIsNotMadeOnceTheShardLeaves() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8).maxAttempts(1));
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b1");
		shard.threads().runOne();
		shard.worker().drain();
		shard.run();

		assertThat(this.bean.events).isEmpty();
		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.checkpoint().offset()).isNull();
		assertThat(shard.deadLetters()).isEmpty();
	}

	@Test
	void callThatWasNotMadeIsMadeWhenTheDrainIsCancelled() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 8).maxAttempts(1));
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b1");
		shard.threads().runOne();
		shard.worker().drain();
		shard.threads().runOne();
		assertThat(shard.worker().cancelDrain()).isTrue();
		shard.run();

		assertThat(this.bean.events).containsExactlyInAnyOrder("a1 begins", "a1 ends", "b1 begins", "b1 ends");
		assertThat(shard.deadLetters()).isEmpty();
	}

	@Test
	@Promise("Automatic recovery")
	void callThatTheExecutorRejectsIsMadeLater() {
		rejectedCallIsRepeatedOnce((shard) -> shard.threads().refuseNext((task) -> {
		}));
	}

	@Test
	void callThatTheExecutorRejectsAndKeepsIsMadeOnce() {
		rejectedCallIsRepeatedOnce((shard) -> shard.threads().refuseAndKeepNext());
	}

	private void rejectedCallIsRepeatedOnce(Consumer<ConsumingShard> refusal) {
		start(new TestSettings().ordering(Ordering.KEY, 8));
		this.shard.offer(1, "a", "a1");
		refusal.accept(this.shard);
		this.shard.run();
		assertThat(this.bean.events).isEmpty();
		this.shard.pass(SECOND);
		assertThat(this.bean.events).containsExactly("a1 begins", "a1 ends");
		this.shard.worker().drain();
		this.shard.run();

		assertThat(this.shard.ended()).containsExactly("released");
	}

	@Test
	void resultsAreProcessedInTheOrderOfReturns() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.NONE, 8));
		shard.offer(1, "a", "read 1");
		shard.offer(2, "b", "read 2");
		shard.run();

		assertThat(this.bean.events).as("the second one has not seen what the first one wrote")
			.containsExactly("read 1 begins", "read 1 ends", "read 2 begins", "read 2 ends", "read 2 begins",
					"read 2 ends");
	}

	/** Records that wait for their key are read, too, and count in the total. */
	@Test
	void concurrentDeliveriesCountForTheBudgetUntilOthersGiveBack() {
		BufferBudget budget = new BufferBudget(2000);
		budget.join();
		BufferBudget.Share others = new BufferBudget.Share(budget, new BufferBudget.Usage(), () -> {
		});
		this.shard = new ConsumingShard(this.bean, new TestSettings().ordering(Ordering.KEY, 8), budget);
		String large = "a1" + " ".repeat(1200);
		this.bean.failing.add(large);
		this.shard.offer(1, "a", large);
		this.shard.run();
		assertThat(budget.used()).isBetween(1200L, 1210L);
		others.take(1, 2000);
		assertThat(this.shard.reader().sink(ConsumingShard.SHARD).offer(List.of(TestReader.record(2, "b", "b1"))))
			.isFalse();
		this.shard.run();
		assertThat(this.bean.events).contains("b1 ends");
		assertThat(this.shard.reader().calls()).doesNotContain("resume");

		others.giveBack(1, 2000);
		this.shard.run();

		assertThat(this.shard.reader().calls()).containsOnlyOnce("resume");
		this.shard.worker().drain();
		this.shard.run();
		assertThat(budget.used()).as("the record that fails still is given back with the rest").isZero();
	}

	private ConsumingShard shard;

	private ConsumingShard start(TestSettings settings) {
		this.shard = new ConsumingShard(this.bean, settings);
		return this.shard;
	}

	/** Bean of the application. */
	static final class Application {

		private final List<String> events = new ArrayList<>();

		private final List<String> failing = new ArrayList<>();

		private final Map<String, Runnable> during = new HashMap<>();

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record, ShardState state) {
			String payload = record.payload();
			this.events.add(payload + " begins");
			state.increment("all", 1);
			if (payload.startsWith("read")) {
				state.put("read", state.get("read", Integer.class).orElse(0) + 1);
			}
			else if (record.key() != null) {
				state.increment(record.key(), 1);
			}
			Runnable inside = this.during.remove(payload);
			if (inside != null) {
				inside.run();
			}
			if (this.failing.contains(payload)) {
				throw new IllegalStateException("caused by the test");
			}
			this.events.add(payload + " ends");
		}

	}

}
