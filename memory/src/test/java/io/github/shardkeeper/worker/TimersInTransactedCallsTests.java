package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.TransactedCallsTests.Outcome;
import io.github.shardkeeper.worker.TransactedCallsTests.Transactions;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Timers that handlers set and cancel in transactions of their calls: they change with
 * the rows of the call, and a timer is removed by the transaction of its own.
 */
@Promise("Timers fire once")
class TimersInTransactedCallsTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Instant AT = Instant.EPOCH.plusSeconds(10);

	private final Reminders bean = new Reminders();

	private Transactions transactions;

	private ConsumingShard shard;

	private int offered;

	@Test
	void timersAreSetAndRemovedByTheTransactionsOfTheirCalls() {
		consume(new TestSettings());
		offer("a set", "b set");
		assertThat(waiting()).containsExactly("a", "b");
		this.transactions.beforeItsEnd = () -> assertThat(waiting()).contains("b");
		this.shard.pass(SECOND.multipliedBy(10));

		assertThat(this.transactions.rows).containsExactly("a set", "b set", "a fired", "b fired");
		assertThat(waiting()).isEmpty();
		assertThat(this.shard.checkpoints().sent()).as("no commit of its own").isEmpty();
	}

	@Test
	void timerOfALostTransactionFiresAgainAndItsRowIsThereOnce() {
		consume(new TestSettings());
		offer("a set");
		this.transactions.next = Outcome.LOST_WITHOUT_ANSWER;
		this.shard.pass(SECOND.multipliedBy(10));
		assertThat(waiting()).containsExactly("a");
		this.transactions.next = Outcome.COMMITTED;
		this.shard.pass(SECOND.multipliedBy(5));

		assertThat(this.transactions.rows).containsExactly("a set", "a fired");
		assertThat(waiting()).isEmpty();
	}

	@Test
	void timerOfACommittedTransactionWithoutAnAnswerDoesNotFireAgain() {
		consume(new TestSettings());
		offer("a set");
		this.transactions.next = Outcome.COMMITTED_WITHOUT_ANSWER;
		this.shard.checkpoints().setAway(true);
		this.shard.pass(SECOND.multipliedBy(10));
		this.transactions.next = Outcome.COMMITTED;
		this.shard.checkpoints().setAway(false);
		this.shard.pass(SECOND.multipliedBy(5));
		this.shard.pass(SECOND.multipliedBy(5));

		assertThat(this.transactions.rows).containsExactly("a set", "a fired");
		assertThat(waiting()).isEmpty();
	}

	@Test
	void failedTransactionChangesNoTimers() {
		consume(new TestSettings().maxAttempts(1));
		offer("a set");
		this.bean.failing.addAll(Set.of("a cancel", "a fired"));
		offer("a cancel");
		assertThat(waiting()).containsExactly("a");
		this.shard.pass(SECOND.multipliedBy(10));

		assertThat(this.transactions.rows).containsExactly("a set");
		assertThat(waiting()).as("it is a dead letter").isEmpty();
		assertThat(this.shard.letters()).hasSize(2);
	}

	@Test
	void failingTimerWaitsInTheRetryQueue() {
		consume(new TestSettings().maxAttempts(1).onFailure(OnFailure.RETRY_QUEUE, SECOND.multipliedBy(20)));
		offer("a set");
		this.bean.failing.add("a fired");
		this.shard.pass(SECOND.multipliedBy(10));
		assertThat(this.shard.retries()).isOne();
		assertThat(waiting()).isEmpty();
		this.bean.failing.clear();
		this.shard.pass(SECOND.multipliedBy(20));

		assertThat(this.transactions.rows).containsExactly("a set", "a fired");
		assertThat(this.shard.retries()).isZero();
	}

	@Test
	void transactionOfAnotherKeyCancelsATimerWhoseCallRuns() {
		consume(new TestSettings().ordering(Ordering.KEY, 4));
		offer("a set");
		this.bean.during.put("a fired", () -> offer("b cancels a"));
		this.shard.pass(SECOND.multipliedBy(10));
		this.shard.pass(SECOND.multipliedBy(10));

		assertThat(this.transactions.rows).containsExactly("a set", "b cancels a");
		assertThat(waiting()).isEmpty();
	}

	@Test
	void nextOwnerFiresWhatItsPredecessorHasSet() {
		consume(new TestSettings());
		offer("a set", "b set", "b cancel");
		this.shard.worker().drain();
		this.shard.run();
		this.shard.pass(SECOND.multipliedBy(20));
		this.shard.restart();

		assertThat(this.transactions.rows).endsWith("b cancel", "a fired");
		assertThat(waiting()).isEmpty();
	}

	private void consume(TestSettings settings) {
		ConsumingShard[] created = new ConsumingShard[1];
		InstantSource wall = () -> (created[0] != null) ? Instant.EPOCH.plusNanos(created[0].clock().now().nanos())
				: Instant.EPOCH;
		this.shard = ConsumingShard.withWallClock(this.bean, settings, wall, (shard) -> {
			created[0] = shard;
			this.transactions = new Transactions(shard.checkpoints());
			shard.checkpoints().transact(this.transactions);
		});
		this.bean.transactions = this.transactions;
	}

	private void offer(String... payloads) {
		for (String payload : payloads) {
			this.offered++;
			this.shard.offer(this.offered, payload.substring(0, 1), payload);
		}
		this.shard.run();
	}

	private List<String> waiting() {
		return this.shard.checkpoints()
			.store()
			.timers(ConsumingShard.SHARD, null, 10)
			.stream()
			.map((timer) -> timer.id().key())
			.toList();
	}

	static final class Reminders {

		private final Set<String> failing = new HashSet<>();

		private final Map<String, Runnable> during = new HashMap<>();

		private Transactions transactions;

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record, ShardTimers timers) {
			String[] words = record.payload().split(" ");
			switch (words[1]) {
				case "set" -> timers.set(words[0], "remind", AT);
				case "cancel" -> timers.cancel(words[0], "remind");
				default -> timers.cancel(words[2], "remind");
			}
			write(record.payload());
		}

		@OnShardTimer
		void due(ShardTimer timer) {
			write(timer.key() + " fired");
		}

		private void write(String row) {
			Runnable meanwhile = this.during.remove(row);
			if (meanwhile != null) {
				meanwhile.run();
			}
			this.transactions.open.add(row);
			if (this.failing.contains(row)) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

}
