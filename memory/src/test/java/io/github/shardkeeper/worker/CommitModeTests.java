package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * When offset and state are committed.
 */
@CapturesOutput
class CommitModeTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final TestSettings MANUAL = manual();

	@Test
	void backgroundCommitIsDueByTime() {
		ConsumingShard shard = new ConsumingShard(new Counting(), new TestSettings());
		shard.deliver(1, 1);
		for (int number = 2; number <= 10; number++) {
			// Never idle for long enough to commit because of that.
			shard.pass(Duration.ofMillis(500));
			shard.deliver(number, number);
		}
		shard.pass(Duration.ofMillis(499));
		assertThat(shard.checkpoint().offset()).isNull();
		shard.pass(Duration.ofMillis(1));

		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("10"), Map.of("count", "10")));
		shard.pass(SECOND.multipliedBy(60));
		assertThat(shard.checkpoints().committed()).as("there was nothing further to commit").hasSize(1);
		assertThat(shard.threads().hasAlarms()).as("an idle shard costs nothing").isFalse();
	}

	@Test
	void backgroundCommitIsDueByNumberOfRecords() {
		ConsumingShard shard = new ConsumingShard(new Counting(),
				new TestSettings().commits(CommitMode.BACKGROUND, SECOND.multipliedBy(5), 10));
		shard.deliver(1, 25);

		assertThat(shard.checkpoints().committed()).containsExactly(new Offset("10"), new Offset("20"));
	}

	@Test
	void commitIsReportedToTheReaderOnceTheStoreHasAcceptedIt() {
		ConsumingShard shard = new ConsumingShard(new Counting(),
				new TestSettings().commits(CommitMode.BACKGROUND, SECOND.multipliedBy(5), 10));
		shard.checkpoints().holdAnswers();
		shard.deliver(1, 10);
		assertThat(shard.checkpoints().heldAnswers()).isEqualTo(1);
		assertThat(shard.reader().committed()).isEmpty();
		shard.checkpoints().reply();
		shard.run();

		assertThat(shard.reader().committed()).containsExactly("orders/1 at 10");
	}

	@Test
	void refusedCommitIsNotReportedToTheReader() {
		ConsumingShard shard = new ConsumingShard(new Counting(),
				new TestSettings().commits(CommitMode.BACKGROUND, SECOND.multipliedBy(5), 10));
		shard.checkpoints().acquireNow(ConsumingShard.SHARD, new Token(100));
		shard.deliver(1, 10);

		assertThat(shard.ended()).hasSize(1);
		assertThat(shard.reader().committed()).isEmpty();
	}

	/** A source that shows positions elsewhere asks before it does. */
	@Test
	void readerIsToldWhetherTheShardIsOwned() {
		ConsumingShard shard = new ConsumingShard(new Counting(), new TestSettings());
		ShardReader.RecordSink sink = shard.reader().sink(ConsumingShard.SHARD);
		assertThat(sink.isOwned()).isTrue();
		// As when the process is frozen for longer than the lease.
		shard.clock().advance(Duration.ofDays(2));
		assertThat(sink.isOwned()).isFalse();
		shard.renewLease();
		assertThat(sink.isOwned()).isTrue();
		shard.worker().abandon();
		assertThat(sink.isOwned()).as("it has another owner").isFalse();
	}

	@Test
	void commitIsDueByItsSizeAndNoRecordIsHandledBeforeItsAnswer() {
		Keeping bean = new Keeping();
		ConsumingShard shard = new ConsumingShard(bean, new TestSettings());
		shard.checkpoints().holdAnswers();
		shard.deliver(1, 20);

		assertThat(bean.calls).as("4 of 300,000 bytes in each of two commits").isEqualTo(8);
		shard.checkpoints().reply();
		shard.run();
		assertThat(bean.calls).isEqualTo(12);
		assertThat(shard.checkpoints().committed()).containsExactly(new Offset("4"), new Offset("8"));
	}

	@Test
	void failedRecordsCountForTheSizeOfACommit() {
		Keeping bean = new Keeping();
		bean.failing = true;
		ConsumingShard shard = new ConsumingShard(bean,
				new TestSettings().maxAttempts(1).onFailure(ConsumerSettings.OnFailure.DEAD_LETTER));
		shard.checkpoints().holdAnswers();
		for (int number = 1; number <= 10; number++) {
			shard.offer(number, "k", "x".repeat(400_000));
		}
		shard.run();

		assertThat(bean.calls).as("one is under way, and a megabyte waits").isEqualTo(4);
	}

	@Test
	void limitedNumberOfRecordsIsHandledDuringACommit() {
		Counting bean = new Counting();
		ConsumingShard shard = new ConsumingShard(bean,
				new TestSettings().commits(CommitMode.BACKGROUND, SECOND.multipliedBy(5), 10));
		shard.checkpoints().holdAnswers();
		shard.deliver(1, 40);
		assertThat(bean.calls).isEqualTo(20);
		assertThat(shard.checkpoints().heldAnswers()).as("one at a time").isEqualTo(1);
		shard.checkpoints().reply();
		shard.run();

		assertThat(bean.calls).isEqualTo(30);
		assertThat(shard.checkpoints().committed()).containsExactly(new Offset("10"), new Offset("20"));
	}

	@Test
	void releaseWaitsForTheAnswerToTheLastCommit() {
		ConsumingShard shard = new ConsumingShard(new Counting(), new TestSettings());
		shard.deliver(1, 3);
		shard.checkpoints().holdAnswers();
		shard.worker().drain();
		shard.run();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		assertThat(shard.ended()).isEmpty();
		shard.checkpoints().loseAnswer();
		shard.run();
		assertThat(shard.ended()).isEmpty();
		shard.pass(SECOND);
		assertThat(shard.checkpoints().heldAnswers()).as("sent again").isEqualTo(1);
		shard.checkpoints().reply();
		shard.run();

		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("count", "3"));
	}

	@Test
	@Promise("State exactly once")
	void manualRecordIsDoneOnceItAndAllBeforeItAreAcknowledged() {
		Acknowledging bean = new Acknowledging();
		ConsumingShard shard = new ConsumingShard(bean, MANUAL);
		shard.deliver(1, 4);
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(null, Map.of()));
		bean.acknowledgments.get(1).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoint()).as("the first may still be under way").isEqualTo(new Checkpoint(null, Map.of()));
		bean.acknowledgments.get(0).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));

		assertThat(shard.checkpoint()).as("the state is as it was after the second record")
			.isEqualTo(new Checkpoint(new Offset("2"), Map.of("count", "2")));
		bean.acknowledgments.get(3).acknowledge();
		bean.acknowledgments.get(2).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("4"), Map.of("count", "4")));
	}

	@Test
	void recordAcknowledgedOutOfOrderIsNotHandledAgainWithoutState() {
		AcknowledgingOnly bean = new AcknowledgingOnly();
		ConsumingShard shard = new ConsumingShard(bean, MANUAL);
		shard.deliver(1, 3);
		bean.acknowledgments.get(1).acknowledge();
		shard.worker().drain();
		shard.run();
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(null, Set.of(new Offset("2")), Map.of(), null));
		shard.restart();
		shard.deliver(1, 3);

		assertThat(bean.acknowledgments).as("of the second owner the first and the third").hasSize(5);
	}

	/** Asynchronous work ends in any order, and acknowledges more than once. */
	@Test
	void secondAcknowledgmentHasNoEffect() {
		Acknowledging bean = new Acknowledging();
		ConsumingShard shard = new ConsumingShard(bean, MANUAL);
		shard.deliver(1, 3);
		bean.acknowledgments.get(1).acknowledge();
		bean.acknowledgments.get(0).acknowledge();
		shard.run();
		bean.acknowledgments.get(0).acknowledge();
		bean.acknowledgments.get(1).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));

		assertThat(shard.checkpoint()).as("the third is not acknowledged")
			.isEqualTo(new Checkpoint(new Offset("2"), Map.of("count", "2")));
	}

	@Test
	void acknowledgmentOfAFailedCallCountsOnceTheRecordIsHandled() {
		Acknowledging bean = new Acknowledging();
		ConsumingShard shard = new ConsumingShard(bean, MANUAL);
		shard.deliver(1, 2);
		bean.failing = true;
		shard.deliver(3, 3);
		bean.acknowledgments.forEach(Acknowledgment::acknowledge);
		shard.run();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("2"), Map.of("count", "2")));
		bean.failing = false;
		shard.pass(SECOND.multipliedBy(60));
		shard.pass(SECOND.multipliedBy(10));

		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "3")));
	}

	@Test
	void revocationCallbackMayAcknowledgeRecords() {
		Acknowledging bean = new Acknowledging();
		bean.inFarewell = true;
		ConsumingShard shard = new ConsumingShard(bean, MANUAL);
		shard.deliver(1, 3);
		shard.worker().drain();
		shard.run();

		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "3")));
	}

	@Test
	void stateOfTheRevocationCallbackIsCommittedWithItsAcknowledgments(CapturedOutput output) {
		Acknowledging bean = new Acknowledging();
		bean.inFarewell = true;
		bean.addedInFarewell = 100;
		ConsumingShard shard = new ConsumingShard(bean, MANUAL);
		shard.deliver(1, 3);
		shard.worker().drain();
		shard.run();

		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "103")));
		assertThat(output).doesNotContain("is dropped");
	}

	/** It has seen what they wrote, and the next owner's calls will write it again. */
	@Test
	@Promise("State exactly once")
	void stateOfTheRevocationCallbackIsDroppedIfRecordsAreNotAcknowledged(CapturedOutput output) {
		Acknowledging bean = new Acknowledging();
		bean.addedInFarewell = 100;
		ConsumingShard shard = new ConsumingShard(bean, MANUAL);
		shard.deliver(1, 3);
		bean.acknowledgments.get(0).acknowledge();
		shard.worker().drain();
		shard.run();
		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1")));
		assertThat(output).contains("@OnShardRevoked wrote to the state of orders/1 is dropped");
		shard.restart();
		shard.deliver(2, 3);
		bean.acknowledgments.get(3).acknowledge();
		bean.acknowledgments.get(4).acknowledge();
		shard.worker().drain();
		shard.run();

		assertThat(shard.checkpoint())
			.as("each record once, and the revocation callback of an owner without open records")
			.isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "103")));
	}

	@Test
	void recordAcknowledgedDuringTheLastCommitIsDoneWithoutStateOfTheRevocationCallback() {
		Acknowledging bean = new Acknowledging();
		bean.addedInFarewell = 100;
		ConsumingShard shard = new ConsumingShard(bean, MANUAL);
		shard.deliver(1, 2);
		bean.acknowledgments.get(0).acknowledge();
		shard.checkpoints().holdAnswers();
		shard.worker().drain();
		shard.run();
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1")));
		bean.acknowledgments.get(1).acknowledge();
		shard.run();
		assertThat(shard.checkpoints().heldAnswers()).isEqualTo(1);
		shard.checkpoints().reply();
		shard.run();
		assertThat(shard.ended()).isEmpty();
		shard.checkpoints().reply();
		shard.run();

		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("2"), Map.of("count", "2")));
	}

	@Test
	void recordMayBeAcknowledgedDuringItsCall() {
		Acknowledging bean = new Acknowledging();
		bean.atOnce = true;
		ConsumingShard shard = new ConsumingShard(bean, MANUAL);
		shard.deliver(1, 3);
		shard.pass(SECOND.multipliedBy(10));

		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "3")));
	}

	@Test
	void recordNotAcknowledgedBeforeTheReleaseIsHandledAgainWithTheEarlierState() {
		Acknowledging bean = new Acknowledging();
		ConsumingShard shard = new ConsumingShard(bean, MANUAL);
		shard.deliver(1, 3);
		bean.acknowledgments.get(0).acknowledge();
		shard.worker().drain();
		shard.run();
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1")));
		shard.restart();
		bean.acknowledgments.get(1).acknowledge();
		bean.acknowledgments.get(2).acknowledge();
		shard.deliver(2, 3);
		shard.pass(SECOND.multipliedBy(10));

		assertThat(shard.checkpoint()).as("what an earlier owner's call says means nothing")
			.isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1")));
		bean.acknowledgments.get(3).acknowledge();
		bean.acknowledgments.get(4).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "3")));
	}

	@Test
	void handlerThatNeverAcknowledgesIsReported() {
		Acknowledging bean = new Acknowledging();
		ConsumingShard shard = new ConsumingShard(bean, manual().maxAhead(10).batchSize(10));
		shard.deliver(1, 20);

		assertThat(bean.acknowledgments).hasSize(10);
		assertThat(shard.worker().problem()).asString().contains("10 records", "not acknowledged the first");
		bean.acknowledgments.get(9).acknowledge();
		shard.run();
		assertThat(bean.acknowledgments).hasSize(10);
		List.copyOf(bean.acknowledgments).forEach(Acknowledgment::acknowledge);
		shard.run();
		assertThat(bean.acknowledgments).hasSize(20);
	}

	@Test
	void handlerThatNeverAcknowledgesRecordsOfTheRetryQueueIsReported() {
		Acknowledging bean = new Acknowledging();
		bean.failing = true;
		ConsumingShard shard = new ConsumingShard(bean,
				manual().maxAttempts(1).onFailure(ConsumerSettings.OnFailure.RETRY_QUEUE, SECOND));
		shard.deliver(1, 120);
		bean.failing = false;
		bean.acknowledgments.clear();
		shard.pass(SECOND);

		assertThat(bean.acknowledgments).hasSize(100);
		assertThat(shard.worker().problem()).asString().contains("100 records of the retry queue", "not acknowledged");
		List.copyOf(bean.acknowledgments).forEach(Acknowledgment::acknowledge);
		shard.run();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(bean.acknowledgments).hasSize(120);
		assertThat(shard.worker().problem()).isNull();
	}

	@Test
	void recordOfTheRetryQueueIsAcknowledgedAlone() {
		Acknowledging bean = new Acknowledging();
		bean.failing = true;
		ConsumingShard shard = new ConsumingShard(bean,
				manual().maxAttempts(1).onFailure(ConsumerSettings.OnFailure.RETRY_QUEUE, SECOND));
		shard.deliver(1, 1);
		bean.failing = false;
		shard.pass(SECOND);
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.retries()).isEqualTo(1);
		bean.acknowledgments.get(1).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));

		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1")));
	}

	/** Their writes build on each other, so neither counts alone. */
	@Test
	void recordsOfTheRetryQueueAndOthersAreDoneInTheOrderOfTheirCalls() {
		Acknowledging bean = new Acknowledging();
		bean.failing = true;
		ConsumingShard shard = new ConsumingShard(bean,
				manual().maxAttempts(1).onFailure(ConsumerSettings.OnFailure.RETRY_QUEUE, SECOND));
		shard.deliver(1, 2);
		bean.failing = false;
		shard.deliver(3, 3);
		shard.pass(SECOND);
		assertThat(bean.acknowledgments).as("two failed, the third, and the two of the queue").hasSize(5);
		bean.acknowledgments.get(3).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.retries()).as("the third was handled before, and is open").isEqualTo(2);
		assertThat(shard.checkpoint().state()).isEmpty();
		bean.acknowledgments.get(2).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.retries()).as("the second is open").isEqualTo(1);
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("count", "2"));
		shard.deliver(4, 4);
		bean.acknowledgments.get(5).acknowledge();
		shard.run();
		bean.acknowledgments.get(4).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));

		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("4"), Map.of("count", "4")));
	}

	@Test
	void concurrentRecordsAreAcknowledgedAlone() {
		AcknowledgingOnly bean = new AcknowledgingOnly();
		ConsumingShard shard = new ConsumingShard(bean, manual().ordering(Ordering.NONE, 8));
		shard.deliver(1, 3);
		bean.acknowledgments.get(2).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(null, Set.of(new Offset("3")), Map.of(), null));
		bean.acknowledgments.get(0).acknowledge();
		bean.acknowledgments.get(1).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));

		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of()));
	}

	@Test
	void handlerMustFitTheSettings() {
		refused(new Acknowledging(), new TestSettings(), "takes an Acknowledgment", "'manual'");
		refused(new Counting(), manual(), "takes no Acknowledgment", "'background'");
		refused(new Acknowledging(), manual().ordering(Ordering.KEY, 2), "takes a ShardState", "'key'");
		refused(new Lists(), new TestSettings().ordering(Ordering.NONE, 2), "takes a list", "'none'");
	}

	private static void refused(Object bean, TestSettings settings, String... words) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> new ConsumingShard(bean, settings))
			.satisfies((ex) -> assertThat(ex.getMessage()).contains(words[0]))
			.satisfies((ex) -> assertThat(ex.getDescription() + ex.getAction()).contains(words[1],
					"shardkeeper.topics.orders.consumer"));
	}

	private static TestSettings manual() {
		return new TestSettings().commits(CommitMode.MANUAL, SECOND.multipliedBy(5), 1000);
	}

	static final class Counting {

		private int calls;

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			this.calls++;
			state.increment("count", 1);
		}

	}

	/** Every record adds 300,000 bytes to the state. */
	static final class Keeping {

		private int calls;

		private boolean failing;

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			this.calls++;
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
			state.put("number " + this.calls, "x".repeat(300_000));
		}

	}

	static final class Acknowledging {

		private final List<Acknowledgment> acknowledgments = new ArrayList<>();

		private boolean atOnce;

		private boolean failing;

		private boolean inFarewell;

		private int addedInFarewell;

		@ShardConsumer("orders")
		void handle(String payload, ShardState state, Acknowledgment acknowledgment) {
			state.increment("count", 1);
			this.acknowledgments.add(acknowledgment);
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
			if (this.atOnce) {
				acknowledgment.acknowledge();
			}
		}

		@OnShardRevoked
		void farewell(ShardContext shard, ShardState state) {
			if (this.inFarewell) {
				this.acknowledgments.forEach(Acknowledgment::acknowledge);
			}
			if (this.addedInFarewell > 0) {
				state.increment("count", this.addedInFarewell);
			}
		}

	}

	static final class AcknowledgingOnly {

		private final List<Acknowledgment> acknowledgments = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(String payload, Acknowledgment acknowledgment) {
			this.acknowledgments.add(acknowledgment);
		}

	}

	static final class Lists {

		@ShardConsumer("orders")
		void handle(List<String> payloads) {
		}

	}

}
