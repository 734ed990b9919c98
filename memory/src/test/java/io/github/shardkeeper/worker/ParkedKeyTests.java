package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings.AfterDelays;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.ParkedTotals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Keys that wait because a record of theirs has failed.
 */
@Promise("Other keys continue")
class ParkedKeyTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Poisoned bean = new Poisoned();

	private static TestSettings settings() {
		return new TestSettings().maxAttempts(1).onFailure(OnFailure.PARK_KEY, SECOND, SECOND.multipliedBy(10));
	}

	@Test
	void laterRecordsOfAFailingKeyWaitAndOthersContinue() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.add("a1");
		offer(shard, 1, "a1", "b2", "a3", "a4", "b5");

		assertThat(this.bean.calls).containsExactly("a1", "b2", "b5");
		assertThat(shard.retries()).isEqualTo(3);
		assertThat(shard.worker().problem()).isNull();
		this.bean.poison.clear();
		shard.pass(SECOND);

		assertThat(this.bean.calls).containsExactly("a1", "b2", "b5", "a1", "a3", "a4");
		offer(shard, 6, "a6");
		assertThat(this.bean.calls).endsWith("a4", "a6");
		shard.pass(SECOND.multipliedBy(5));
		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("6"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "6");
	}

	@Test
	void keyWaitsAgainWhenTheNextRecordFails() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.add("a1");
		offer(shard, 1, "a1", "a2", "a3");
		this.bean.poison.clear();
		this.bean.poison.add("a2");
		shard.pass(SECOND);
		assertThat(this.bean.calls).containsExactly("a1", "a1", "a2");
		this.bean.poison.clear();
		shard.pass(SECOND);

		assertThat(this.bean.calls).containsExactly("a1", "a1", "a2", "a2", "a3");
	}

	@Test
	void newOwnerKnowsWhatWaitsBeforeItsFirstRecord() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.add("a1");
		offer(shard, 1, "a1", "a2");
		shard.worker().drain();
		shard.run();
		this.bean.poison.clear();
		shard.restart();
		offer(shard, 3, "a3", "b4");
		assertThat(this.bean.calls).containsExactly("a1", "b4");
		shard.pass(SECOND);

		assertThat(this.bean.calls).containsExactly("a1", "b4", "a1", "a2", "a3");
	}

	@Test
	void uncommittedParkingIsRepeatedByTheNextOwner() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.add("a1");
		shard.checkpoints().delayCommits();
		offer(shard, 1, "a1", "a2", "b3");
		shard.worker().abandon();
		shard.run();
		this.bean.poison.clear();
		shard.restart();
		offer(shard, 1, "a1", "a2", "b3");

		assertThat(this.bean.calls).containsExactly("a1", "b3", "a1", "a2", "b3");
	}

	@Test
	void recordIsRetriedAfterTheLastDelayAgainAndAgain() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.add("a1");
		offer(shard, 1, "a1", "a2");
		shard.pass(SECOND);
		for (int i = 0; i < 3; i++) {
			shard.pass(SECOND.multipliedBy(10));
		}

		assertThat(this.bean.calls).containsExactly("a1", "a1", "a1", "a1", "a1");
		assertThat(shard.deadLetters()).isEmpty();
		assertThat(waiting(shard)).containsExactly("1 after 5", "2 after 0");
	}

	@Test
	void recordBecomesADeadLetterAfterTheLastDelayAndItsKeyContinues() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings().parking(100, 1000, AfterDelays.DEAD_LETTER));
		this.bean.poison.add("a1");
		offer(shard, 1, "a1", "a2");
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(10));

		assertThat(this.bean.calls).containsExactly("a1", "a1", "a1", "a2");
		assertThat(shard.deadLetters()).containsExactly("1 after 3");
		this.bean.poison.clear();
		shard.sendBackAll();
		assertThat(this.bean.calls).endsWith("a2", "a1");
	}

	@Test
	void lettersThatAreSentBackAreHandledBeforeWhatWaitsInTheirOrder() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings().parking(100, 1000, AfterDelays.DEAD_LETTER));
		this.bean.poison.addAll(Set.of("a8", "a9", "a10", "a11"));
		offer(shard, 8, "a8", "a9", "a10", "a11");
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.deadLetters()).containsExactly("8 after 3");
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.deadLetters()).hasSize(2);
		this.bean.calls.clear();
		this.bean.poison.clear();
		shard.sendBackAll();

		assertThat(this.bean.calls).containsExactly("a8", "a9");
		shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.calls).containsExactly("a8", "a9", "a10", "a11");
	}

	@Test
	void recordsWithoutAKeyWaitAlone() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.add("1");
		shard.offer(1, null, "1");
		shard.offer(2, null, "2");
		shard.run();
		this.bean.poison.clear();
		shard.pass(SECOND);

		assertThat(this.bean.calls).containsExactly("1", "2", "1");
	}

	@Test
	void shardHaltsWhenTooManyKeysWaitAndResumesWhenThereIsRoom() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings().parking(1, 1000, AfterDelays.REPEAT));
		this.bean.poison.addAll(Set.of("a1", "b2"));
		offer(shard, 1, "a1", "b2", "c3", "b4");

		assertThat(this.bean.calls).containsExactly("a1", "b2");
		assertThat(shard.worker().problem()).satisfies((problem) -> {
			assertThat(problem.alarm()).isTrue();
			assertThat(problem.text()).contains("Halted at offset 2", "1 keys with 1 records",
					"park-key.max-keys' (1)");
		});
		shard.pass(SECOND);
		assertThat(this.bean.calls).as("only what waits is tried").containsExactly("a1", "b2", "a1");
		this.bean.poison.clear();
		shard.pass(SECOND.multipliedBy(10));

		assertThat(this.bean.calls).containsExactly("a1", "b2", "a1", "a1", "b2", "c3", "b4");
		assertThat(shard.worker().problem()).isNull();
	}

	@Test
	void metersShowWhatWaitsHereAndHowNearItsBoundsAre() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings().parking(4, 10, AfterDelays.REPEAT));
		assertThat(totals(shard)).isEqualTo("0 keys, 0 records, 0.0");
		this.bean.poison.addAll(Set.of("a1", "b2"));
		offer(shard, 1, "a1", "b2", "a3", "a4");
		assertThat(totals(shard)).isEqualTo("2 keys, 4 records, 0.5");
		offer(shard, 5, "a5", "a6");
		assertThat(totals(shard)).isEqualTo("2 keys, 6 records, 0.6");

		shard.worker().drain();
		shard.run();
		assertThat(totals(shard)).as("not here any more").isEqualTo("0 keys, 0 records, 0.0");
		shard.restart();
		assertThat(totals(shard)).isEqualTo("2 keys, 6 records, 0.6");
		this.bean.poison.remove("a1");
		shard.pass(SECOND);
		assertThat(totals(shard)).isEqualTo("1 keys, 1 records, 0.25");
		this.bean.poison.clear();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(totals(shard)).isEqualTo("0 keys, 0 records, 0.0");
	}

	private static String totals(ConsumingShard shard) {
		ParkedTotals totals = shard.parked();
		return "%d keys, %d records, %s".formatted(totals.keys(), totals.records(), totals.used());
	}

	@Test
	void shardResumesWhenAnOperatorHasMadeRoom() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings().parking(1, 1000, AfterDelays.REPEAT));
		this.bean.poison.addAll(Set.of("a1", "b2"));
		offer(shard, 1, "a1", "b2", "c3");
		assertThat(shard.worker().problem()).isNotNull();
		change(shard, WaitingRecord.Change.DROP, "1");

		assertThat(this.bean.calls).containsExactly("a1", "b2", "b2", "c3");
		assertThat(shard.worker().problem()).isNull();
		assertThat(waiting(shard)).containsExactly("2 after 2");
	}

	@Test
	void shardHaltsWhenTooManyRecordsWaitWithTheOrderingKey() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				settings().ordering(Ordering.KEY, 8).parking(100, 2, AfterDelays.REPEAT));
		this.bean.poison.add("a1");
		offer(shard, 1, "a1", "a2", "a3", "b4", "a5");
		assertThat(shard.retries()).isEqualTo(2);
		assertThat(shard.worker().problem()).satisfies(
				(problem) -> assertThat(problem.text()).contains("Halted at offset 3", "park-key.max-records' (2)"));
		this.bean.poison.clear();
		shard.pass(SECOND);

		assertThat(this.bean.calls.stream().filter((call) -> call.startsWith("a"))).containsExactly("a1", "a1", "a2",
				"a3", "a5");
		assertThat(this.bean.calls).contains("b4");
		assertThat(shard.worker().problem()).isNull();
	}

	@Test
	void recordsOfABatchWaitBehindTheFirstThatFails() {
		Batches batches = new Batches();
		ConsumingShard shard = new ConsumingShard(batches, settings());
		batches.poison.add("a1");
		offer(shard, 1, "a1", "b2", "a3");
		assertThat(batches.calls).containsExactly("[a1, b2, a3]", "[a1]", "[b2]");
		batches.poison.clear();
		offer(shard, 4, "a4", "b5");
		assertThat(batches.calls).endsWith("[b2]", "[b5]");
		shard.pass(SECOND);

		assertThat(batches.calls).endsWith("[b5]", "[a1]", "[a3]", "[a4]");
	}

	@Test
	void longSequenceOfOneKeyDoesNotStopOthers() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.add("a1");
		offer(shard, 1, "a1");
		for (int i = 2; i <= 30; i++) {
			shard.offer(i, "a", "a" + i);
		}
		shard.run();
		this.bean.calls.clear();
		this.bean.poison.clear();
		shard.clock().advance(SECOND);
		offer(shard, 31, "b31", "a32");

		assertThat(this.bean.calls).hasSize(32);
		assertThat(this.bean.calls.indexOf("b31")).isEqualTo(10);
		assertThat(this.bean.calls).endsWith("a30", "a32");
	}

	@Test
	void recordThatCannotBeConvertedKeepsTheOrderOfItsKey() {
		ConsumingShard shard = new ConsumingShard(new Numbers(this.bean), settings());
		shard.offer(1, "a", "wrong");
		shard.offer(2, "a", "2");
		shard.offer(3, "b", "3");
		shard.run();
		shard.pass(SECOND.multipliedBy(10));

		assertThat(this.bean.calls).containsExactly("3");
		assertThat(waiting(shard)).containsExactly("1 after 2", "2 after 0");
	}

	@Test
	void whatAnOperatorDropsOrHastensCounts() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.addAll(Set.of("a1", "b2"));
		offer(shard, 1, "a1", "b2", "a3", "b4", "a5");
		this.bean.poison.clear();
		change(shard, WaitingRecord.Change.DROP, "1", "3");
		assertThat(this.bean.calls).as("the next one of the key").containsExactly("a1", "b2", "a5");
		change(shard, WaitingRecord.Change.RETRY_NOW, "2");

		assertThat(this.bean.calls).containsExactly("a1", "b2", "a5", "b2", "b4");
	}

	@Test
	void ownerThatWritesBackKeepsWhatIsStillThere() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.add("a1");
		offer(shard, 1, "a1");
		shard.checkpoints().empty();
		offer(shard, 2, "a2", "b3");
		shard.pass(SECOND.multipliedBy(10));
		offer(shard, 4, "a4");

		assertThat(this.bean.calls).as("what the store has lost does not stop the others")
			.containsExactly("a1", "a2", "b3", "a4");
	}

	@Test
	void recordsThatAreReadAgainAfterASeekStayInOrder() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.add("a1");
		offer(shard, 1, "a1", "a2");
		shard.checkpoints().seek(ConsumingShard.SHARD, new Offset("0"), false);
		shard.worker().attend();
		shard.run();
		this.bean.poison.clear();
		offer(shard, 1, "a1", "a2", "a3");

		assertThat(this.bean.calls).as("tried again, and handled again").containsExactly("a1", "a1", "a2", "a2", "a3");
		shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.calls).hasSize(5);
		assertThat(shard.retries()).isZero();
	}

	@Test
	void laterRecordsAreNotDueBeforeEarlierOnesForAVersionThatDoesNotKnowThem() {
		ConsumingShard shard = new ConsumingShard(this.bean, settings());
		this.bean.poison.add("a9");
		offer(shard, 9, "a9", "a10", "a11");
		shard.worker().drain();
		shard.run();
		shard.clock().advance(SECOND.multipliedBy(2));

		assertThat(shard.checkpoints().due(ConsumingShard.SHARD, 10, 1_000_000, Set.of()).records())
			.extracting((record) -> record.offset().value())
			.containsExactly("9", "10", "11");
	}

	@Test
	void whatDoesNotGoTogetherIsRefused() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> new ConsumingShard(this.bean, settings().ordering(Ordering.NONE, 2)))
			.withMessageContaining("'park-key', but 'consumer.ordering' is 'none'");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> new ConsumingShard(new ByHand(), settings().commits(CommitMode.MANUAL, SECOND, 10)))
			.withMessageContaining("'park-key', but 'consumer.commit.mode' is 'manual'");
	}

	/** Offers payloads, whose first letters are their keys. */
	private static void offer(ConsumingShard shard, int first, String... payloads) {
		for (int i = 0; i < payloads.length; i++) {
			shard.offer(first + i, payloads[i].substring(0, 1), payloads[i]);
		}
		shard.run();
	}

	private static void change(ConsumingShard shard, WaitingRecord.Change change, String... offsets) {
		List<Offset> changed = List.of(offsets).stream().map(Offset::new).toList();
		assertThat(shard.checkpoints().changeWaiting(ConsumingShard.SHARD, changed, change)).isEqualTo(offsets.length);
		shard.worker().attend();
		shard.run();
	}

	/** What waits, with its attempts, like {@code 3 after 5}. */
	private static List<String> waiting(ConsumingShard shard) {
		List<String> waiting = new ArrayList<>();
		shard.checkpoints()
			.waiting(ConsumingShard.SHARD, (record) -> waiting.add(record.offset() + " after " + record.attempts()));
		waiting.sort(null);
		return waiting;
	}

	static class Poisoned {

		final List<String> calls = new ArrayList<>();

		final Set<String> poison = new HashSet<>();

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record, ShardState state) {
			this.calls.add(record.payload());
			state.increment("count", 1);
			if (this.poison.contains(record.payload())) {
				throw new AssertionError("caused by the test");
			}
		}

	}

	static class Batches {

		final List<String> calls = new ArrayList<>();

		final Set<String> poison = new HashSet<>();

		@ShardConsumer("orders")
		void handle(List<String> payloads) {
			this.calls.add(payloads.toString());
			if (payloads.stream().anyMatch(this.poison::contains)) {
				throw new AssertionError("caused by the test");
			}
		}

	}

	static class Numbers {

		private final Poisoned calls;

		Numbers(Poisoned calls) {
			this.calls = calls;
		}

		@ShardConsumer("orders")
		void handle(Integer number) {
			this.calls.calls.add(number.toString());
		}

	}

	static class ByHand {

		@ShardConsumer("orders")
		void handle(String payload, io.github.shardkeeper.Acknowledgment acknowledgment) {
			acknowledgment.acknowledge();
		}

	}

}
