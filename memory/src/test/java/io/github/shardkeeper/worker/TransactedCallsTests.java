package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.output.TestTargets;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Calls in transactions that contain the commits of their records: the rows of the
 * handler are always those of the records up to the offset.
 */
@CapturesOutput
@Promise("Rows exactly once")
class TransactedCallsTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Booking bean = new Booking();

	private Transactions transactions;

	private Instant now = Instant.EPOCH;

	@Test
	void offsetAndStateAreCommittedWithEachCall() {
		ConsumingShard shard = consume(new TestSettings());
		shard.deliver(1, 3);

		assertThat(this.transactions.rows).containsExactly("r1", "r2", "r3");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "3");
		assertThat(shard.checkpoints().sent()).as("no commit of its own").isEmpty();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoints().sent()).isEmpty();
	}

	/** Its rows are missing, and no record comes that would show it. */
	@Test
	void idleShardWhoseCommitsTheDatabaseHasLostIsAcquiredAgain(CapturedOutput output) {
		ConsumingShard shard = consume(new TestSettings());
		shard.deliver(1, 2);
		Object before = shard.checkpoints().snapshot();
		shard.deliver(3, 5);
		shard.checkpoints().loseWritesSince(before);
		LastCommit accepted = shard.worker().acceptedByDatabase();
		assertThat(shard.checkpoints().commits(ConsumingShard.SHARD).lacks(accepted)).isTrue();

		shard.worker().commitsLost();
		shard.run();
		assertThat(shard.ended()).containsExactly("released");
		assertLossIsReported(output);
		shard.restart();
		shard.deliver(3, 5);
		assertThat(this.transactions.rows).containsExactly("r1", "r2", "r3", "r4", "r5", "r3", "r4", "r5");
		assertThat(shard.checkpoint().state()).containsEntry("count", "5");
	}

	@Test
	void recordAfterLostCommitsReportsThatTheDatabaseHasLostThem(CapturedOutput output) {
		ConsumingShard shard = consume(new TestSettings());
		shard.deliver(1, 2);
		Object before = shard.checkpoints().snapshot();
		shard.deliver(3, 5);
		shard.checkpoints().loseWritesSince(before);
		shard.deliver(6, 6);

		assertThat(shard.ended()).containsExactly("released");
		assertLossIsReported(output);
	}

	private static void assertLossIsReported(CapturedOutput output) {
		assertThat(output).containsOnlyOnce(" ERROR ")
			.contains("The database has lost commits of orders/1", "up to offset 5 under token 1",
					"the database is at offset 2 under token 1")
			.doesNotContain("taken over", "masters");
	}

	@Test
	void failedAttemptsLeaveNothing() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(3));
		this.bean.failing.add("r2");
		shard.deliver(1, 3);
		shard.pass(Duration.ofMillis(200));
		shard.pass(Duration.ofMillis(400));

		assertThat(this.bean.calls).containsExactly("r1", "r2", "r2", "r2", "r3");
		assertThat(this.transactions.rows).containsExactly("r1", "r3");
		assertThat(shard.deadLetters()).containsExactly("2 after 3");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "2");
	}

	@ParameterizedTest
	@EnumSource(value = Ordering.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
	void stateThatCannotBeReadHaltsTheShardAndRollsBack(Ordering ordering) {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1).ordering(ordering, 8));
		shard.deliver(1, 1);
		this.bean.onState = (state) -> state.get("count", List.class);
		shard.deliver(2, 3);
		shard.pass(SECOND.multipliedBy(100));

		assertThat(shard.worker().problem()).asString()
			.contains("Halted at offset 2: the state under key 'count' cannot be read as java.util.List");
		assertThat(this.transactions.rows).containsExactly("r1");
		assertThat(shard.deadLetters()).isEmpty();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("1"));
		this.bean.onState = (state) -> {
		};
		shard.restart();
		shard.deliver(2, 3);
		assertThat(this.transactions.rows).containsExactlyInAnyOrder("r1", "r2", "r3");
	}

	@Test
	void nextCallWaitsUntilADeadLetterIsCommitted() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.bean.failing.add("r1");
		shard.checkpoints().holdAnswers();
		shard.deliver(1, 2);
		assertThat(this.bean.calls).containsExactly("r1");

		shard.checkpoints().answerAll();
		shard.run();
		assertThat(this.transactions.rows).containsExactly("r2");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
	}

	@Test
	void recordOfTheRetryQueueIsRemovedWithItsCall() {
		ConsumingShard shard = consume(
				new TestSettings().maxAttempts(1).onFailure(OnFailure.RETRY_QUEUE, SECOND, SECOND));
		this.bean.failing.add("r1");
		shard.deliver(1, 2);
		assertThat(shard.retries()).isOne();
		this.bean.failing.clear();
		shard.pass(SECOND);

		assertThat(this.transactions.rows).containsExactly("r2", "r1");
		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
	}

	@Test
	void chosenActionsAreCommittedAfterTheirCallsWereRolledBack() {
		ConsumingShard shard = consume(new TestSettings().failureHandlers((context, record, failure) -> {
			return switch (new String(record.payload())) {
				case "r1" -> FailureAction.deadLetter();
				case "r2" -> FailureAction.retryQueue(SECOND);
				default -> FailureAction.retry(SECOND.multipliedBy(2));
			};
		}));
		this.bean.failing.addAll(List.of("r1", "r2", "r3"));
		shard.deliver(1, 4);
		assertThat(this.bean.calls).containsExactly("r1", "r2", "r3");
		assertThat(this.transactions.rows).isEmpty();
		assertThat(shard.deadLetters()).containsExactly("1 after 1");
		assertThat(shard.retries()).isOne();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
		this.bean.failing.clear();
		shard.pass(SECOND.multipliedBy(2));

		assertThat(this.transactions.rows).containsExactlyInAnyOrder("r2", "r3", "r4");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("4"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "3");
		assertThat(shard.retries()).isZero();
	}

	@Test
	void recordsThatWaitForOneOfTheirKeyAreCommittedBeforeTheNextCall() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1).onFailure(OnFailure.PARK_KEY, SECOND));
		this.bean.failing.add("a1");
		shard.offer(1, "a", "a1");
		shard.offer(2, "a", "a2");
		shard.offer(3, "b", "b3");
		shard.offer(4, "a", "a4");
		shard.offer(5, "b", "b5");
		shard.run();
		assertThat(this.transactions.rows).containsExactly("b3", "b5");
		assertThat(shard.retries()).isEqualTo(3);
		this.bean.failing.clear();
		shard.restart();
		shard.pass(SECOND);

		assertThat(this.transactions.rows).containsExactly("b3", "b5", "a1", "a2", "a4");
		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("5"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "5");
	}

	/**
	 * That a record is skipped is committed before the next call. The commit is answered
	 * at once, so no reply wakes the worker for the call.
	 */
	@Test
	void callIsMadeAfterARecordThatWasDoneAheadIsSkipped() {
		TestSettings settings = byKey().maxAttempts(TestSettings.ENDLESS);
		ConsumingShard shard = consume(settings);
		this.bean.failing.add("a1");
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.run();
		assertThat(shard.checkpoint().ahead()).containsExactly(new Offset("2"));
		this.bean.failing.clear();
		settings.ordering(Ordering.SHARD, 1);
		shard.restart();
		shard.offer(2, "b", "b2");
		shard.run();
		shard.offer(3, "a", "a3");
		shard.run();

		assertThat(this.transactions.rows).containsExactly("b2", "a3");
	}

	@Test
	void unavailableDatabaseCostsNoAttempt() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.next = Outcome.UNAVAILABLE;
		shard.deliver(1, 1);
		assertThat(shard.worker().problem()).asString().contains("the database is away");
		this.transactions.next = Outcome.COMMITTED;
		shard.pass(SECOND);

		assertThat(shard.worker().problem()).isNull();
		assertThat(this.transactions.rows).containsExactly("r1");
		assertThat(shard.deadLetters()).isEmpty();
	}

	@Test
	void committedTransactionWithoutAnAnswerIsNotRepeated() {
		ConsumingShard shard = consume(new TestSettings());
		this.transactions.next = Outcome.COMMITTED_WITHOUT_ANSWER;
		shard.checkpoints().setAway(true);
		shard.deliver(1, 1);
		assertThat(shard.worker().problem()).as("not known yet").isNotNull();
		this.transactions.next = Outcome.COMMITTED;
		shard.checkpoints().setAway(false);
		shard.pass(SECOND);
		shard.deliver(2, 2);

		assertThat(this.bean.calls).containsExactly("r1", "r2");
		assertThat(this.transactions.rows).containsExactly("r1", "r2");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "2");
	}

	@Test
	void lostTransactionWithoutAnAnswerIsRepeated() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.next = Outcome.LOST_WITHOUT_ANSWER;
		shard.deliver(1, 1);
		this.transactions.next = Outcome.COMMITTED;
		shard.pass(SECOND);

		assertThat(this.bean.calls).containsExactly("r1", "r1");
		assertThat(this.transactions.rows).containsExactly("r1");
		assertThat(shard.deadLetters()).isEmpty();
	}

	/** For example because of a constraint that is checked at the end. */
	@Test
	void transactionThatTheDatabaseRefusesAtItsEndIsAFailure() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.next = Outcome.REFUSED_AT_ITS_END;
		shard.deliver(1, 1);

		assertThat(shard.deadLetters()).containsExactly("1 after 1");
		assertThat(this.transactions.rows).isEmpty();
	}

	@Test
	void fencedTransactionEndsTheWorker() {
		ConsumingShard shard = consume(new TestSettings());
		shard.checkpoints().acquireNow(ConsumingShard.SHARD, new Token(99));
		shard.deliver(1, 1);

		assertThat(this.transactions.rows).isEmpty();
		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.worker().ended()).isDone();
		assertThat(shard.staleCommits()).isOne();
	}

	@Test
	void abandonedWorkerEndsThoughItIsNotKnownWhatBecameOfItsCall() {
		ConsumingShard shard = consume(new TestSettings());
		this.transactions.next = Outcome.COMMITTED_WITHOUT_ANSWER;
		shard.checkpoints().setAway(true);
		shard.deliver(1, 1);

		shard.worker().abandon();
		shard.run();
		assertThat(shard.worker().ended()).isDone();
	}

	@Test
	void storeThatHasLostTheShardEndsTheWorker() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		shard.deliver(1, 1);
		shard.checkpoints().empty();
		this.bean.failing.add("r2");
		shard.deliver(2, 2);

		assertThat(shard.ended()).as("what the database says counts").containsExactly("released");
		assertThat(shard.checkpoint().offset()).isNull();
	}

	@Test
	void nextOwnerContinuesWhereTheRowsEnd() {
		ConsumingShard shard = consume(new TestSettings());
		shard.deliver(1, 2);
		shard.worker().drain();
		shard.run();
		shard.restart();
		shard.deliver(3, 4);

		assertThat(this.transactions.rows).containsExactly("r1", "r2", "r3", "r4");
		assertThat(shard.checkpoint().state()).containsEntry("count", "4");
	}

	@Test
	void batchIsOneTransactionAndItsUnreadableRecordIsHandledAlone() {
		BatchBooking batch = new BatchBooking();
		ConsumingShard shard = consume(batch, new TestSettings().maxAttempts(1).batchSize(10));
		for (int i = 1; i <= 4; i++) {
			shard.offer(i, "k", (i == 3) ? "{" : Integer.toString(i));
		}
		shard.run();

		assertThat(this.transactions.rows).containsExactly("1", "2", "4");
		assertThat(shard.deadLetters()).hasSize(1);
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("4"));
		shard.offer(5, "k", "5");
		shard.offer(6, "k", "6");
		shard.run();
		assertThat(batch.sizes).contains(2);
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("6"));
	}

	@Test
	void callThatGivesWayToAnotherTransactionCostsNoAttempt() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.conflicts = 10;
		shard.deliver(1, 1);

		assertThat(this.transactions.rows).containsExactly("r1");
		assertThat(shard.deadLetters()).isEmpty();
	}

	@Test
	void callThatAlwaysGivesWayFails() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.conflicts = 11;
		shard.deliver(1, 2);

		assertThat(this.transactions.rows).containsExactly("r2");
		assertThat(shard.deadLetters()).containsExactly("1 after 1");
	}

	/** As when something between application and database restarts. */
	@Test
	void callThatLosesItsConnectionToADatabaseThatWorksCostsNoAttempt() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.lostConnections = 3;
		shard.deliver(1, 1);
		assertThat(this.transactions.lostConnections).as("repeated after a pause").isEqualTo(2);
		passRepeatedly(shard, 3);

		assertThat(this.transactions.rows).containsExactly("r1");
		assertThat(shard.deadLetters()).isEmpty();
	}

	/** Then the call is the reason. */
	@Test
	void callThatAlwaysLosesItsConnectionFails() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(2));
		this.transactions.lostConnections = 8;
		shard.deliver(1, 2);
		passRepeatedly(shard, 8);

		assertThat(this.transactions.rows).containsExactly("r2");
		assertThat(shard.deadLetters()).containsExactly("1 after 2");
		assertThat(this.transactions.lostConnections).isZero();
	}

	private static void passRepeatedly(ConsumingShard shard, int times) {
		for (int i = 0; i < times; i++) {
			shard.pass(Duration.ofMillis(200));
		}
	}

	@ParameterizedTest
	@EnumSource(value = Ordering.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
	void rollbackToASavepointTakesBackStateAndSentRecords(Ordering ordering) {
		NestedPart nested = new NestedPart();
		ConsumingShard shard = consume(nested, new TestSettings().ordering(ordering, 8));
		nested.transactions = this.transactions;
		shard.offer(1, "k", "1");
		shard.run();

		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("before", "1", "counted", "2", "after", "1"));
		assertThat(shard.targets().received(TestTargets.MAILS)).containsExactly("before", "after");
	}

	@Test
	void callsOfSeveralKeysCommitTheirOwnRecords() {
		ConsumingShard shard = consume(byKey());
		for (int i = 1; i <= 4; i++) {
			shard.offer(i, "k" + i % 2, "r" + i);
		}
		shard.run();

		assertThat(this.transactions.rows).containsExactlyInAnyOrder("r1", "r2", "r3", "r4");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("4"));
		assertThat(shard.checkpoint().ahead()).isEmpty();
		assertThat(shard.checkpoint().state()).containsEntry("count", "4");
		assertThat(shard.checkpoints().sent()).as("no commit of its own").isEmpty();
	}

	@Test
	void recordsDoneAheadAreInTheTransactionAndNotRepeatedByTheNextOwner() {
		ConsumingShard shard = consume(byKey().maxAttempts(5));
		this.bean.failing.add("a1");
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.offer(3, "a", "a3");
		shard.offer(4, "c", "c4");
		shard.run();
		assertThat(this.transactions.rows).containsExactlyInAnyOrder("b2", "c4");
		assertThat(shard.checkpoint().offset()).isNull();
		assertThat(shard.checkpoint().ahead()).containsExactly(new Offset("2"), new Offset("4"));

		this.bean.failing.clear();
		shard.restart();
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.offer(3, "a", "a3");
		shard.offer(4, "c", "c4");
		shard.run();
		assertThat(this.transactions.rows).containsExactlyInAnyOrder("b2", "c4", "a1", "a3");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("4"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "4");
	}

	@Test
	void runningCallCommitsTheDeadLetterOfAnotherKey() {
		ConsumingShard shard = consume(byKey().maxAttempts(1));
		this.bean.failing.add("a1");
		this.bean.onCall = (record) -> {
			if (record.equals("b2")) {
				// The worker processes the failure while this call runs.
				shard.threads().runOne();
				assertThat(shard.checkpoint().offset()).isNull();
			}
		};
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.run();

		assertThat(this.transactions.rows).containsExactly("b2");
		assertThat(shard.deadLetters()).containsExactly("1 after 1");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
		assertThat(shard.checkpoints().sent()).as("no commit of its own").isEmpty();
	}

	@Test
	void deadLetterThatNoCallHasCommittedIsCommittedAlone() {
		ConsumingShard shard = consume(byKey().maxAttempts(1));
		this.bean.failing.add("a1");
		this.bean.failing.add("b2");
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.run();

		assertThat(shard.deadLetters()).containsExactlyInAnyOrder("1 after 1", "2 after 1");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
		assertThat(this.transactions.rows).isEmpty();
	}

	@Test
	void stateThatAnotherKeyHasChangedRepeatsTheCall() {
		ReadingState reading = new ReadingState();
		ConsumingShard shard = consume(reading, byKey().maxAttempts(1));
		reading.afterRead = () -> shard.threads().runOne();
		shard.offer(1, "a", "1");
		shard.offer(2, "b", "2");
		shard.offer(3, "c", "3");
		shard.run();

		assertThat(reading.calls).as("the first one twice").containsExactly(1, 2, 3, 1);
		assertThat(shard.checkpoint().state()).containsEntry("sum", "6");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		assertThat(shard.deadLetters()).isEmpty();
	}

	/** A transaction begins and ends while that of an earlier record is open. */
	@Test
	void openCallOfAnotherKeyIsNotCommitted() {
		ConsumingShard shard = consume(byKey());
		List<Object> during = new ArrayList<>();
		this.bean.onCall = (record) -> {
			if (record.equals("a1")) {
				shard.threads().runOne();
				during.add(shard.checkpoint().ahead());
				during.add(List.copyOf(this.transactions.rows));
			}
		};
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.run();

		assertThat(during).containsExactly(Set.of(new Offset("2")), List.of("b2"));
		assertThat(this.transactions.rows).containsExactly("b2", "a1");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
		assertThat(shard.checkpoint().ahead()).isEmpty();
		assertThat(shard.checkpoint().state()).containsEntry("count", "2");
	}

	/** What a rolled back transaction has taken along is committed by the next one. */
	@Test
	void deadLetterIsNotLostWithTheTransactionThatHasTakenIt() {
		ConsumingShard shard = consume(byKey().maxAttempts(1));
		this.bean.failing.add("a1");
		this.bean.onCall = (record) -> {
			boolean lost = record.equals("b2") && this.bean.count("b2") == 1;
			this.transactions.next = lost ? Outcome.LOST_WITHOUT_ANSWER : Outcome.COMMITTED;
			if (lost) {
				shard.threads().runOne();
			}
		};
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.run();
		for (int i = 0; i < 5; i++) {
			shard.pass(SECOND);
		}

		assertThat(this.bean.count("b2")).isEqualTo(2);
		assertThat(this.transactions.rows).containsExactly("b2");
		assertThat(shard.deadLetters()).containsExactly("1 after 1");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
	}

	@Test
	void otherKeysWaitUntilItIsKnownWhatBecameOfATransaction() {
		ConsumingShard shard = consume(byKey());
		this.transactions.next = Outcome.COMMITTED_WITHOUT_ANSWER;
		shard.checkpoints().setAway(true);
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.run();
		assertThat(this.transactions.rows).containsExactly("a1");
		assertThat(shard.worker().problem()).as("not known yet").isNotNull();

		this.transactions.next = Outcome.COMMITTED;
		shard.checkpoints().setAway(false);
		for (int i = 0; i < 5; i++) {
			shard.pass(SECOND);
		}
		assertThat(this.transactions.rows).containsExactly("a1", "b2");
		assertThat(this.bean.count("a1")).isOne();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "2");
	}

	@Test
	void otherKeysContinueWhileAKeyWaits() {
		ConsumingShard shard = consume(byKey().maxAttempts(1).onFailure(OnFailure.PARK_KEY, SECOND));
		this.bean.failing.add("a1");
		shard.offer(1, "a", "a1");
		shard.offer(2, "a", "a2");
		shard.offer(3, "b", "b3");
		shard.offer(4, "a", "a4");
		shard.run();
		assertThat(this.transactions.rows).containsExactly("b3");
		this.bean.failing.clear();
		shard.restart();
		shard.pass(SECOND);

		assertThat(this.transactions.rows).containsExactly("b3", "a1", "a2", "a4");
		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("4"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "4");
	}

	@Test
	void handoverWaitsForTheTransactionsOfAllKeys() {
		ConsumingShard shard = consume(byKey());
		this.bean.onCall = (record) -> {
			if (record.equals("a1")) {
				shard.worker().drain();
			}
		};
		shard.offer(1, "a", "a1");
		shard.offer(2, "b", "b2");
		shard.run();
		assertThat(shard.worker().ended()).isDone();
		assertThat(shard.checkpoint().state()).containsEntry("count", Integer.toString(this.transactions.rows.size()));
	}

	@Test
	void orderingNoneIsRefused() {
		assertThatThrownBy(() -> check(new TestSettings().ordering(Ordering.NONE, 8)))
			.hasMessageContaining("'consumer.ordering' 'none'")
			.hasMessageContaining("'consumer.transaction' is 'jdbc'");
	}

	@Test
	void manualAcknowledgmentIsRefused() {
		assertThatThrownBy(() -> check(new TestSettings().commits(CommitMode.MANUAL, SECOND, 10)))
			.hasMessageContaining("'manual'")
			.hasMessageContaining("the transaction ends with the call");
	}

	@ParameterizedTest
	@EnumSource(value = Ordering.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
	void expiredEntriesAreRemovedByCommitsOfTheWorker(Ordering ordering) {
		ConsumingShard shard = consume(new TestSettings().ordering(ordering, 8));
		this.bean.onState = (state) -> state.put("session", 1, SECOND);
		shard.deliver(1, 1);
		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("count", "1", "session", "@1000 1"));
		this.now = this.now.plusSeconds(1);
		this.bean.onState = (state) -> assertThat(state.keys()).doesNotContain("session");
		shard.deliver(2, 2);
		assertThat(this.bean.calls).containsExactly("r1", "r2");
		shard.pass(SECOND.multipliedBy(2));

		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("count", "2"));
		assertThat(shard.checkpoints().sent()).hasSize(1);
	}

	/**
	 * Only what has waited for long: a call may take its time, and others wait for it.
	 */
	@Test
	void busyShardRemovesExpiredEntriesBetweenCalls() {
		ConsumingShard shard = consume(byKey());
		this.bean.onState = (state) -> state.put("session", 1, SECOND);
		shard.offer(1, "a", "r1");
		shard.run();
		this.bean.onState = (state) -> {
		};
		this.now = this.now.plusSeconds(1);
		this.bean.onCall = (record) -> {
			if (record.equals("r2")) {
				shard.pass(SECOND.multipliedBy(2));
				shard.offer(3, "c", "r3");
				shard.run();
				assertThat(this.bean.calls).as("does not wait").containsExactly("r1", "r2", "r3");
				shard.pass(SECOND.multipliedBy(60));
				shard.offer(4, "d", "r4");
				shard.run();
				assertThat(this.bean.calls).as("waits").hasSize(3);
				assertThat(shard.checkpoint().state()).containsKey("session");
			}
		};
		shard.offer(2, "b", "r2");
		shard.run();

		assertThat(this.bean.calls).containsExactly("r1", "r2", "r3", "r4");
		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("count", "4"));
	}

	private static TestSettings byKey() {
		return new TestSettings().ordering(Ordering.KEY, 8);
	}

	private void check(TestSettings settings) {
		settings.get().checkTransacted(consume(new TestSettings()).handler());
	}

	private ConsumingShard consume(TestSettings settings) {
		return consume(this.bean, settings);
	}

	private ConsumingShard consume(Object handler, TestSettings settings) {
		return ConsumingShard.withWallClock(handler, settings, () -> this.now, (created) -> {
			this.transactions = new Transactions(created.checkpoints());
			created.checkpoints().transact(this.transactions);
			this.bean.transactions = this.transactions;
			if (handler instanceof BatchBooking batch) {
				batch.transactions = this.transactions;
			}
		});
	}

	static class Booking {

		private final List<String> calls = new ArrayList<>();

		private final Set<String> failing = new HashSet<>();

		private Consumer<String> onCall = (record) -> {
		};

		private Consumer<ShardState> onState = (state) -> {
		};

		private long count(String record) {
			return this.calls.stream().filter(record::equals).count();
		}

		private Transactions transactions;

		@ShardConsumer("orders")
		void book(byte[] payload, ShardState state) {
			String record = new String(payload);
			this.calls.add(record);
			this.onCall.accept(record);
			this.transactions.open.add(record);
			this.onState.accept(state);
			state.increment("count", 1);
			if (this.failing.contains(record)) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	/** Adds what it reads to a sum that it has read, and not by an increment. */
	static class ReadingState {

		private final List<Integer> calls = new ArrayList<>();

		private Runnable afterRead = () -> {
		};

		@ShardConsumer("orders")
		void book(int number, ShardState state) {
			this.calls.add(number);
			int sum = state.get("sum", Integer.class).orElse(0);
			if (this.calls.size() == 1) {
				this.afterRead.run();
			}
			state.put("sum", sum + number);
		}

	}

	/** Sends, and writes the state, before, in and after a part that is rolled back. */
	static class NestedPart {

		private Transactions transactions;

		@ShardConsumer("orders")
		void book(int number, ShardState state, ShardOutput output) {
			state.put("before", 1);
			state.increment("counted", 1);
			output.send("mails", null, "before");
			Runnable takesBack = this.transactions.current.savepoint();
			state.put("before", 2);
			state.put("nested", 1);
			state.increment("counted", 10);
			output.send("mails", null, "nested");
			takesBack.run();
			state.put("after", 1);
			state.increment("counted", 1);
			output.send("mails", null, "after");
		}

	}

	static class BatchBooking {

		private final List<Integer> sizes = new ArrayList<>();

		private Transactions transactions;

		@ShardConsumer("orders")
		void book(List<Integer> records) {
			this.sizes.add(records.size());
			records.forEach((record) -> this.transactions.open.add(Integer.toString(record)));
		}

	}

	enum Outcome {

		COMMITTED, UNAVAILABLE, COMMITTED_WITHOUT_ANSWER, LOST_WITHOUT_ANSWER, REFUSED_AT_ITS_END

	}

	/** Transactions of a database with the rows of the handlers, and with checkpoints. */
	static final class Transactions implements CallTransactions {

		private final FaultyCheckpoints checkpoints;

		List<String> open = new ArrayList<>();

		final List<String> rows = new ArrayList<>();

		Outcome next = Outcome.COMMITTED;

		/** Is called between the handler and the end of the transaction. */
		Runnable beforeItsEnd = () -> {
		};

		/** Number of calls that give way to other transactions. */
		int conflicts;

		/** Number of calls that lose their connections. */
		int lostConnections;

		Call current;

		Transactions(FaultyCheckpoints checkpoints) {
			this.checkpoints = checkpoints;
		}

		@Override
		public Duration lockWait() {
			return SECOND;
		}

		/** May be called while it is called: then several transactions are open. */
		@Override
		public Result call(ShardId shard, Token token, Call call) {
			List<String> outer = this.open;
			this.open = new ArrayList<>();
			try {
				return callHere(shard, token, call);
			}
			finally {
				this.open = outer;
			}
		}

		private Result callHere(ShardId shard, Token token, Call call) {
			StoreUnavailableException away = new StoreUnavailableException("the database is away", null);
			if (this.next == Outcome.UNAVAILABLE) {
				return new Result.Unavailable(away);
			}
			if (this.conflicts > 0) {
				this.conflicts--;
				return new Result.Conflict(new IllegalStateException("deadlock, caused by the test"));
			}
			if (this.lostConnections > 0) {
				this.lostConnections--;
				return new Result.ConnectionLost(new IllegalStateException("reset, caused by the test"));
			}
			Commit commit;
			try {
				this.current = call;
				call.run();
				commit = call.commit();
				this.beforeItsEnd.run();
			}
			catch (Throwable ex) {
				return new Result.Failed(ex);
			}
			if (this.next == Outcome.LOST_WITHOUT_ANSWER) {
				return new Result.Unknown(away, true);
			}
			if (this.next == Outcome.REFUSED_AT_ITS_END) {
				return new Result.Unknown(new IllegalStateException("refused"), false);
			}
			boolean follows = this.checkpoints.store().commits(shard).last().number() == commit.number().acknowledged();
			if (!follows || this.checkpoints.store().commit(shard, token, commit).join() != CommitReply.COMMITTED) {
				return new Result.Stale();
			}
			this.rows.addAll(this.open);
			return (this.next == Outcome.COMMITTED) ? new Result.Committed() : new Result.Unknown(away, true);
		}

	}

}
