package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.output.OutboxUsage;
import io.github.shardkeeper.output.TestTargets;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.TransactedCallsTests.Outcome;
import io.github.shardkeeper.worker.TransactedCallsTests.Transactions;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static io.github.shardkeeper.output.TestTargets.INVOICES;
import static io.github.shardkeeper.output.TestTargets.MAILS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Records that handlers send in transactions of their calls: each target has those of the
 * calls whose rows are committed.
 */
@Promise("Records exactly once")
class SentInTransactedCallsTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Sending bean = new Sending();

	private Transactions transactions;

	private TestTargets targets;

	@Test
	void recordsAreForwardedAfterTheTransaction() {
		ConsumingShard shard = consume(new TestSettings());
		this.transactions.beforeItsEnd = () -> assertThat(this.targets.requests()).isEmpty();
		shard.deliver(1, 1);
		this.transactions.beforeItsEnd = () -> {
		};
		shard.deliver(2, 3);

		assertThat(this.transactions.rows).containsExactly("r1", "r2", "r3");
		assertThat(this.targets.received(MAILS)).containsExactly("r1", "r2", "r3");
		assertThat(this.targets.received(INVOICES)).containsExactly("r1", "r2", "r3");
	}

	/** So one round trip more for a call after one that has sent. */
	@Test
	void nextTransactionRemovesWhatWasForwarded() {
		ConsumingShard shard = consume(new TestSettings());
		shard.deliver(1, 1);
		assertThat(waiting(shard)).containsExactly("r1", "r1");
		shard.deliver(2, 2);

		assertThat(waiting(shard)).containsExactly("r2", "r2");
		assertThat(shard.checkpoints().sent()).as("no commit of its own").isEmpty();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(waiting(shard)).isEmpty();
		assertThat(shard.checkpoints().sent()).as("none followed").hasSize(1);
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoints().sent()).hasSize(1);
	}

	/** It is repeated, and its repetition sends. */
	@Test
	void failedCallsSendNothing() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(2));
		this.bean.failing.add("r2");
		shard.deliver(1, 3);
		shard.pass(SECOND);

		assertThat(this.targets.received(MAILS)).containsExactly("r1", "r3");
		assertThat(shard.deadLetters()).containsExactly("2 after 2");
		assertThat(this.targets.received(INVOICES)).containsExactly("r1", "r3");
	}

	/** Their rows and what they send are rolled back with each attempt that fails. */
	@Test
	void keyThatWaitsSendsOnceItIsHandledAndInItsOrder() {
		ConsumingShard shard = consume(
				new TestSettings().maxAttempts(1).onFailure(OnFailure.PARK_KEY, SECOND, SECOND.multipliedBy(10)));
		this.bean.failing.add("a1");
		shard.offer(1, "a", "a1");
		shard.offer(2, "a", "a2");
		shard.offer(3, "b", "b3");
		shard.run();
		shard.pass(SECOND);
		assertThat(this.targets.received(MAILS)).containsExactly("b3");

		this.bean.failing.clear();
		shard.pass(SECOND.multipliedBy(10));
		shard.offer(4, "a", "a4");
		shard.run();
		shard.pass(SECOND.multipliedBy(60));

		assertThat(this.transactions.rows).containsExactly("b3", "a1", "a2", "a4");
		assertThat(this.targets.received(MAILS)).containsExactly("b3", "a1", "a2", "a4");
		assertThat(this.targets.received(INVOICES)).containsExactly("b3", "a1", "a2", "a4");
	}

	@Test
	void transactionThatGivesWaySendsOnce() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.conflicts = 3;
		shard.deliver(1, 2);

		assertThat(this.targets.received(MAILS)).containsExactly("r1", "r2");
	}

	@Test
	void recordsOfATransactionWithoutAnAnswerAreForwardedOnceItIsKnownToBeCommitted() {
		ConsumingShard shard = consume(new TestSettings());
		this.transactions.next = Outcome.COMMITTED_WITHOUT_ANSWER;
		shard.checkpoints().setAway(true);
		shard.deliver(1, 1);
		assertThat(this.targets.requests()).isEmpty();
		this.transactions.next = Outcome.COMMITTED;
		shard.checkpoints().setAway(false);
		shard.pass(SECOND);
		shard.deliver(2, 2);

		assertThat(this.targets.received(MAILS)).containsExactly("r1", "r2");
	}

	/** Its numbers are given again, so there is no gap either. */
	@Test
	void recordsOfALostTransactionAreSentByItsRepetition() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.next = Outcome.LOST_WITHOUT_ANSWER;
		shard.deliver(1, 1);
		assertThat(this.targets.requests()).isEmpty();
		this.transactions.next = Outcome.COMMITTED;
		shard.pass(SECOND);
		shard.deliver(2, 2);

		assertThat(this.targets.received(MAILS)).containsExactly("r1", "r2");
		assertThat(this.targets.requests()).filteredOn((batch) -> batch.to().equals(MAILS))
			.extracting((batch) -> batch.first())
			.containsExactly(1L, 2L);
	}

	@Test
	void fencedTransactionSendsNothing() {
		ConsumingShard shard = consume(new TestSettings());
		shard.checkpoints().acquireNow(ConsumingShard.SHARD, new Token(99));
		shard.deliver(1, 1);

		assertThat(this.targets.requests()).isEmpty();
		assertThat(shard.ended()).containsExactly("released");
	}

	/** A rolled back transaction has taken along what was forwarded. */
	@Test
	void whatWasForwardedIsRemovedThoughTheNextTransactionIsLost() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		shard.deliver(1, 1);
		this.transactions.next = Outcome.LOST_WITHOUT_ANSWER;
		shard.deliver(2, 2);
		this.transactions.next = Outcome.COMMITTED;
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(10));

		assertThat(waiting(shard)).isEmpty();
		assertThat(this.targets.received(MAILS)).containsExactly("r1", "r2");
	}

	@Test
	void nextOwnerForwardsWhatWaitsAndContinuesTheNumbers() {
		ConsumingShard shard = consume(new TestSettings());
		this.targets.hold();
		shard.deliver(1, 2);
		assertThat(this.targets.received(MAILS)).isEmpty();

		shard.restart();
		shard.deliver(3, 4);
		this.targets.deliver();
		shard.run();

		assertThat(this.targets.received(MAILS)).containsExactly("r1", "r2", "r3", "r4");
		assertThat(this.targets.received(INVOICES)).containsExactly("r1", "r2", "r3", "r4");
	}

	@Test
	void seekLeavesWhatWaits() {
		ConsumingShard shard = consume(new TestSettings());
		this.targets.refuse(INVOICES);
		shard.deliver(1, 2);
		shard.checkpoints().seek(ConsumingShard.SHARD, new Offset("1"), true);
		shard.worker().attend();
		shard.run();
		this.targets.refuse(null);
		shard.deliver(2, 3);
		shard.pass(SECOND.multipliedBy(60));

		assertThat(this.targets.received(INVOICES)).containsExactly("r1", "r2", "r2", "r3");
	}

	@Test
	void fullOutboxStopsTheShard() {
		ConsumingShard shard = consume(new TestSettings());
		this.targets.refuse(INVOICES);
		shard.deliver(1, 2 * ConsumingShard.MAX_SENT);
		assertThat(this.transactions.rows).hasSize(ConsumingShard.MAX_SENT);
		assertThat(shard.worker().problem()).asString().startsWith("Takes no more records, because");
		assertThat(shard.worker().outbox()).isNotNull()
			.satisfies((waiting) -> assertThat(waiting.records()).isEqualTo(ConsumingShard.MAX_SENT))
			.satisfies((waiting) -> assertThat(waiting.since()).isNotNull());

		this.targets.refuse(null);
		shard.pass(SECOND.multipliedBy(60));
		assertThat(shard.worker().outbox()).isEqualTo(new OutboxUsage.Waiting(0, 0, null));
		assertThat(this.targets.received(INVOICES)).hasSize(2 * ConsumingShard.MAX_SENT);
	}

	/** The database was restored to an earlier state, and its numbers are given again. */
	@Test
	void recordsAreNotLostWhenTheDatabaseHasLostCommits() {
		ConsumingShard shard = consume(new TestSettings());
		shard.deliver(1, 1);
		Object before = shard.checkpoints().snapshot();
		shard.deliver(2, 3);
		shard.worker().abandon();
		shard.run();
		shard.checkpoints().loseWritesSince(before);
		shard.restart();
		shard.deliver(2, 3);
		shard.pass(SECOND.multipliedBy(60));
		shard.deliver(4, 4);

		assertThat(this.targets.received(INVOICES)).containsExactly("r1", "r2", "r3", "r2", "r3", "r4");
	}

	/** Otherwise nothing would be sent for as long as calls overlap. */
	@Test
	void newEraWaitsForRunningCallsAndNoOthersBegin() {
		ConsumingShard shard = consume(new TestSettings().ordering(Ordering.KEY, 8));
		shard.offer(1, "a", "a1");
		shard.run();
		Object before = shard.checkpoints().snapshot();
		shard.offer(2, "b", "b2");
		shard.run();
		shard.worker().abandon();
		shard.run();
		shard.checkpoints().loseWritesSince(before);
		this.targets.hold();
		shard.restart();
		List<String> during = new ArrayList<>();
		this.bean.onCall = (record) -> {
			if (record.equals("open")) {
				// The other call ends, with a number that the last owner has given, too.
				shard.threads().runAll();
				this.targets.deliver();
				shard.threads().runAll();
				shard.offer(4, "d", "later");
				shard.threads().runAll();
				during.addAll(this.bean.handled);
			}
		};
		shard.offer(2, "c", "open");
		shard.offer(3, "b", "ended");
		shard.run();
		shard.pass(SECOND.multipliedBy(60));

		assertThat(during).endsWith("open", "ended");
		assertThat(this.bean.handled).endsWith("open", "ended", "later");
		assertThat(this.targets.received(INVOICES)).containsSubsequence("a1", "b2", "ended", "open", "later");
	}

	@Test
	void batchSendsInOneTransaction() {
		ConsumingShard shard = consume(new SendingBatches(), new TestSettings().batchSize(10));
		shard.deliver(1, 5);

		assertThat(this.targets.received(MAILS)).containsExactly("5 records");
	}

	/** What is sent by its listeners could not be a part of it any more. */
	@Test
	void outputIsClosedBeforeTheEndOfTheTransaction() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		List<String> checked = new ArrayList<>();
		this.transactions.beforeItsEnd = () -> {
			assertThatIllegalStateException().isThrownBy(() -> this.bean.last.send("mails", null, "late"))
				.withMessageContaining("inside the call");
			checked.add("refused");
		};
		shard.deliver(1, 1);

		assertThat(checked).containsExactly("refused");
		assertThat(this.targets.received(MAILS)).containsExactly("r1");
	}

	/** A transaction begins and ends while that of an earlier record is open. */
	@Test
	void keysSendInTheOrderOfTheirCommits() {
		ConsumingShard shard = consume(new TestSettings().ordering(Ordering.KEY, 8));
		this.bean.onCall = (record) -> {
			if (record.equals("a1")) {
				shard.threads().runOne();
				assertThat(this.transactions.rows).containsExactly("b2");
			}
		};
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.offer(3, "a", "a3");
		shard.run();

		assertThat(this.transactions.rows).containsExactly("b2", "a1", "a3");
		assertThat(this.targets.received(MAILS)).containsExactly("b2", "a1", "a3");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
	}

	@Test
	void recordsAreForwardedWhileAnotherCallRuns() {
		ConsumingShard shard = consume(new TestSettings().ordering(Ordering.KEY, 8));
		List<String> during = new ArrayList<>();
		this.bean.onCall = (record) -> {
			if (record.equals("a1")) {
				// The other call, and then the worker.
				shard.threads().runOne();
				shard.threads().runOne();
				during.addAll(this.targets.received(MAILS));
			}
		};
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.run();

		assertThat(during).containsExactly("b2");
		assertThat(this.targets.received(MAILS)).containsExactly("b2", "a1");
		assertThat(waiting(shard)).as("removed by the transaction that was open").containsExactly("a1", "a1");
	}

	private static List<String> waiting(ConsumingShard shard) {
		return shard.checkpoints()
			.outbox(ConsumingShard.SHARD, null, 100, 1_000_000)
			.stream()
			.map(Outbox.Entry::payload)
			.map(String::new)
			.toList();
	}

	private ConsumingShard consume(TestSettings settings) {
		return consume(this.bean, settings);
	}

	private ConsumingShard consume(Object handler, TestSettings settings) {
		ConsumingShard shard = new ConsumingShard(handler, settings, (created) -> {
			this.transactions = new Transactions(created.checkpoints());
			created.checkpoints().transact(this.transactions);
		});
		this.bean.transactions = this.transactions;
		this.targets = shard.targets();
		return shard;
	}

	static class Sending {

		private final Set<String> failing = new HashSet<>();

		private final List<String> handled = new ArrayList<>();

		private Consumer<String> onCall = (record) -> {
		};

		private Transactions transactions;

		private ShardOutput last;

		@ShardConsumer("orders")
		void handle(byte[] payload, ShardOutput output) {
			String record = new String(payload);
			this.last = output;
			this.handled.add(record);
			output.send("invoices", "0", record);
			this.onCall.accept(record);
			output.send("mails", null, record);
			this.transactions.open.add(record);
			if (this.failing.contains(record)) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	static class SendingBatches {

		@ShardConsumer("orders")
		void handle(List<byte[]> records, ShardOutput output) {
			output.send("mails", null, records.size() + " records");
		}

	}

}
