package io.github.shardkeeper.worker;

import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.handler.HandlerSignature;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.protocol.MeasuredLoads.ShardWork;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.worker.failure.ShardProblem;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.WorkerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs on the test's thread and by the test's clock, step by step.
 */
@CapturesOutput
class ShardWorkerTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final MemberId ME = MemberId.of("me", "1");

	private static final Token TOKEN = new Token(10);

	private static final Token NEWER = new Token(20);

	private static final Duration LEASE = Duration.ofSeconds(10);

	private final SettableClock clock = new SettableClock();

	private final Lease lease = new Lease(LEASE, this.clock.now());

	private final ManualThreads threads = new ManualThreads(this.clock);

	private final FaultyCheckpoints checkpoints = new FaultyCheckpoints();

	private final TestReader reader = new TestReader();

	private final List<String> ended = new ArrayList<>();

	private final List<String> meters = new ArrayList<>();

	private boolean metersFail;

	private final List<String> events = new ArrayList<>();

	/** Commits when there is nothing more to do, and tries on without an end. */
	private TestSettings settings = new TestSettings().commits(CommitMode.BATCH, Duration.ofSeconds(1), 500)
		.maxAttempts(TestSettings.ENDLESS)
		.onFailure(OnFailure.HALT);

	private boolean noNews;

	private int failingEnds;

	private final Application application = new Application();

	private WorkerContext context;

	@BeforeEach
	void holdLease() {
		this.lease.renew(this.clock.now(), this.clock.now());
	}

	@Test
	void workerAcquiresCallsTheAssignedCallbackAndReads() {
		start();

		assertThat(this.application.calls).containsExactly("assigned");
		assertThat(this.reader.calls()).containsExactly("start after null");
	}

	@Test
	void workerResumesAtTheCheckpoint() {
		this.checkpoints.acquireNow(SHARD, Token.NONE);
		this.checkpoints.commit(SHARD, Token.NONE,
				Commit.of(CommitNumber.ofWhole(1), new Offset("7"), Map.of("count", "7")));
		this.application.onAssigned = (state) -> assertThat(state.get("count", Long.class)).contains(7L);
		start();

		assertThat(this.reader.calls()).containsExactly("start after 7");
	}

	@Test
	void acquisitionBlocksNoThread() {
		this.checkpoints.holdAcquisitions();
		ShardWorker worker = start();
		worker.wake();
		this.threads.runAll();
		assertThat(this.checkpoints.heldAcquisitions()).isEqualTo(1);
		assertThat(this.application.calls).isEmpty();

		this.checkpoints.answerAcquisitions();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned");
		assertThat(this.reader.calls()).containsExactly("start after null");
	}

	@Test
	void drainDoesNotWaitForAnAcquisition() {
		this.checkpoints.holdAcquisitions();
		ShardWorker worker = start();
		worker.drain();
		this.threads.runAll();
		assertThat(this.ended).hasSize(1);

		this.checkpoints.answerAcquisitions();
		this.threads.runAll();
		assertThat(this.application.calls).isEmpty();
		assertThat(this.reader.calls()).isEmpty();
		assertThat(this.ended).hasSize(1);
	}

	@Test
	void acquisitionAnsweredWithoutLeaseCountsWhenItIsHeldAgain() {
		this.checkpoints.holdAcquisitions();
		ShardWorker worker = start();
		this.clock.advance(LEASE);
		this.checkpoints.answerAcquisitions();
		this.threads.runAll();
		assertThat(this.application.calls).isEmpty();

		holdLease();
		worker.wake();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned");
		assertThat(this.checkpoints.heldAcquisitions()).isZero();
	}

	@Test
	void failedAcquisitionIsReportedWithoutLease() {
		this.checkpoints.holdAcquisitions();
		ShardWorker worker = start();
		this.clock.advance(LEASE);
		this.checkpoints.loseAcquisition();
		this.threads.runAll();

		assertThat(worker.problem()).asString().contains("The store cannot be used: no reply");
	}

	@Test
	void writesLostDuringAnAcquisitionAreWrittenBack() {
		this.checkpoints.holdAcquisitions();
		ShardWorker worker = start();
		this.checkpoints.empty();
		worker.writeBack();
		this.threads.runAll();
		this.checkpoints.answerAcquisitions();
		this.threads.runAll();

		// Nothing comes that would be committed; the fence stands nevertheless.
		assertThat(this.checkpoints.acquireNow(SHARD, Token.NONE)).isEqualTo(new Acquisition.Refused(TOKEN));
	}

	@Test
	@Promise("State exactly once")
	void stateAndOffsetAreCommittedTogether() {
		start();
		this.application.onRecord = (record, state) -> state.increment("count", 1);
		deliver(1, 3);

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r3");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "3")));
		assertThat(this.meters).containsExactly("handled", "handled", "handled", "committed true");
	}

	@Test
	void workIsMeasured() {
		ShardWorker worker = start();
		List<ShardWork> meanwhile = new ArrayList<>();
		this.application.onRecord = (record, state) -> {
			this.clock.advance(Duration.ofMillis(30));
			meanwhile.add(worker.work(this.clock.now()));
			this.clock.advance(Duration.ofMillis(10));
		};
		assertThat(worker.work(this.clock.now())).isEqualTo(new ShardWork(SHARD, TOKEN, 0, 0));
		deliver(1, 2);

		assertThat(meanwhile).containsExactly(new ShardWork(SHARD, TOKEN, 30_000_000, 0),
				new ShardWork(SHARD, TOKEN, 70_000_000, 1));
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(worker.work(this.clock.now())).isEqualTo(new ShardWork(SHARD, TOKEN, 80_000_000, 2));
	}

	@Test
	void failedCallCountsItsTimeButNoRecord() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			this.clock.advance(Duration.ofMillis(30));
			throw new IllegalStateException("caused by the test");
		};
		deliver(1, 1);

		assertThat(worker.work(this.clock.now())).isEqualTo(new ShardWork(SHARD, TOKEN, 30_000_000, 0));
	}

	@Test
	void commitsUnderAReusedTokenAreNotTakenForEarlierOnes() {
		ShardWorker first = start();
		deliver(1, 3);
		first.abandon();
		this.threads.runAll();
		start();
		this.application.onRecord = (record, state) -> state.put(record.payload(), true);
		deliver(4, 5);

		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("5"), Map.of("r4", "true", "r5", "true")));
	}

	@Test
	void nothingIsCommittedTwice() {
		ShardWorker worker = start();
		deliver(1, 1);
		worker.wake();
		this.threads.runAll();

		assertThat(this.checkpoints.committed()).containsExactly(new Offset("1"));
	}

	@Test
	void manyRecordsAreCommittedInPortions() {
		start();
		deliver(1, 1100);

		assertThat(this.checkpoints.committed()).containsExactly(new Offset("500"), new Offset("1000"),
				new Offset("1100"));
	}

	@Test
	void slowRecordsAreCommittedByTime() {
		start();
		this.application.onRecord = (record, state) -> {
			this.clock.advance(Duration.ofMillis(600));
			holdLease();
		};
		deliver(1, 4);

		assertThat(this.checkpoints.committed()).containsExactly(new Offset("2"), new Offset("4"));
	}

	@Test
	@Promise("Nothing lost")
	void committedOffsetNeverRunsAheadOfHandledRecords() {
		start();
		this.application.onRecord = (record, state) -> {
			int number = Integer.parseInt(record.payload().substring(1));
			Offset offset = checkpoint().offset();
			assertThat(offset == null || Integer.parseInt(offset.value()) < number).isTrue();
		};
		deliver(1, 1100);

		assertThat(this.application.calls).hasSize(1101);
	}

	@Test
	@Promise("Nothing lost")
	void failedRecordIsRetriedAfterAPauseWithoutItsState() {
		ShardWorker worker = start();
		List<Long> counts = new ArrayList<>();
		this.application.onRecord = (record, state) -> {
			counts.add(state.increment("count", 1));
			state.put("last", record.payload());
			if (record.payload().equals("r2") && counts.size() < 4) {
				throw new IOException("caused by the test");
			}
		};
		deliver(1, 3);
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1", "last", "\"r1\"")));
		// The message may quote the record.
		assertThat(worker.problem()).asString()
			.contains("Application.handle", "offset 2", "java.io.IOException at", "(ShardWorkerTests.java:")
			.doesNotContain("caused by the test");

		this.threads.pass(Duration.ofMillis(199));
		assertThat(this.application.calls).hasSize(3);
		this.threads.pass(Duration.ofMillis(1));
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r2");
		this.threads.pass(Duration.ofMillis(399));
		assertThat(this.application.calls).hasSize(4);
		this.threads.pass(Duration.ofMillis(1));

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r2", "r2", "r3");
		assertThat(counts).containsExactly(1L, 2L, 2L, 2L, 3L);
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "3", "last", "\"r3\"")));
		assertThat(worker.problem()).isNull();
		assertThat(this.meters).filteredOn("failed"::equals).hasSize(2);
	}

	@Test
	void retriedRecordIsAnAlarmAfterTheDurationOfALongCall() {
		this.settings.longCall(Duration.ofSeconds(30));
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			throw new IOException("caused by the test");
		};
		deliver(1, 1);
		assertThat(worker.problem()).isNotNull().matches((problem) -> !problem.alarm(), "a detail");
		this.threads.pass(Duration.ofMillis(200));
		this.clock.advance(Duration.ofMillis(29_800));
		assertThat(worker.problem()).isNotNull().matches((problem) -> !problem.alarm(), "a detail still");

		this.clock.advance(Duration.ofMillis(1));
		assertThat(worker.problem()).isNotNull().matches(ShardProblem::alarm, "an alarm");
		this.application.onRecord = (record, state) -> {
		};
		holdLease();
		worker.wake();
		this.threads.runAll();
		assertThat(worker.problem()).isNull();
	}

	/** Its failure throws on, out of the turn. */
	@Test
	@Promise("Automatic recovery")
	void workerWithoutATimerContinuesAndDrains() {
		ShardWorker worker = start();
		deliver(1, 1);
		this.threads.setTimerFails(true);
		this.checkpoints.setAway(true);
		deliver(2, 2);
		assertThat(this.threads.hasAlarms()).isFalse();
		this.checkpoints.setAway(false);
		this.clock.advance(Duration.ofSeconds(1));
		worker.rescue();
		this.threads.runAll();
		assertThat(checkpoint().offset()).isEqualTo(new Offset("2"));

		worker.drain();
		this.threads.runAll();
		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0");
	}

	@Test
	void rescuedWorkerSetsItsTimerAgain() {
		ShardWorker worker = start();
		this.threads.setTimerFails(true);
		this.checkpoints.setAway(true);
		deliver(1, 1);
		this.checkpoints.setAway(false);
		this.threads.setTimerFails(false);
		worker.rescue();
		this.threads.runAll();
		assertThat(checkpoint().offset()).as("not before the pause is over").isNull();

		this.threads.pass(Duration.ofMillis(200));
		assertThat(checkpoint().offset()).isEqualTo(new Offset("1"));
	}

	@Test
	@Promise("Automatic recovery")
	void endThatCouldNotBeReportedIsReportedInTheNextTurn() {
		ShardWorker worker = start();
		deliver(1, 1);
		this.failingEnds = 2;
		worker.drain();
		this.threads.runAll();
		assertThat(this.ended).isEmpty();
		assertThat(worker.ended()).isNotDone();
		this.threads.pass(Duration.ofMillis(200));
		this.threads.pass(Duration.ofMillis(400));

		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0");
		assertThat(this.events).containsOnlyOnce("revoked 10");
		assertThat(worker.ended()).isDone();
	}

	/**
	 * Under the token of one that was abandoned: what that one had sent arrives after its
	 * successor has acquired the shard, and has the number that comes next.
	 */
	@Test
	@Promise("State exactly once")
	void lateCommitOfThePredecessorIsNotTakenForTheFirstCommit() {
		this.application.onRecord = (record, state) -> state.put(record.payload(), true);
		ShardWorker first = start();
		deliver(1, 1);
		this.checkpoints.delayCommits();
		deliver(2, 2);
		first.abandon();
		this.threads.runAll();
		assertThat(first.ended()).isDone();
		start();
		assertThat(this.reader.calls()).endsWith("start after 1");
		this.checkpoints.deliverCommits();
		deliver(2, 4);

		assertThat(checkpoint())
			.isEqualTo(new Checkpoint(new Offset("4"), Map.of("r1", "true", "r2", "true", "r3", "true", "r4", "true")));
	}

	/**
	 * Neither of them has committed anything before, so both continue with one number.
	 */
	@Test
	void lateCommitOfThePredecessorIsNotTakenForTheFirstCommitOfTheShard() {
		this.application.onRecord = (record, state) -> state.put(record.payload(), true);
		ShardWorker first = start();
		this.checkpoints.delayCommits();
		deliver(1, 1);
		first.abandon();
		this.threads.runAll();
		assertThat(first.ended()).isDone();
		start();
		this.checkpoints.deliverCommits();
		deliver(1, 3);

		assertThat(checkpoint())
			.isEqualTo(new Checkpoint(new Offset("3"), Map.of("r1", "true", "r2", "true", "r3", "true")));
	}

	@Test
	void haltedShardIsAnAlarmAtOnce() {
		ShardWorker worker = startWith("handleVisit", new JsonMapper());
		this.reader.deliver(SHARD, 1, "nonsense");
		this.threads.runAll();

		assertThat(worker.problem()).isNotNull().matches(ShardProblem::alarm, "an alarm");
	}

	/** The application's filters, and its registry, run in them. */
	@Test
	void metersThatThrowDoNotBlockTheShard(CapturedOutput output) {
		this.settings.maxAttempts(2).onFailure(OnFailure.DEAD_LETTER);
		this.metersFail = true;
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			if (record.payload().equals("r1")) {
				throw new IOException("caused by the test");
			}
			state.increment("count", 1);
		};
		deliver(1, 3);
		this.threads.pass(Duration.ofMillis(200));

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r1", "r2", "r3");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "2")));
		assertThat(this.meters).contains("failed", "dead lettered", "handled", "committed true");
		assertThat(worker.problem()).isNull();
		assertThat(output).containsOnlyOnce("cannot be counted");
	}

	@Test
	void metersThatThrowDoNotHideANewerOwner() {
		ShardWorker worker = start();
		this.metersFail = true;
		this.checkpoints.acquireNow(SHARD, NEWER);
		deliver(1, 1);

		assertThat(worker.ended()).isDone();
		assertThat(this.meters).containsOnlyOnce("committed false");
	}

	@Test
	void newRecordsDoNotShortenThePause() {
		start();
		this.application.onRecord = (record, state) -> {
			throw new IOException("caused by the test");
		};
		deliver(1, 1);
		deliver(2, 2);

		assertThat(this.application.calls).containsExactly("assigned", "r1");
	}

	@Test
	void errorIsTreatedAsAFailure() {
		start();
		this.application.onRecord = (record, state) -> {
			if (this.application.calls.size() == 2) {
				throw new AssertionError("caused by the test");
			}
		};
		deliver(1, 1);
		this.threads.pass(Duration.ofMillis(200));

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r1");
		assertThat(checkpoint().offset()).isEqualTo(new Offset("1"));
	}

	@Test
	@Promise("Nothing lost")
	void unreadablePayloadHaltsTheShard() {
		ShardWorker worker = startWith("handleVisit", new JsonMapper());
		this.reader.deliver(SHARD, 1, "{\"client\":\"c1\"}");
		this.reader.deliver(SHARD, 2, "nonsense");
		this.reader.deliver(SHARD, 3, "{\"client\":\"c3\"}");
		this.threads.runAll();

		assertThat(this.application.calls).containsExactly("assigned", "visit of c1");
		assertThat(checkpoint().offset()).isEqualTo(new Offset("1"));
		assertThat(worker.problem()).asString().contains("Halted at offset 2", "Visit");
		this.threads.pass(Duration.ofHours(1));
		holdLease();
		deliver(4, 4);
		assertThat(this.application.calls).hasSize(2);
		assertThat(this.meters).filteredOn("failed"::equals).hasSize(1);

		worker.drain();
		this.threads.runAll();
		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0");
		assertThat(checkpoint().offset()).isEqualTo(new Offset("1"));
	}

	@Test
	void haltIsReportedAfterARepeatedCommit() {
		ShardWorker worker = startWith("handleVisit", new JsonMapper());
		this.application.onVisit = () -> this.checkpoints.setAway(true);
		this.reader.deliver(SHARD, 1, "{\"client\":\"c1\"}");
		this.reader.deliver(SHARD, 2, "nonsense");
		this.threads.runAll();
		this.checkpoints.setAway(false);
		this.threads.pass(Duration.ofMillis(200));

		assertThat(checkpoint().offset()).isEqualTo(new Offset("1"));
		assertThat(worker.problem()).asString().contains("Halted at offset 2");
	}

	@Test
	void drainAwaitsTheCallThenCallsTheRevocationCallbackCommitsAndReports() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			if (record.payload().equals("r2")) {
				worker.drain();
				assertThat(Thread.currentThread().isInterrupted()).isFalse();
				assertThat(this.ended).isEmpty();
			}
			state.increment("count", 1);
		};
		this.application.onRevoked = (state) -> {
			assertThat(this.reader.calls()).last().isEqualTo("stop");
			assertThat(this.ended).isEmpty();
			state.put("farewell", true);
		};
		deliver(1, 5);

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "revoked");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("2"), Map.of("count", "2", "farewell", "true")));
		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0");
		assertThat(worker.ended()).isDone();
	}

	@Test
	void drainIsReportedAfterTheCommit() {
		ShardWorker worker = start();
		deliver(1, 1);
		this.application.onRevoked = (state) -> state.put("farewell", true);
		this.checkpoints.setAway(true);
		worker.drain();
		this.threads.runAll();
		this.threads.pass(Duration.ofSeconds(1));
		assertThat(this.ended).isEmpty();
		assertThat(worker.ended()).isNotDone();

		this.checkpoints.setAway(false);
		this.threads.pass(Duration.ofSeconds(1));
		assertThat(this.ended).hasSize(1);
		assertThat(this.application.calls).containsExactly("assigned", "r1", "revoked");
		assertThat(checkpoint().state()).containsEntry("farewell", "true");
	}

	@Test
	void failedRevocationCallbackDoesNotBlockTheHandover() {
		ShardWorker worker = start();
		deliver(1, 1);
		this.application.onRevoked = (state) -> {
			state.put("farewell", true);
			throw new IOException("caused by the test");
		};
		worker.drain();
		this.threads.runAll();

		assertThat(this.ended).hasSize(1);
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of()));
	}

	@Test
	void drainDoesNotWaitForThePauseAfterAFailure() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			throw new IOException("caused by the test");
		};
		deliver(1, 1);
		worker.drain();
		this.threads.runAll();

		assertThat(this.ended).hasSize(1);
		assertThat(checkpoint().offset()).isNull();
	}

	@Test
	void drainBeforeTheStartNeedsNoAcquisitionAndNoCallback() {
		this.lease.end();
		ShardWorker worker = start();
		worker.drain();
		this.threads.runAll();

		assertThat(this.ended).hasSize(1);
		assertThat(this.application.calls).isEmpty();
	}

	@Test
	void drainCancelledInTimeChangesNothing() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			if (record.payload().equals("r2")) {
				worker.drain();
				assertThat(worker.cancelDrain()).isTrue();
			}
		};
		deliver(1, 3);
		worker.drain();
		worker.cancelDrain();
		deliver(4, 4);

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r3", "r4");
		assertThat(this.reader.calls()).containsExactly("start after null");
		assertThat(this.ended).isEmpty();
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(worker.problem()).as("it no longer moves").isNull();
	}

	@Test
	void drainCancelledAfterTheCallLosesNoRecord() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			if (record.payload().equals("r1")) {
				worker.drain();
			}
		};
		this.reader.deliver(SHARD, 1, 2);
		this.threads.runOne();
		assertThat(this.application.calls).containsExactly("assigned", "r1");
		worker.cancelDrain();
		this.threads.runAll();

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2");
	}

	@Test
	void drainCannotBeCancelledAfterTheRevocationCallbackHasBegun() {
		ShardWorker worker = start();
		List<Boolean> cancelled = new ArrayList<>();
		this.application.onRevoked = (state) -> cancelled.add(worker.cancelDrain());
		worker.drain();
		this.threads.runAll();
		cancelled.add(worker.cancelDrain());
		this.threads.runAll();
		assertThat(cancelled).containsExactly(false, false);

		assertThat(this.application.calls).containsExactly("assigned", "revoked");
		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0");
	}

	@Test
	void cancelledDrainDoesNotKeepAnAbandonedWorker() {
		ShardWorker worker = start();
		worker.drain();
		worker.abandon();
		assertThat(worker.cancelDrain()).isFalse();
		this.threads.runAll();

		assertThat(worker.ended()).isDone();
	}

	/** A record comes whose call returns when its thread is interrupted. */
	private Thread stickInCall() throws InterruptedException {
		CountDownLatch called = new CountDownLatch(1);
		this.application.onRecord = (record, state) -> {
			called.countDown();
			untilInterrupted();
		};
		this.reader.deliver(SHARD, 1, 1);
		Thread busy = new Thread(this.threads::runAll);
		busy.start();
		assertThat(called.await(10, TimeUnit.SECONDS)).isTrue();
		return busy;
	}

	/** The shard has no target, but the drain must be reported. */
	@Test
	void callThatDoesNotReturnIsReportedWithItsStack() throws Exception {
		ShardWorker worker = start();
		Thread busy = stickInCall();
		this.clock.advance(Duration.ofMinutes(5));
		assertThat(worker.problem()).isNull();
		this.clock.advance(Duration.ofSeconds(1));
		Awaitility.await()
			.atMost(Duration.ofSeconds(10))
			.untilAsserted(() -> assertThat(worker.problem()).asString()
				.contains("A call of Application.handle", "has not returned for 301 s",
						"it is at io.github.shardkeeper.worker.ShardWorkerTests.untilInterrupted(ShardWorkerTests.java:",
						"'shardkeeper.consumer.long-call'"));

		busy.interrupt();
		busy.join();
		assertThat(worker.problem()).isNull();
	}

	@Test
	void overdueDrainInterruptsTheCallAndLogsItsStack(CapturedOutput output) throws Exception {
		ShardWorker worker = start();
		Thread busy = stickInCall();
		worker.drain();
		this.clock.advance(Duration.ofSeconds(6));
		Awaitility.await()
			.atMost(Duration.ofSeconds(10))
			.untilAsserted(() -> assertThat(worker.problem()).asString()
				.contains("Has been waiting to be handed over for 6 s", "Application.handle", "has not returned",
						"it is at io.github.shardkeeper.worker.ShardWorkerTests.untilInterrupted(ShardWorkerTests.java:"));

		worker.interrupt(Duration.ofSeconds(50));
		busy.join();
		this.threads.runAll();
		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0");
		assertThat(checkpoint().offset()).as("the record is handled elsewhere").isNull();
		assertThat(output)
			.contains("orders/1 has been waiting to be handed over for 50 s", "Application.handle",
					"ShardWorkerTests.untilInterrupted", "'shardkeeper.handover.timeout'")
			.doesNotContain("at " + ShardHandler.class.getName());
	}

	@Test
	void overdueDrainLogsAnotherReason(CapturedOutput output) {
		ShardWorker worker = start();
		deliver(1, 1);
		this.application.onRevoked = (state) -> state.put("farewell", true);
		this.checkpoints.setAway(true);
		worker.drain();
		this.threads.runAll();
		worker.interrupt(Duration.ofSeconds(50));

		assertThat(output)
			.contains("orders/1 has been waiting to be handed over for 50 s, which is too long, but The store cannot");
	}

	@Test
	void lostCheckpointIsWrittenBackUnderTheSameToken() {
		start();
		this.application.onRecord = (record, state) -> {
			state.put(record.payload(), 1);
			state.increment("count", 1);
			if (record.payload().equals("r3")) {
				state.remove("r1");
			}
		};
		deliver(1, 2);
		this.checkpoints.empty();
		deliver(3, 3);

		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "3", "r2", "1", "r3", "1")));
		assertThat(this.ended).isEmpty();
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r3");
		assertThat(this.meters).endsWith("committed true");
		deliver(4, 4);
		assertThat(checkpoint().offset()).isEqualTo(new Offset("4"));
	}

	@Test
	void checkpointIsWrittenBackWithoutNewChanges() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> state.increment("count", 1);
		deliver(1, 2);
		this.checkpoints.empty();
		worker.writeBack();
		this.threads.runAll();

		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("2"), Map.of("count", "2")));
	}

	@Test
	void writeBackRemovesEntriesOfAnOlderCheckpoint() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> state.increment("count", 1);
		deliver(1, 1);
		this.checkpoints.empty();
		this.checkpoints.acquireNow(SHARD, Token.NONE);
		this.checkpoints.commit(SHARD, Token.NONE,
				Commit.of(CommitNumber.ofWhole(1), new Offset("0"), Map.of("removed since", "1")));
		worker.writeBack();
		this.threads.runAll();

		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1")));
	}

	@Test
	void lastCommitWithoutACheckpointWaitsForTheLease() {
		ShardWorker worker = start();
		this.application.onRevoked = (state) -> state.put("farewell", true);
		deliver(1, 1);
		this.checkpoints.empty();
		this.clock.advance(LEASE);
		worker.drain();
		this.threads.runAll();
		assertThat(this.ended).isEmpty();
		assertThat(worker.problem()).asString().contains("The store was emptied");

		holdLease();
		worker.wake();
		this.threads.runAll();
		assertThat(this.ended).hasSize(1);
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("farewell", "true")));
	}

	@Test
	void abandonedWorkerWritesNothingBack() {
		ShardWorker worker = start();
		this.application.onRevoked = (state) -> state.put("farewell", true);
		deliver(1, 1);
		this.checkpoints.empty();
		worker.abandon();
		this.threads.runAll();

		assertThat(worker.ended()).isDone();
		assertThat(checkpoint()).isEqualTo(new Checkpoint(null, Map.of()));
	}

	@Test
	void shardOfANewerOwnerIsNotWrittenBack() {
		ShardWorker worker = start();
		deliver(1, 1);
		this.checkpoints.empty();
		this.checkpoints.acquireNow(SHARD, NEWER);
		worker.writeBack();
		this.threads.runAll();

		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0");
		assertThat(checkpoint().offset()).isNull();
	}

	@Test
	void eventsReportWhichShardsAreConsumed() {
		ShardWorker worker = start();
		assertThat(this.events).containsExactly("assigned 10");
		worker.drain();
		this.threads.runAll();
		assertThat(this.events).containsExactly("assigned 10", "revoked 10");

		ShardWorker next = worker(NEWER, handler("handle", new JsonMapper()), worker.ended());
		this.threads.runAll();
		next.abandon();
		this.threads.runAll();
		assertThat(this.events).containsExactly("assigned 10", "revoked 10", "assigned 20", "lost 20");
	}

	@Test
	void shardIsConsumedEvenIfItsEventFails() {
		this.noNews = true;
		start();
		this.threads.pass(Duration.ofMillis(200));
		deliver(1, 1);

		assertThat(this.application.calls).containsExactly("assigned", "r1");
	}

	@Test
	void failedStartOfTheReaderIsRepeatedWithoutAnotherCallback() {
		this.reader.failNextStart();
		ShardWorker worker = start();
		assertThat(worker.problem()).asString().startsWith("Unexpected failure: java.lang.IllegalStateException at");
		assertThat(this.events).isEmpty();
		this.threads.pass(Duration.ofMillis(200));
		deliver(1, 1);

		assertThat(this.application.calls).containsExactly("assigned", "r1");
		assertThat(this.events).containsExactly("assigned " + TOKEN);
		assertThat(worker.problem()).isNull();
	}

	@Test
	void nothingHappensAfterTheEnd() {
		ShardWorker worker = start();
		worker.drain();
		this.threads.runAll();
		worker.drain();
		worker.abandon();
		worker.wake();
		this.threads.runAll();

		assertThat(this.ended).hasSize(1);
		assertThat(this.application.calls).containsExactly("assigned", "revoked");
	}

	@Test
	@Promise("No zombie writes")
	void staleCommitEndsTheWorker() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> state.increment("count", 1);
		deliver(1, 1);
		this.checkpoints.acquireNow(SHARD, NEWER);
		deliver(2, 2);

		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0");
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "revoked");
		assertThat(this.reader.calls()).last().isEqualTo("stop");
		assertThat(this.application.lastContext.isHeld()).isFalse();
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1")));
		assertThat(this.meters).last().isEqualTo("committed false");
		worker.wake();
		this.threads.runAll();
		assertThat(this.ended).hasSize(1);
	}

	@Test
	void staleLastCommitIsReportedOnce() {
		ShardWorker worker = start();
		this.checkpoints.acquireNow(SHARD, NEWER);
		this.application.onRevoked = (state) -> state.put("farewell", true);
		worker.drain();
		this.threads.runAll();

		assertThat(this.ended).hasSize(1);
		assertThat(checkpoint().state()).isEmpty();
	}

	@Test
	void refusedAcquisitionIsReportedWithTheFence() {
		this.checkpoints.acquireNow(SHARD, NEWER);
		start();

		assertThat(this.ended).containsExactly("orders/1 token 10 fence 20");
		assertThat(this.application.calls).isEmpty();
		assertThat(this.reader.calls()).doesNotContain("start after null");
	}

	@Test
	void acquisitionIsRepeatedWhenTheStoreIsUnavailable() {
		this.checkpoints.setAway(true);
		ShardWorker worker = start();
		assertThat(worker.problem()).asString().contains("The store cannot be used");
		assertThat(this.application.calls).isEmpty();
		this.checkpoints.setAway(false);
		this.threads.pass(Duration.ofMillis(200));

		assertThat(this.application.calls).containsExactly("assigned");
		assertThat(worker.problem()).isNull();
	}

	@Test
	void refusalIsNotTakenForAnUnavailableStore() {
		ShardWorker worker = start();
		this.checkpoints.refuse("only 1 of 2 replicas have a change after 200 ms");
		deliver(1, 1);

		assertThat(worker.problem())
			.isEqualTo(ShardProblem.alarm("The store cannot be used: only 1 of 2 replicas have a change after 200 ms"));
	}

	@Test
	void repeatedRefusalIsLoggedOnce(CapturedOutput output) {
		start();
		this.checkpoints.refuse("the key k holds a list");
		deliver(1, 1);
		for (int i = 0; i < 20; i++) {
			this.threads.pass(Duration.ofSeconds(1));
		}

		assertThat(output.getOut())
			.containsOnlyOnce("orders/1 is held up; retrying. The store cannot be used: the key k");
	}

	@Test
	void problemOfACommitIsReportedUntilOneIsAnswered() {
		ShardWorker worker = start();
		this.checkpoints.holdAnswers();
		deliver(1, 1);
		this.checkpoints.loseAnswer();
		this.threads.runAll();
		this.threads.pass(Duration.ofMillis(200));

		assertThat(this.checkpoints.heldAnswers()).as("sent again").isOne();
		assertThat(worker.problem()).asString().contains("The store cannot be used: no reply");
		this.checkpoints.answerAll();
		this.threads.runAll();
		assertThat(worker.problem()).isNull();
	}

	@Test
	void commitIsRepeatedWhenTheStoreIsUnavailable() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> state.increment("count", 1);
		this.checkpoints.setAway(true);
		deliver(1, 2);
		assertThat(worker.problem()).asString().contains("The store cannot be used");
		assertThat(checkpoint().offset()).isNull();
		this.checkpoints.setAway(false);
		this.threads.pass(Duration.ofMillis(200));

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("2"), Map.of("count", "2")));
		assertThat(worker.problem()).as("the store replies again").isNull();
	}

	@Test
	void failedAssignedCallbackIsRepeatedBeforeAnyRecord() {
		this.application.onAssigned = (state) -> {
			state.increment("starts", 1);
			if (this.application.calls.size() < 3) {
				throw new IOException("caused by the test");
			}
		};
		ShardWorker worker = start();
		assertThat(worker.problem()).asString()
			.contains("@OnShardAssigned", "java.io.IOException at")
			.doesNotContain("caused by the test");
		assertThat(this.reader.calls()).isEmpty();
		this.threads.pass(Duration.ofMillis(200));
		this.threads.pass(Duration.ofMillis(400));

		assertThat(this.application.calls).containsExactly("assigned", "assigned", "assigned");
		assertThat(this.reader.calls()).containsExactly("start after null");
		assertThat(worker.problem()).isNull();
		assertThat(checkpoint().state()).containsExactly(Map.entry("starts", "1"));
	}

	@Test
	void assignedCallbackInterruptedAtTheEndOfTheLeaseIsNoFailure() {
		ShardWorker[] worker = new ShardWorker[1];
		this.application.onAssigned = (state) -> {
			if (this.application.calls.size() == 1) {
				this.clock.advance(LEASE);
				worker[0].interruptHandler();
				untilInterrupted();
			}
		};
		worker[0] = worker(TOKEN, handler("handle", new JsonMapper()), CompletableFuture.completedFuture(null));
		this.threads.runAll();
		assertThat(worker[0].problem()).isNull();
		assertThat(this.threads.hasAlarms()).isFalse();

		holdLease();
		worker[0].wake();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned", "assigned");
	}

	@Test
	void nothingIsAcquiredWithoutLease() {
		this.lease.end();
		ShardWorker worker = start();
		assertThat(this.application.calls).isEmpty();

		holdLease();
		worker.wake();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned");
	}

	@Test
	void handingOutPausesBeforeTheEndOfTheLeaseAndResumes() {
		ShardWorker worker = start();
		this.clock.advance(Duration.ofSeconds(8));
		deliver(1, 2);
		assertThat(this.application.calls).containsExactly("assigned");

		this.clock.advance(Duration.ofSeconds(2));
		worker.wake();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned");

		holdLease();
		worker.wake();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2");
	}

	@Test
	void noRecordIsHandedOutShortlyBeforeTheEndOfTheLease() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			if (record.payload().equals("r1")) {
				// Less than what makes it commit first.
				this.clock.advance(Duration.ofMillis(900));
				assertThat(this.application.lastContext.isHeld()).isTrue();
			}
		};
		this.clock.advance(Duration.ofMillis(7500));
		deliver(1, 2);
		assertThat(this.application.calls).containsExactly("assigned", "r1");
		assertThat(checkpoint().offset()).isEqualTo(new Offset("1"));

		holdLease();
		worker.wake();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2");
	}

	@Test
	@Promise("One consumer")
	void leaseIsCheckedForEveryRecord() {
		start();
		this.application.onRecord = (record, state) -> this.clock.advance(Duration.ofSeconds(3));
		deliver(1, 5);

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r3");
	}

	@Test
	void recordIsNotHandedOutIfItsConversionOutlastsTheLease() {
		SimpleModule slow = new SimpleModule();
		slow.addDeserializer(Visit.class, new ValueDeserializer<>() {
			@Override
			public Visit deserialize(JsonParser parser, DeserializationContext context) {
				parser.skipChildren();
				ShardWorkerTests.this.clock.advance(LEASE);
				return new Visit("slow");
			}
		});
		ShardWorker worker = startWith("handleVisit", JsonMapper.builder().addModule(slow).build());
		this.reader.deliver(SHARD, 1, "{}");
		this.threads.runAll();

		assertThat(this.application.calls).containsExactly("assigned");
		assertThat(worker.problem()).isNull();
		assertThat(checkpoint().offset()).isNull();
	}

	@Test
	void callInterruptedAtTheEndOfTheLeaseIsNoFailure() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			state.increment("count", 1);
			if (this.application.calls.size() == 2) {
				this.clock.advance(Duration.ofSeconds(9));
				worker.interruptHandler();
				untilInterrupted();
			}
		};
		deliver(1, 1);
		assertThat(this.application.calls).containsExactly("assigned", "r1");
		assertThat(worker.problem()).isNull();
		assertThat(this.meters).doesNotContain("failed");
		assertThat(this.threads.hasAlarms()).isFalse();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();

		holdLease();
		worker.wake();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r1");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1")));
	}

	@Test
	void interruptedCallIsRepeatedIfTheLeaseIsHeldAgainAtItsReturn() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			state.increment("count", 1);
			if (this.application.calls.size() == 2) {
				this.lease.end();
				worker.suspend();
				holdLease();
				assertThat(this.application.lastContext.isHeld()).isTrue();
				untilInterrupted();
			}
		};
		deliver(1, 1);

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r1");
		assertThat(this.meters).doesNotContain("failed");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1")));
	}

	@Test
	void interruptedAssignedCallbackIsRepeatedIfTheLeaseIsHeldAgainAtItsReturn() {
		ShardWorker[] worker = new ShardWorker[1];
		this.application.onAssigned = (state) -> {
			if (this.application.calls.size() == 1) {
				this.lease.end();
				worker[0].suspend();
				holdLease();
				untilInterrupted();
			}
		};
		worker[0] = worker(TOKEN, handler("handle", new JsonMapper()), CompletableFuture.completedFuture(null));
		this.threads.runAll();

		assertThat(this.application.calls).containsExactly("assigned", "assigned");
		assertThat(worker[0].problem()).isNull();
	}

	@Test
	void abandonedWorkerIsInterruptedAndReportsNothing() {
		ShardWorker worker = start();
		this.application.onRecord = (record, state) -> {
			worker.abandon();
			assertThat(this.application.lastContext.isHeld()).isFalse();
			untilInterrupted();
		};
		deliver(1, 2);

		assertThat(this.application.calls).containsExactly("assigned", "r1", "revoked");
		assertThat(worker.ended()).isDone();
		assertThat(this.ended).isEmpty();
		assertThat(checkpoint().offset()).isNull();
	}

	@Test
	void abandonedWorkerDoesNotWaitForItsLastCommit() {
		ShardWorker worker = start();
		this.checkpoints.setAway(true);
		deliver(1, 1);
		worker.abandon();
		this.threads.runAll();

		assertThat(worker.ended()).isDone();
		assertThat(this.ended).isEmpty();
	}

	@Test
	void successorWaitsForTheEndOfItsPredecessor() {
		ShardWorker predecessor = start();
		deliver(1, 1);
		ShardWorker successor = worker(NEWER, handler("handle", new JsonMapper()), predecessor.ended());
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned", "r1");
		successor.wake();
		this.threads.runAll();
		assertThat(this.application.calls).hasSize(2);

		predecessor.abandon();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned", "r1", "revoked", "assigned");
		assertThat(this.reader.calls()).containsExactly("start after null", "stop", "start after 1");
		assertThat(this.application.lastContext.token()).isEqualTo(NEWER);
	}

	@Test
	void drainingSuccessorWaitsForItsPredecessor() {
		ShardWorker predecessor = start();
		ShardWorker successor = worker(NEWER, handler("handle", new JsonMapper()), predecessor.ended());
		successor.drain();
		this.threads.runAll();
		assertThat(this.ended).isEmpty();

		predecessor.abandon();
		this.threads.runAll();
		assertThat(this.ended).containsExactly("orders/1 token 20 fence 0");
	}

	@Test
	void fullBufferPausesReadingUntilHalfOfItIsHandled() {
		start();
		assertThat(this.reader.deliver(SHARD, 1, 1000)).isFalse();
		this.threads.runAll();

		assertThat(this.reader.calls()).containsExactly("start after null", "resume");
		assertThat(this.application.calls).hasSize(1001);
	}

	@Test
	void handlerGetsTheContextOfItsShard() {
		start();
		this.application.onRecord = (record, state) -> {
			assertThat(record.shard()).isEqualTo(SHARD);
			assertThat(record.key()).isEqualTo("key");
			ShardContext context = this.application.lastContext;
			assertThat(context.group()).isEqualTo("group");
			assertThat(context.shard()).isEqualTo(SHARD);
			assertThat(context.member()).isEqualTo(ME);
			assertThat(context.token()).isEqualTo(TOKEN);
			assertThat(context.isHeld()).isTrue();
		};
		deliver(1, 1);

		assertThat(checkpoint().offset()).isEqualTo(new Offset("1"));
	}

	@Test
	void stateCannotBeUsedAfterTheCall() {
		start();
		List<ShardState> kept = new ArrayList<>();
		this.application.onRecord = (record, state) -> {
			kept.add(state);
			kept.get(0).put("k", record.payload());
		};
		deliver(1, 2);

		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("k", "\"r1\"")));
	}

	/** Handler body that waits for something that never comes. */
	private static void untilInterrupted() throws InterruptedException {
		assertThat(new CountDownLatch(1).await(10, TimeUnit.SECONDS)).isTrue();
	}

	private ShardWorker start() {
		return startWith("handle", new JsonMapper());
	}

	private ShardWorker startWith(String method, JsonMapper mapper) {
		ShardWorker worker = worker(TOKEN, handler(method, mapper), CompletableFuture.completedFuture(null));
		this.threads.runAll();
		return worker;
	}

	/** All workers of an instance have one. */
	private ShardWorker worker(Token token, ShardHandler handler, CompletableFuture<Void> predecessorEnded) {
		if (this.context == null) {
			this.context = new WorkerContext("group",
					new WorkerContext.Stores(this.checkpoints, this.reader, OutputSettings.NONE),
					new WorkerContext.Runtime(this.clock, InstantSource.fixed(Instant.EPOCH), this.threads,
							this.threads.timer()),
					new WorkerContext.Topics((topic) -> this.settings.get(), new BufferBudget(Long.MAX_VALUE),
							new StateCache(1_000_000), new StateValues(new JsonMapper(), List.of())),
					new WorkerContext.Observers((topic) -> new Meters(), new Events(), this::ended, true), this.lease);
		}
		return new ShardWorker(SHARD, token, ME, handler, this.context, predecessorEnded);
	}

	private void ended(ShardId shard, Token token, Token fence, boolean completed) {
		if (this.failingEnds-- > 0) {
			throw new InternalError("caused by the test");
		}
		this.ended.add("%s token %s fence %s".formatted(shard, token, fence));
	}

	private ShardHandler handler(String method, JsonMapper mapper) {
		return new ShardHandler("orders", () -> this.application,
				HandlerSignature.ofConsumer(method(method), Application.class), List.of(),
				List.of(HandlerSignature.ofCallback(method("assigned"), Application.class, "@OnShardAssigned")),
				List.of(HandlerSignature.ofCallback(method("revoked"), Application.class, "@OnShardRevoked")),
				new JsonPayloadConverter(mapper), Duration.ZERO);
	}

	private static Method method(String name) {
		return Stream.of(Application.class.getDeclaredMethods())
			.filter((method) -> method.getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

	private void deliver(int first, int last) {
		this.reader.deliver(SHARD, first, last);
		this.threads.runAll();
	}

	private Checkpoint checkpoint() {
		return this.checkpoints.read(SHARD);
	}

	record Visit(String client) {

	}

	/** Bean of the application. */
	static final class Application {

		private final List<String> calls = new ArrayList<>();

		private OnRecord onRecord = (record, state) -> {
		};

		private OnState onAssigned = (state) -> {
		};

		private OnState onRevoked = (state) -> {
		};

		private Runnable onVisit = () -> {
		};

		private ShardContext lastContext;

		void handle(ShardRecord<String> record, ShardContext context, ShardState state) throws Exception {
			this.calls.add(record.payload());
			this.lastContext = context;
			this.onRecord.handle(record, state);
		}

		void handleVisit(Visit visit) {
			this.calls.add("visit of " + visit.client());
			this.onVisit.run();
		}

		void assigned(ShardContext context, ShardState state) throws Exception {
			this.calls.add("assigned");
			this.lastContext = context;
			this.onAssigned.handle(state);
		}

		void revoked(ShardState state) throws Exception {
			this.calls.add("revoked");
			this.onRevoked.handle(state);
		}

	}

	@FunctionalInterface
	interface OnRecord {

		void handle(ShardRecord<String> record, ShardState state) throws Exception;

	}

	@FunctionalInterface
	interface OnState {

		void handle(ShardState state) throws Exception;

	}

	private final class Events implements ConsumerEvents {

		@Override
		public void sessionLost(MemberId member) {
		}

		@Override
		public void sessionResumed(MemberId member, boolean newSession) {
		}

		@Override
		public void assigned(ShardContext shard, @Nullable Offset after) {
			if (ShardWorkerTests.this.noNews) {
				throw new InternalError("caused by the test");
			}
			ShardWorkerTests.this.events.add("assigned " + shard.token());
		}

		@Override
		public void revoked(ShardContext shard, boolean lost) {
			ShardWorkerTests.this.events.add((lost ? "lost " : "revoked ") + shard.token());
		}

	}

	private final class Meters implements ConsumerMeters.TopicMeters {

		@Override
		public void handled(int records, Duration duration) {
			count("handled");
		}

		@Override
		public void deadLettered() {
			count("dead lettered");
		}

		@Override
		public void failed(Duration duration, Throwable failure) {
			count("failed");
		}

		@Override
		public void notConverted() {
			count("failed");
		}

		@Override
		public void committed(boolean accepted) {
			count("committed " + accepted);
		}

		private void count(String what) {
			ShardWorkerTests.this.meters.add(what);
			if (ShardWorkerTests.this.metersFail) {
				throw new IllegalArgumentException("There is a meter of another type, caused by the test");
			}
		}

	}

}
