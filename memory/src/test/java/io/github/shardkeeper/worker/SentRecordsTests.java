package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.output.OutboxUsage.Waiting;
import io.github.shardkeeper.output.TestTargets;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static io.github.shardkeeper.output.TestTargets.INVOICES;
import static io.github.shardkeeper.output.TestTargets.MAILS;
import static io.github.shardkeeper.output.TestTargets.OTHER_INVOICES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Records that handlers send as parts of their calls, with failures in between. */
@Promise("Records exactly once")
class SentRecordsTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final Sender bean = new Sender();

	private final ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings());

	private final TestTargets targets = this.shard.targets();

	@Test
	void recordsAreForwardedAfterTheCommitOfTheirCall() {
		this.shard.checkpoints().holdAnswers();
		this.shard.deliver(1, 1);
		assertThat(this.bean.handled).containsExactly("r1");
		assertThat(this.targets.requests()).as("the commit is not answered").isEmpty();

		this.shard.checkpoints().reply();
		this.shard.run();

		assertThat(this.targets.received(INVOICES)).containsExactly("invoice of r1");
		assertThat(this.targets.received(MAILS)).containsExactly("mail of r1");
	}

	/** Otherwise a shard could handle no more records than it can commit. */
	@Test
	void callsThatReturnMeanwhileShareTheNextCommit() {
		this.shard.checkpoints().holdAnswers();
		this.shard.deliver(1, 4);
		assertThat(this.bean.handled).hasSize(4);
		assertThat(this.shard.checkpoints().sent()).hasSize(1);

		this.shard.checkpoints().reply();
		this.shard.run();

		assertThat(this.shard.checkpoints().sent()).hasSize(2);
		assertThat(this.shard.checkpoints().sent().get(1).outbox().added()).hasSize(6);
		this.shard.checkpoints().answerAll();
		this.shard.run();
		assertInvoices(1, 4);
	}

	@Test
	void nextCommitRemovesWhatWasForwarded() {
		this.shard.deliver(1, 1);
		assertThat(this.shard.checkpoints().outbox(ConsumingShard.SHARD, null, 10, 1000)).hasSize(2);

		this.shard.pass(MINUTE);

		assertThat(this.shard.checkpoints().outbox(ConsumingShard.SHARD, null, 10, 1000)).isEmpty();
		int commits = this.shard.checkpoints().sent().size();
		this.shard.pass(MINUTE);
		assertThat(this.shard.checkpoints().sent()).as("there is nothing more to commit").hasSize(commits);
	}

	@Test
	void failedCallSendsNothingAndItsRepetitionOnce() {
		this.bean.failing.add("r2");
		this.shard.deliver(1, 3);
		assertThat(this.bean.handled).containsExactly("r1", "r2");
		assertInvoices(1, 1);

		this.bean.failing.clear();
		this.shard.pass(MINUTE);

		assertInvoices(1, 3);
	}

	@Test
	void ownerThatIsFencedSendsNothing() {
		this.shard.checkpoints().acquireNow(ConsumingShard.SHARD, new Token(7));
		this.shard.deliver(1, 1);

		assertThat(this.bean.handled).containsExactly("r1");
		assertThat(this.targets.requests()).isEmpty();
		assertThat(this.shard.ended()).containsExactly("released");
	}

	@Test
	void unansweredRequestIsRepeatedBeforeLaterRecords() {
		this.targets.loseAnswers(true);
		this.shard.deliver(1, 3);
		this.shard.pass(MINUTE);
		assertThat(this.targets.requests()).extracting((batch) -> batch.first()).containsOnly(1L);

		this.targets.loseAnswers(false);
		this.shard.pass(MINUTE);

		assertInvoices(1, 3);
		assertThat(this.targets.received(MAILS)).hasSize(3);
	}

	@Test
	void nextOwnerForwardsWhatItsPredecessorHasCommitted() {
		this.targets.hold();
		this.shard.deliver(1, 2);
		assertThat(this.targets.received(INVOICES)).isEmpty();

		this.shard.restart();
		this.shard.deliver(3, 4);
		this.targets.deliver();
		this.shard.run();

		assertInvoices(1, 4);
	}

	/** The predecessor has crashed before it could commit that. */
	@Test
	void nextOwnerDoesNotRepeatWhatWasForwarded() {
		this.shard.deliver(1, 3);
		assertInvoices(1, 3);
		assertThat(this.shard.checkpoints().outbox(ConsumingShard.SHARD, null, 10, 1000)).isNotEmpty();

		this.shard.restart();
		assertThat(this.targets.requests()).as("it was sent again").hasSizeGreaterThan(4);
		this.shard.deliver(4, 5);

		assertInvoices(1, 5);
		assertThat(this.targets.received(MAILS)).hasSize(5);
	}

	/** It repeats what is committed, in order. */
	@Test
	void lateRequestOfAnEarlierOwnerChangesNothing() {
		this.targets.hold();
		this.shard.deliver(1, 2);
		List<?> early = List.copyOf(this.targets.requests());
		this.shard.restart();
		this.shard.deliver(3, 3);
		assertThat(this.targets.requests()).hasSizeGreaterThan(early.size());

		// Those of both owners arrive, the earlier ones first and last.
		this.targets.deliver();
		this.shard.run();

		assertInvoices(1, 3);
	}

	@Test
	void fullOutboxStopsTheShardAndNamesTheReason() {
		this.targets.refuse(INVOICES);
		this.shard.deliver(1, 2 * ConsumingShard.MAX_SENT);

		assertThat(this.bean.handled).hasSize(ConsumingShard.MAX_SENT);
		assertThat(this.targets.received(MAILS)).as("others go on").hasSize(ConsumingShard.MAX_SENT);
		assertThat(this.shard.worker().problem()).hasToString(
				"Takes no more records, because records that it has sent cannot be appended to invoices/0: refused, caused by the test");

		this.targets.refuse(null);
		this.shard.pass(MINUTE);

		assertInvoices(1, 2 * ConsumingShard.MAX_SENT);
		assertThat(this.shard.worker().problem()).isNull();
	}

	@Test
	void refusingTargetIsAProblemOfAShardThatContinues() {
		this.targets.refuse(MAILS);
		this.shard.deliver(1, 2);

		assertThat(this.shard.worker().problem()).hasToString(
				"Continues, but records that it has sent cannot be appended to mails/0: refused, caused by the test");
	}

	@Test
	void errorOfATargetIsAProblemOfAShardThatContinues() {
		this.targets.refuse(MAILS, new NoClassDefFoundError("caused by the test"));
		this.shard.deliver(1, 2);
		assertThat(this.bean.handled).hasSize(2);
		assertThat(this.shard.worker().problem())
			.hasToString("Continues, but records that it has sent cannot be appended to mails/0: caused by the test");
		this.targets.refuse(null);
		this.shard.pass(MINUTE);

		assertThat(this.targets.received(MAILS)).containsExactly("mail of r1", "mail of r2");
	}

	/** It is an alarm, and the call may be retried for long. */
	@Test
	void refusingTargetIsShownAlsoWhileACallIsRetried() {
		this.targets.refuse(MAILS);
		this.shard.deliver(1, 1);
		this.bean.failing.add("r2");
		this.shard.deliver(2, 2);
		assertThat(this.shard.worker().problem()).hasToString(
				"Continues, but records that it has sent cannot be appended to mails/0: refused, caused by the test");

		this.targets.refuse(null);
		this.shard.pass(SECOND);

		assertThat(this.targets.received(MAILS)).containsExactly("mail of r1");
		assertThat(this.shard.worker().problem()).asString().contains("keeps failing");
	}

	@Test
	void whatWaitsIsKnownFromTheFirstRecordToTheLast() {
		assertThat(this.shard.worker().outbox()).as("it has never sent anything").isNull();
		this.shard.deliver(1, 1);
		assertThat(this.shard.worker().outbox()).isEqualTo(new Waiting(0, 0, null));

		this.targets.refuse(INVOICES);
		MonotonicTime first = this.shard.clock().now();
		this.shard.deliver(2, 3);
		assertThat(this.shard.worker().outbox()).isEqualTo(new Waiting(2, 2 * "invoice of r2".length() + 2, first));
		this.shard.pass(MINUTE);
		this.shard.deliver(4, 4);
		assertThat(this.shard.worker().outbox()).as("the first one has waited since then")
			.isEqualTo(new Waiting(3, 3 * "invoice of r2".length() + 3, first));

		this.shard.restart();
		MonotonicTime second = this.shard.clock().now();
		assertThat(this.shard.worker().outbox()).as("the next owner knows no earlier time")
			.isEqualTo(new Waiting(3, 3 * "invoice of r2".length() + 3, second));

		this.targets.refuse(null);
		this.shard.pass(MINUTE);
		assertThat(this.shard.worker().outbox()).isEqualTo(new Waiting(0, 0, null));
		assertInvoices(1, 4);
	}

	/** What is on its way does not wait since the first record of all. */
	@Test
	void timeBeginsAgainWithEachRecordThatIsAppended() {
		this.targets.refuse(INVOICES);
		this.shard.deliver(1, 1);
		this.targets.refuse(null);
		this.targets.hold();
		this.shard.pass(MINUTE);
		this.shard.deliver(2, 2);
		MonotonicTime answered = this.shard.clock().now();

		this.targets.deliver();
		this.targets.hold();
		this.shard.run();

		assertThat(this.targets.received(INVOICES)).containsExactly("invoice of r1");
		assertThat(this.shard.worker().outbox())
			.satisfies((waiting) -> assertThat(waiting.since()).isEqualTo(answered));
	}

	/** A shard that cannot be acquired yet may have an outbox. */
	@Test
	void whatWaitsIsNotKnownBeforeItIsRead() {
		this.targets.refuse(INVOICES);
		this.shard.deliver(1, 1);
		this.shard.checkpoints().setAway(true);
		this.shard.restart();
		assertThat(this.shard.worker().outbox()).isNull();

		this.shard.checkpoints().setAway(false);
		this.shard.pass(MINUTE);

		assertThat(this.shard.worker().outbox()).satisfies((waiting) -> assertThat(waiting.records()).isOne());
	}

	@Test
	void releaseWaitsForAnswersOfTargets() {
		this.targets.hold();
		this.shard.deliver(1, 1);
		this.shard.worker().drain();
		this.shard.run();
		assertThat(this.shard.ended()).isEmpty();

		this.targets.deliver();
		this.shard.run();

		assertThat(this.shard.ended()).containsExactly("released");
		assertThat(this.shard.checkpoints().outbox(ConsumingShard.SHARD, null, 10, 1000)).isEmpty();
	}

	@Test
	void releaseDoesNotWaitForATargetThatRefuses() {
		this.targets.refuse(INVOICES);
		this.shard.deliver(1, 1);
		this.shard.worker().drain();
		this.shard.run();

		assertThat(this.shard.ended()).containsExactly("released");
		this.targets.refuse(null);
		this.shard.restart();
		assertInvoices(1, 1);
	}

	@Test
	void emptiedStoreGetsRecordsAndNumbersBack() {
		this.targets.refuse(INVOICES);
		this.shard.deliver(1, 2);
		this.shard.checkpoints().empty();
		this.shard.deliver(3, 3);
		this.shard.pass(Duration.ofSeconds(10));
		assertThat(this.shard.checkpoints().outbox(ConsumingShard.SHARD, null, 10, 1000)).hasSize(3);

		this.targets.refuse(null);
		this.shard.restart();
		this.shard.deliver(4, 4);

		assertInvoices(1, 4);
		assertThat(this.targets.received(MAILS)).hasSize(4);
	}

	/** Its numbers were given to other records: they must not be taken for these. */
	@Test
	void recordsAreNotLostWhenTheStoreHasLostCommits() {
		this.shard.deliver(1, 1);
		Object before = this.shard.checkpoints().snapshot();
		this.shard.deliver(2, 3);
		this.shard.worker().abandon();
		this.shard.run();
		this.shard.checkpoints().loseWritesSince(before);
		this.shard.restart();
		this.bean.prefix = "second ";
		this.shard.deliver(2, 3);
		this.shard.pass(MINUTE);

		assertThat(this.targets.received(INVOICES)).containsExactly("invoice of r1", "invoice of r2", "invoice of r3",
				"second invoice of r2", "second invoice of r3");
		this.shard.deliver(4, 4);
		assertThat(this.targets.received(INVOICES)).endsWith("second invoice of r4");
	}

	/** The mark of a target is lost with its records, above all in a failover. */
	@Test
	void targetThatHasLostEverythingReceivesAgain() {
		this.shard.deliver(1, 2);
		this.targets.empty();
		this.shard.deliver(3, 4);
		this.shard.pass(MINUTE);

		assertInvoices(3, 4);
	}

	@Test
	void seekLeavesWhatWasSent() {
		this.targets.refuse(INVOICES);
		this.shard.deliver(1, 2);
		this.shard.checkpoints().seek(ConsumingShard.SHARD, new Offset("1"), true);
		this.shard.worker().attend();
		this.shard.run();
		this.targets.refuse(null);
		this.shard.deliver(2, 3);
		this.shard.pass(MINUTE);

		assertThat(this.targets.received(INVOICES)).containsExactly("invoice of r1", "invoice of r2", "invoice of r2",
				"invoice of r3");
	}

	@Test
	void targetsHaveNumbersOfTheirOwn() {
		this.bean.alternates = true;
		this.shard.deliver(1, 6);

		assertThat(this.targets.received(INVOICES)).containsExactly("invoice of r2", "invoice of r4", "invoice of r6");
		assertThat(this.targets.received(OTHER_INVOICES)).containsExactly("invoice of r1", "invoice of r3",
				"invoice of r5");
	}

	@Test
	void outputCannotBeUsedAfterTheCall() {
		this.shard.deliver(1, 1);

		assertThatIllegalStateException().isThrownBy(() -> this.bean.last.send("mails", null, "late"))
			.withMessageContaining("inside the call");
	}

	@Test
	void acknowledgedRecordsSend() {
		Acknowledging manual = new Acknowledging();
		ConsumingShard other = new ConsumingShard(manual,
				new TestSettings().commits(CommitMode.MANUAL, Duration.ofSeconds(5), 1000));
		other.deliver(1, 2);
		other.pass(MINUTE);
		assertThat(other.targets().received(MAILS)).isEmpty();

		manual.acknowledgments.get(0).acknowledge();
		other.run();

		assertThat(other.targets().received(MAILS)).containsExactly("r1");
	}

	@Test
	void batchSendsOnce() {
		ConsumingShard other = new ConsumingShard(new Batches(), new TestSettings());
		other.deliver(1, 5);

		assertThat(other.targets().received(MAILS)).containsExactly("5 records");
	}

	/** Each call ends while those of earlier records are open. */
	@Test
	void concurrentCallsSendInTheOrderInWhichTheyAreDone() {
		ConsumingShard other = new ConsumingShard(this.bean, new TestSettings().ordering(Ordering.KEY, 4));
		this.bean.onCall = (record) -> {
			if (Set.of("a1", "b2").contains(record)) {
				other.threads().runOne();
			}
		};
		other.offer(1, "a", "a1");
		other.offer(2, "b", "b2");
		other.offer(3, "c", "c3");
		other.offer(4, "a", "a4");
		other.run();

		assertThat(this.bean.handled).containsExactly("a1", "b2", "c3", "a4");
		assertThat(other.targets().received(INVOICES)).containsExactly("invoice of c3", "invoice of b2",
				"invoice of a1", "invoice of a4");
		assertThat(other.targets().received(MAILS)).containsExactly("mail of c3", "mail of b2", "mail of a1",
				"mail of a4");
	}

	/** Its failed calls have sent before they failed. */
	@Test
	void keyThatWaitsSendsOnceItIsHandledAndInItsOrder() {
		ConsumingShard other = new ConsumingShard(this.bean, parking());
		this.bean.failing.add("a1");
		offerOneThatFailsAndOthers(other);
		other.pass(SECOND);
		assertThat(this.bean.handled).containsExactly("a1", "b3", "a1");
		assertThat(other.targets().received(INVOICES)).containsExactly("invoice of b3");

		this.bean.failing.clear();
		other.pass(SECOND.multipliedBy(10));
		other.offer(5, "a", "a5");
		other.run();
		other.pass(MINUTE);

		assertThat(other.targets().received(INVOICES)).containsExactly("invoice of b3", "invoice of a1",
				"invoice of a2", "invoice of a4", "invoice of a5");
		assertThat(other.targets().received(MAILS)).hasSize(5);
	}

	@Test
	void keyThatWaitsSendsByTheNextOwnerAfterWhatIsInTheOutbox() {
		ConsumingShard other = new ConsumingShard(this.bean, parking());
		other.targets().refuse(INVOICES);
		this.bean.failing.add("a1");
		offerOneThatFailsAndOthers(other);
		this.bean.failing.clear();
		other.restart();
		other.targets().refuse(null);
		other.pass(MINUTE);

		assertThat(other.targets().received(INVOICES)).containsExactly("invoice of b3", "invoice of a1",
				"invoice of a2", "invoice of a4");
		assertThat(other.targets().received(MAILS)).hasSize(4);
	}

	private static TestSettings parking() {
		return new TestSettings().maxAttempts(1).onFailure(OnFailure.PARK_KEY, SECOND, SECOND.multipliedBy(10));
	}

	private static void offerOneThatFailsAndOthers(ConsumingShard shard) {
		shard.offer(1, "a", "a1");
		shard.offer(2, "a", "a2");
		shard.offer(3, "b", "b3");
		shard.offer(4, "a", "a4");
		shard.run();
	}

	@Test
	void handlerWithoutRecordsSends() {
		ConsumingShard other = ConsumingShard.withoutRecords(new Loop(), TopicSchedule.NONE, () -> Instant.EPOCH);

		assertThat(other.targets().received(MAILS)).first().isEqualTo("run 1");
	}

	private void assertInvoices(int first, int last) {
		List<String> expected = new ArrayList<>();
		for (int number = first; number <= last; number++) {
			expected.add("invoice of r" + number);
		}
		assertThat(this.targets.received(INVOICES)).isEqualTo(expected);
	}

	static final class Sender {

		private final List<String> handled = new ArrayList<>();

		private final Set<String> failing = new HashSet<>();

		private ShardOutput last;

		private String prefix = "";

		private boolean alternates;

		private Consumer<String> onCall = (record) -> {
		};

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record, ShardState state, ShardOutput output) {
			this.handled.add(record.payload());
			this.last = output;
			this.onCall.accept(record.payload());
			boolean odd = this.alternates && Integer.parseInt(record.offset().value()) % 2 == 1;
			output.send("invoices", odd ? "1" : "0", this.prefix + "invoice of " + record.payload());
			if (!this.alternates) {
				output.send("mails", null, "mail of " + record.payload());
			}
			state.increment("handled", 1);
			if (this.failing.contains(record.payload())) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	static final class Acknowledging {

		private final List<Acknowledgment> acknowledgments = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(String payload, Acknowledgment acknowledgment, ShardOutput output) {
			this.acknowledgments.add(acknowledgment);
			output.send("mails", null, payload);
		}

	}

	static final class Batches {

		@ShardConsumer("orders")
		void handle(List<String> payloads, ShardOutput output) {
			output.send("mails", null, payloads.size() + " records");
		}

	}

	static final class Loop {

		@ShardConsumer(value = "orders", interval = "10s")
		void run(ShardContext context, ShardState state, ShardOutput output) {
			output.send("mails", null, "run " + state.increment("runs", 1));
		}

	}

}
