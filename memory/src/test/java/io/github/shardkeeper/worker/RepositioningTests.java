package io.github.shardkeeper.worker;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.handler.HandlerSignature;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.WorkerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reactions of a worker to a seek, and to a move by its source. On the test's own thread
 * and by the test's own clock.
 */
class RepositioningTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(10);

	private static final Token NEWER = new Token(20);

	private static final Duration LEASE = Duration.ofSeconds(10);

	private final SettableClock clock = new SettableClock();

	private final Lease lease = new Lease(LEASE, this.clock.now());

	private final ManualThreads threads = new ManualThreads(this.clock);

	private final FaultyCheckpoints checkpoints = new FaultyCheckpoints();

	private final TestReader reader = new TestReader();

	private final List<String> ended = new ArrayList<>();

	private final List<String> events = new ArrayList<>();

	private TestSettings settings = new TestSettings().commits(CommitMode.BATCH, Duration.ofSeconds(1), 500)
		.maxAttempts(TestSettings.ENDLESS)
		.onFailure(OnFailure.HALT);

	private final Application application = new Application();

	@BeforeEach
	void holdLease() {
		this.lease.renew(this.clock.now(), this.clock.now());
	}

	@Test
	void seekReleasesTheShardAndAcquiresItUnderTheSameToken() {
		ShardWorker worker = start();
		deliver(1, 3);
		seek(worker, "1", false);
		deliver(2, 4);

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r3", "revoked", "assigned", "r2",
				"r3", "r4");
		assertThat(this.reader.calls()).containsExactly("start after null", "stop", "start after 1");
		assertThat(this.events).containsExactly("assigned 10", "revoked 10", "assigned 10");
		assertThat(this.checkpoints.committed()).extracting(Offset::value).containsExactly("3", "1", "4");
		assertThat(checkpoint()).as("its state was kept").isEqualTo(new Checkpoint(new Offset("4"), Map.of("n", "6")));
		assertThat(this.ended).as("no other member is notified").isEmpty();
		assertThat(worker.problem()).isNull();
	}

	@Test
	void forwardSeekSkipsRecordsInBetween() {
		ShardWorker worker = start();
		deliver(1, 2);
		seek(worker, "100", false);

		assertThat(checkpoint().offset()).as("without a record").isEqualTo(new Offset("100"));
		deliver(101, 101);
		assertThat(this.application.calls).endsWith("r2", "revoked", "assigned", "r101");
	}

	@Test
	void resetStartsWithAnEmptyState() {
		ShardWorker worker = start();
		this.application.onRevoked = (state) -> state.put("farewell", 1);
		this.application.onAssigned = (state) -> assertThat(state.get("n", Long.class)).isEmpty();
		deliver(1, 3);
		seek(worker, "1", true);
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of()));
		deliver(2, 3);

		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("n", "2")));
	}

	@Test
	void newOwnerStartsAtThePendingSeek() {
		committedEarlier("7", Map.of("n", "7"));
		SeekRequest request = request("3", false);
		this.application.onAssigned = (state) -> assertThat(state.get("n", Long.class)).contains(7L);
		start();

		assertThat(this.reader.calls()).containsExactly("start after 3");
		assertThat(this.application.calls).containsExactly("assigned");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("n", "7")));
		assertThat(seeks()).isEqualTo(new Seeks(request.number(), null));
	}

	@Test
	void newOwnerStartsWithAnEmptyStateAfterAReset() {
		committedEarlier("7", Map.of("n", "7", "x", "1"));
		request("3", true);
		this.application.onAssigned = (state) -> state.put("x", 2);
		start();

		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("x", "2")));
	}

	@Test
	void recordsDoneAheadAreHandledAgainAfterASeek() {
		doneAhead("3", "5");
		request("4", false);
		start();
		deliver(5, 5);

		assertThat(this.application.calls).containsExactly("assigned", "r5");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("5"), Map.of("n", "1")));
	}

	@Test
	void notificationWithoutARequestHasNoEffect() {
		ShardWorker worker = start();
		deliver(1, 1);
		worker.attend();
		this.threads.runAll();
		deliver(2, 2);

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2");
		assertThat(this.checkpoints.committed()).extracting(Offset::value).containsExactly("1", "2");
	}

	@Test
	void seekIsCarriedOutOnce() {
		ShardWorker worker = start();
		deliver(1, 3);
		this.checkpoints.holdAnswers();
		seek(worker, "1", false);
		worker.attend();
		this.threads.runAll();
		this.checkpoints.answerAll();
		this.threads.runAll();
		worker.attend();
		this.threads.runAll();

		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r3", "revoked", "assigned");
	}

	@Test
	void lastOfSeveralSeeksCounts() {
		ShardWorker worker = start();
		deliver(1, 3);
		this.checkpoints.holdAnswers();
		this.application.onRevoked = (state) -> state.put("farewell", 1);
		seek(worker, "1", false);
		SeekRequest last = request("2", false);
		worker.attend();
		this.threads.runAll();
		this.checkpoints.answerAll();
		this.threads.runAll();

		assertThat(this.reader.calls()).containsExactly("start after null", "stop", "start after 2");
		assertThat(seeks()).isEqualTo(new Seeks(last.number(), null));
	}

	@Test
	void seekDuringTheCommitOfAnEarlierOneIsNotMissed() {
		ShardWorker worker = start();
		deliver(1, 3);
		request("1", false);
		this.checkpoints.holdAnswers();
		worker.attend();
		this.threads.runAll();
		assertThat(this.reader.calls()).as("its commit is under way").endsWith("start after 1");
		seek(worker, "2", false);
		this.checkpoints.answerAll();
		this.threads.runAll();

		assertThat(this.reader.calls()).endsWith("start after 1", "stop", "start after 2");
		assertThat(checkpoint().offset()).isEqualTo(new Offset("2"));
	}

	@Test
	void seekDuringAnAcquisitionIsNotMissed() {
		this.checkpoints.holdAcquisitions();
		ShardWorker worker = start();
		seek(worker, "2", false);
		this.checkpoints.answerAcquisitions();
		this.threads.runAll();

		assertThat(this.reader.calls()).endsWith("start after 2");
	}

	@Test
	void commitNumbersContinueSoThatALateCommitIsRejected() {
		ShardWorker worker = start();
		deliver(1, 3);
		Commit late = this.checkpoints.sent().get(0);
		seek(worker, "1", false);
		this.checkpoints.commit(SHARD, TOKEN, late);

		assertThat(this.checkpoints.sent()).extracting((commit) -> commit.number().attempt())
			.containsExactly(1001L, 1002L, 1001L);
		assertThat(checkpoint().offset()).isEqualTo(new Offset("1"));
	}

	@Test
	void seekWaitsForTheCommitUnderWay() {
		ShardWorker worker = start();
		this.checkpoints.holdAnswers();
		deliver(1, 3);
		seek(worker, "1", false);
		assertThat(this.application.calls).endsWith("r3", "revoked");
		assertThat(this.reader.calls()).containsExactly("start after null", "stop");

		this.checkpoints.answerAll();
		this.threads.runAll();
		assertThat(this.reader.calls()).endsWith("start after 1");
		assertThat(this.checkpoints.committed()).extracting(Offset::value).containsExactly("3", "1");
	}

	@Test
	void runningCallsReturnBeforeTheRevocationCallback() {
		this.settings.ordering(Ordering.KEY, 8);
		ShardWorker worker = start();
		this.reader.deliver(SHARD, 1, 1);
		this.threads.runOne();
		request("0", false);
		worker.attend();
		// The call has its thread, but not its turn; the worker looks after it.
		this.application.onRecord = () -> assertThat(this.application.calls).doesNotContain("revoked");
		this.threads.runAll();

		assertThat(this.application.calls).containsExactly("assigned", "r1", "revoked", "assigned");
		assertThat(this.checkpoints.committed()).extracting(Offset::value).containsExactly("1", "0");
	}

	@Test
	void callThatBlocksASeekIsReported() {
		this.settings.ordering(Ordering.KEY, 8);
		ShardWorker worker = start();
		List<String> problems = new ArrayList<>();
		this.application.onRecord = () -> {
			request("0", false);
			worker.attend();
			this.threads.runOne();
			this.clock.advance(Duration.ofSeconds(6));
			problems.add(String.valueOf(worker.problem()));
		};
		deliver(1, 1);

		assertThat(problems).singleElement(InstanceOfAssertFactories.STRING)
			.startsWith("Has been waiting to be moved to another position for 6 s, but a call of")
			.contains("has not returned");
		assertThat(worker.problem()).isNull();
	}

	@Test
	void drainDuringASeekHandsThePositionOver() {
		ShardWorker worker = start();
		deliver(1, 3);
		this.application.onRevoked = (state) -> state.put("farewell", 1);
		this.checkpoints.holdAnswers();
		seek(worker, "1", false);
		worker.drain();
		this.threads.runAll();
		assertThat(this.ended).isEmpty();
		this.checkpoints.answerAll();
		this.threads.runAll();

		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0");
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r3", "revoked");
		worker(NEWER);
		this.threads.runAll();
		assertThat(this.reader.calls()).endsWith("start after 1");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("n", "3", "farewell", "1")));
	}

	@Test
	void cancelledDrainDoesNotStopTheSeek() {
		ShardWorker worker = start();
		deliver(1, 3);
		request("1", false);
		worker.attend();
		worker.drain();
		assertThat(worker.cancelDrain()).isTrue();
		this.threads.runAll();

		assertThat(this.reader.calls()).endsWith("start after 1");
		assertThat(this.ended).isEmpty();
	}

	@Test
	void lostShardIsNotAcquiredAgainAfterASeek() {
		ShardWorker worker = start();
		deliver(1, 3);
		this.application.onRevoked = (state) -> state.put("farewell", 1);
		this.checkpoints.holdAnswers();
		seek(worker, "1", false);
		worker.abandon();
		this.threads.runAll();
		this.checkpoints.answerAll();
		this.threads.runAll();

		assertThat(worker.ended()).isDone();
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r3", "revoked");
		assertThat(this.reader.calls()).containsExactly("start after null", "stop");
		assertThat(this.events).containsExactly("assigned 10", "lost 10");
	}

	@Test
	void fencedWorkerEndsDuringASeek() {
		ShardWorker worker = start();
		deliver(1, 3);
		request("1", false);
		this.checkpoints.acquireNow(SHARD, NEWER);
		worker.attend();
		this.threads.runAll();

		assertThat(this.ended).containsExactly("orders/1 token 10 fence 20");
		assertThat(seeks().pending()).as("left to the newer owner").isNotNull();
	}

	@Test
	void shardIsNotAcquiredAgainWithoutALease() {
		ShardWorker worker = start();
		deliver(1, 3);
		this.clock.advance(LEASE);
		worker.suspend();
		seek(worker, "1", false);
		assertThat(this.reader.calls()).containsExactly("start after null", "stop");

		holdLease();
		worker.wake();
		this.threads.runAll();
		assertThat(this.reader.calls()).endsWith("start after 1");
		assertThat(this.application.calls).endsWith("revoked", "assigned");
	}

	@Test
	void unavailableStoreIsAskedAgain() {
		ShardWorker worker = start();
		deliver(1, 3);
		this.checkpoints.setAway(true);
		seek(worker, "1", false);
		assertThat(worker.problem()).asString().contains("The store cannot be used");
		this.checkpoints.setAway(false);
		this.threads.pass(Duration.ofSeconds(1));

		assertThat(this.reader.calls()).endsWith("start after 1");
		assertThat(worker.problem()).isNull();
	}

	@Test
	void writeBackDoesNotUndoASeek() {
		ShardWorker worker = start();
		deliver(1, 3);
		seek(worker, "1", true);
		deliver(2, 2);
		this.checkpoints.empty();
		worker.writeBack();
		this.threads.runAll();

		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("2"), Map.of("n", "1")));
		assertThat(seeks().applied()).as("the request is marked as applied").isPositive();
	}

	@Test
	void seekThatReturnsWithLostWritesIsNotCarriedOutTwice() {
		ShardWorker worker = start();
		deliver(1, 3);
		SeekRequest request = request("1", true);
		Object before = this.checkpoints.snapshot();
		worker.attend();
		this.threads.runAll();
		deliver(2, 3);
		this.checkpoints.loseWritesSince(before);
		worker.writeBack();
		this.threads.runAll();

		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("n", "2")));
		assertThat(seeks()).isEqualTo(new Seeks(request.number(), null));
		assertThat(this.application.calls).endsWith("revoked", "assigned", "r2", "r3");
	}

	@Test
	void seekThatReturnsUnnoticedDoesNotBlockCompletion() {
		ShardWorker worker = start();
		SeekRequest request = request("1", false);
		Object before = this.checkpoints.snapshot();
		worker.attend();
		this.threads.runAll();
		this.checkpoints.loseWritesSince(before);
		this.reader.end(SHARD);
		this.threads.runAll();

		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0 completed");
		assertThat(seeks()).isEqualTo(new Seeks(request.number(), null));
	}

	@Test
	void seekWithoutNotificationIsFoundAfterLostWrites() {
		ShardWorker worker = start();
		deliver(1, 3);
		request("1", false);
		worker.writeBack();
		this.threads.runAll();

		assertThat(this.reader.calls()).endsWith("start after 1");
		assertThat(checkpoint().offset()).isEqualTo(new Offset("1"));
	}

	@Test
	void acknowledgmentAfterASeekHasNoEffect() {
		this.settings.commits(CommitMode.MANUAL, Duration.ofSeconds(1), 500);
		ShardWorker worker = startWith("handleByHand");
		deliver(1, 3);
		Acknowledgment before = this.application.acknowledgments.get(2);
		seek(worker, "1", false);
		deliver(2, 3);
		before.acknowledge();
		this.threads.runAll();
		this.threads.pass(Duration.ofSeconds(2));
		assertThat(checkpoint().offset()).isEqualTo(new Offset("1"));

		this.application.acknowledgments.get(3).acknowledge();
		this.threads.runAll();
		this.threads.pass(Duration.ofSeconds(2));
		assertThat(checkpoint().offset()).isEqualTo(new Offset("2"));
	}

	@Test
	void acknowledgmentBeforeASeekCounts() {
		this.settings.commits(CommitMode.MANUAL, Duration.ofSeconds(1), 500);
		ShardWorker worker = startWith("handleByHand");
		deliver(1, 3);
		this.application.acknowledgments.get(0).acknowledge();
		this.application.acknowledgments.get(1).acknowledge();
		seek(worker, "0", false);

		assertThat(this.checkpoints.committed()).extracting(Offset::value).containsExactly("2", "0");
	}

	@Test
	void stateOfTheRevocationCallbackIsDroppedBeforeASeekAsInAHandover() {
		this.settings.commits(CommitMode.MANUAL, Duration.ofSeconds(1), 500);
		ShardWorker worker = startWith("countByHand");
		this.application.onRevoked = (state) -> state.increment("n", 100);
		deliver(1, 3);
		this.application.acknowledgments.get(0).acknowledge();
		seek(worker, "1", false);
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("n", "1")));
		deliver(2, 3);
		this.application.acknowledgments.get(3).acknowledge();
		this.application.acknowledgments.get(4).acknowledge();
		this.threads.runAll();
		this.threads.pass(Duration.ofSeconds(2));

		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("n", "3")));
	}

	@Test
	void lateRecordsOfTheReaderAreDroppedAfterASeek() {
		ShardWorker worker = start();
		ShardReader.RecordSink before = this.reader.sink(SHARD);
		deliver(1, 3);
		seek(worker, "1", false);
		before.offer(List.of(TestReader.record(4, "r4")));
		before.ended();
		this.threads.runAll();

		assertThat(this.application.calls).endsWith("r3", "revoked", "assigned");
		assertThat(this.ended).isEmpty();
	}

	@Test
	void seekPassesARecordThatHaltsTheShard() {
		ShardWorker worker = haltedAtSecond();
		assertThat(worker.problem()).asString().contains("Halted at offset 2");
		seek(worker, "2", false);
		assertThat(worker.problem()).isNull();
		deliver(3, 3);

		assertThat(this.application.calls).endsWith("r2", "revoked", "assigned", "r3");
		assertThat(checkpoint().offset()).isEqualTo(new Offset("3"));
	}

	private ShardWorker haltedAtSecond() {
		this.settings.maxAttempts(1);
		ShardWorker worker = start();
		this.application.onRecord = () -> {
			if (this.application.calls.get(this.application.calls.size() - 1).equals("r2")) {
				throw new IllegalStateException("caused by the test");
			}
		};
		deliver(1, 3);
		return worker;
	}

	@Test
	void unusableStateCanBeReset() {
		committedEarlier("7", Map.of("n", "7"));
		this.application.onAssigned = (state) -> assertThat(state.keys()).isEmpty();
		ShardWorker worker = start();
		assertThat(worker.problem()).asString().contains("@OnShardAssigned keeps failing");
		request("0", true);
		worker.attend();
		this.threads.pass(Duration.ofSeconds(1));

		assertThat(worker.problem()).isNull();
		assertThat(this.reader.calls()).containsExactly("start after 0");
		assertThat(this.application.calls).doesNotContain("revoked");
	}

	@Test
	void seekBeforeTheCompletionIsCarriedOut() {
		start();
		deliver(1, 3);
		request("1", false);
		this.reader.end(SHARD);
		this.threads.runAll();
		assertThat(this.ended).isEmpty();
		assertThat(this.reader.calls()).endsWith("start after 1");
		this.reader.deliver(SHARD, 2, 3);
		this.reader.end(SHARD);
		this.threads.runAll();

		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0 completed");
		assertThat(this.checkpoints.seek(SHARD, new Offset("1"), false)).as("too late").isNull();
	}

	@Test
	void recordsOfTheRetryQueueStayThereAfterASeek() {
		this.settings.maxAttempts(1).onFailure(OnFailure.RETRY_QUEUE, Duration.ofDays(1));
		ShardWorker worker = start();
		this.application.onRecord = () -> {
			throw new IllegalStateException("caused by the test");
		};
		deliver(1, 1);
		this.application.onRecord = () -> {
		};
		seek(worker, "1", true);
		deliver(2, 2);

		assertThat(this.checkpoints.due(SHARD, 0, 0, Set.of()).nextIn()).isNotNull();
	}

	@Test
	void moveOfTheSourceIsCommittedBeforeTheNextRecordIsHandled() {
		this.settings.commits(CommitMode.BACKGROUND, Duration.ofSeconds(5), 500);
		start();
		deliver(1, 3);
		this.checkpoints.holdAnswers();
		move("99", false);
		deliver(100, 101);
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("99"), Map.of("n", "3")));
		assertThat(this.application.calls).as("the store has not answered yet").endsWith("r3");

		this.checkpoints.answerAll();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2", "r3", "r100", "r101");
	}

	@Test
	void moveOfTheSourceIsKeptForTheNextOwner() {
		start();
		move("99", false);
		worker(NEWER);
		this.threads.runAll();

		assertThat(this.reader.calls()).endsWith("start after 99");
	}

	@Test
	void moveOfTheSourceWaitsUntilEarlierRecordsAreDone() {
		this.settings.commits(CommitMode.MANUAL, Duration.ofSeconds(1), 500);
		startWith("handleByHand");
		this.reader.deliver(SHARD, 1, 2);
		this.reader.sink(SHARD).movedTo(new Offset("99"), false);
		this.reader.deliver(SHARD, 100, 100);
		this.threads.runAll();
		this.threads.pass(Duration.ofSeconds(2));
		assertThat(this.application.calls).containsExactly("assigned", "r1", "r2");
		assertThat(checkpoint().offset()).isNull();

		this.application.acknowledgments.forEach(Acknowledgment::acknowledge);
		this.threads.runAll();
		assertThat(checkpoint().offset()).isEqualTo(new Offset("99"));
		assertThat(this.application.calls).endsWith("r2", "r100");
	}

	@Test
	void lastOfSeveralMovesOfTheSourceCounts() {
		start();
		this.checkpoints.holdAnswers();
		move("99", false);
		move("199", false);
		this.checkpoints.reply();
		this.threads.runAll();
		deliver(200, 200);
		assertThat(this.application.calls).as("the second one is not answered").containsExactly("assigned");
		this.checkpoints.answerAll();
		this.threads.runAll();

		assertThat(this.checkpoints.committed()).extracting(Offset::value).containsExactly("99", "199", "200");
		assertThat(this.application.calls).containsExactly("assigned", "r200");
	}

	@Test
	void drainHandsAMoveOfTheSourceOver() {
		ShardWorker worker = start();
		deliver(1, 3);
		this.reader.sink(SHARD).movedTo(new Offset("99"), false);
		this.reader.deliver(SHARD, 100, 100);
		worker.drain();
		this.threads.runAll();

		assertThat(this.ended).containsExactly("orders/1 token 10 fence 0");
		assertThat(this.application.calls).doesNotContain("r100");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("99"), Map.of("n", "3")));
	}

	@Test
	void drainDoesNotMoveTheShardPastRecordsThatAreNotHandled() {
		ShardWorker worker = start();
		deliver(1, 3);
		this.reader.deliver(SHARD, 4, 5);
		this.reader.sink(SHARD).movedTo(new Offset("99"), false);
		worker.drain();
		this.threads.runAll();

		assertThat(this.application.calls).doesNotContain("r4");
		assertThat(checkpoint().offset()).isEqualTo(new Offset("3"));
	}

	@Test
	void moveOfTheSourceSurvivesLostWrites() {
		start();
		deliver(1, 3);
		this.checkpoints.empty();
		move("99", false);
		deliver(100, 100);

		assertThat(this.application.calls).endsWith("r3", "r100");
		assertThat(this.checkpoints.committed()).extracting(Offset::value).containsExactly("3", "99", "100");
	}

	@Test
	void recordsWithReusedOffsetsAreHandledAfterAMoveOfTheSource() {
		doneAhead("3", "5");
		start();
		move("-1", true);
		deliver(0, 5);

		assertThat(this.application.calls).containsExactly("assigned", "r0", "r1", "r2", "r3", "r4", "r5");
		assertThat(checkpoint()).isEqualTo(new Checkpoint(new Offset("5"), Map.of("n", "6")));
	}

	@Test
	void recordsDoneAheadAreNotHandledAgainIfTheSourceMovesOverLostRecords() {
		doneAhead("3", "5");
		start();
		move("4", false);
		deliver(5, 6);

		assertThat(this.application.calls).containsExactly("assigned", "r6");
	}

	@Test
	void seekReplacesAMoveOfTheSource() {
		ShardWorker worker = start();
		deliver(1, 3);
		this.reader.sink(SHARD).movedTo(new Offset("99"), false);
		seek(worker, "1", false);
		deliver(2, 2);

		assertThat(this.reader.calls()).endsWith("start after 1");
		assertThat(this.application.calls).endsWith("revoked", "assigned", "r2");
		assertThat(checkpoint().offset()).isEqualTo(new Offset("2"));
	}

	private void move(String after, boolean offsetsReused) {
		this.reader.sink(SHARD).movedTo(new Offset(after), offsetsReused);
		this.threads.runAll();
	}

	private void seek(ShardWorker worker, String after, boolean clearsState) {
		request(after, clearsState);
		worker.attend();
		this.threads.runAll();
	}

	private SeekRequest request(String after, boolean clearsState) {
		return Objects.requireNonNull(this.checkpoints.seek(SHARD, new Offset(after), clearsState));
	}

	private Seeks seeks() {
		return this.checkpoints.seeks(List.of(SHARD)).get(SHARD);
	}

	private void committedEarlier(String offset, Map<String, String> state) {
		this.checkpoints.acquireNow(SHARD, Token.NONE);
		this.checkpoints.commit(SHARD, Token.NONE, Commit.of(CommitNumber.ofWhole(1), new Offset(offset), state));
	}

	private void doneAhead(String offset, String ahead) {
		this.checkpoints.acquireNow(SHARD, Token.NONE);
		this.checkpoints.commit(SHARD, Token.NONE, new Commit(CommitNumber.ofWhole(1), new Offset(offset),
				Set.of(new Offset(ahead)), Map.of(), List.of(), Set.of(), List.of()));
	}

	private Checkpoint checkpoint() {
		return this.checkpoints.read(SHARD);
	}

	private void deliver(int first, int last) {
		this.reader.deliver(SHARD, first, last);
		this.threads.runAll();
	}

	private ShardWorker start() {
		return startWith("handle");
	}

	private ShardWorker startWith(String method) {
		ShardWorker worker = worker(TOKEN, method);
		this.threads.runAll();
		return worker;
	}

	private ShardWorker worker(Token token) {
		return worker(token, "handle");
	}

	private ShardWorker worker(Token token, String method) {
		WorkerContext context = new WorkerContext("group",
				new WorkerContext.Stores(this.checkpoints, this.reader, OutputSettings.NONE),
				new WorkerContext.Runtime(this.clock, InstantSource.fixed(Instant.EPOCH), this.threads,
						this.threads.timer()),
				new WorkerContext.Topics(
						(topic) -> this.settings.get(), new BufferBudget(Long.MAX_VALUE), new StateCache(
								1_000_000),
						new StateValues(new JsonMapper(), List.of())),
				new WorkerContext.Observers(ConsumerMeters.NONE, new Events(),
						(shard, ofToken, fence, completed) -> this.ended.add("%s token %s fence %s%s".formatted(shard,
								ofToken, fence, completed ? " completed" : "")),
						false),
				this.lease);
		return new ShardWorker(SHARD, token, MemberId.of("me", "1"), handler(method), context,
				CompletableFuture.completedFuture(null));
	}

	private ShardHandler handler(String method) {
		return new ShardHandler("orders", () -> this.application,
				HandlerSignature.ofConsumer(method(method), Application.class), List.of(),
				List.of(HandlerSignature.ofCallback(method("assigned"), Application.class, "@OnShardAssigned")),
				List.of(HandlerSignature.ofCallback(method("revoked"), Application.class, "@OnShardRevoked")),
				new JsonPayloadConverter(new JsonMapper()), Duration.ZERO);
	}

	private static Method method(String name) {
		return Stream.of(Application.class.getDeclaredMethods())
			.filter((method) -> method.getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

	/** Bean of the application. */
	static final class Application {

		private final List<String> calls = new ArrayList<>();

		private final List<Acknowledgment> acknowledgments = new ArrayList<>();

		private Runnable onRecord = () -> {
		};

		private OnState onAssigned = (state) -> {
		};

		private OnState onRevoked = (state) -> {
		};

		void handle(ShardRecord<String> record, ShardState state) {
			this.calls.add(record.payload());
			state.increment("n", 1);
			this.onRecord.run();
		}

		void handleByHand(ShardRecord<String> record, Acknowledgment acknowledgment) {
			this.calls.add(record.payload());
			this.acknowledgments.add(acknowledgment);
		}

		void countByHand(ShardRecord<String> record, ShardState state, Acknowledgment acknowledgment) {
			this.calls.add(record.payload());
			this.acknowledgments.add(acknowledgment);
			state.increment("n", 1);
		}

		void assigned(ShardState state) throws Exception {
			this.calls.add("assigned");
			this.onAssigned.handle(state);
		}

		void revoked(ShardState state) throws Exception {
			this.calls.add("revoked");
			this.onRevoked.handle(state);
		}

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
			RepositioningTests.this.events.add("assigned " + shard.token());
		}

		@Override
		public void revoked(ShardContext shard, boolean lost) {
			RepositioningTests.this.events.add((lost ? "lost " : "revoked ") + shard.token());
		}

	}

}
