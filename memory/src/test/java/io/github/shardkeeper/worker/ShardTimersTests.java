package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.output.TestTargets;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings.AfterDelays;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Timers that handlers set and cancel, with failures in between. A payload like
 * {@code a set 10} sets the timer of the record's key to a second, {@code a cancel}
 * cancels it.
 */
@Promise("Timers fire once")
class ShardTimersTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final Reminders bean = new Reminders();

	private final Wall wall = new Wall();

	private int offered;

	@Test
	void timerFiresOnceItIsDueAndItsCommitRemovesIt() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 10");
		shard.pass(SECOND.multipliedBy(9));
		assertThat(this.bean.fired).isEmpty();
		assertThat(waiting(shard)).containsExactly("a at 10");

		shard.pass(SECOND);

		assertThat(this.bean.fired).containsExactly("a at 10");
		shard.pass(SECOND.multipliedBy(5));
		assertThat(waiting(shard)).isEmpty();
		assertThat(shard.checkpoint().state()).containsEntry("fired a", "1");
		shard.pass(MINUTE);
		assertThat(this.bean.fired).hasSize(1);
	}

	@Test
	void cancelledTimerDoesNotFireAndReplacedOneFiresAtItsNewTime() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 10", "b set 10", "a cancel", "b set 20");
		shard.pass(SECOND.multipliedBy(19));
		assertThat(this.bean.fired).isEmpty();
		shard.pass(MINUTE);

		assertThat(this.bean.fired).containsExactly("b at 20");
	}

	@Test
	void timersFireInTheOrderOfTheirTimesAndOneOfThePastAtOnce() {
		ConsumingShard shard = start(new TestSettings());
		shard.pass(MINUTE);
		offer(shard, "c set 80", "a set 70", "b set 75", "d set 5");
		assertThat(this.bean.fired).containsExactly("d at 5");

		shard.pass(MINUTE);

		assertThat(this.bean.fired).containsExactly("d at 5", "a at 70", "b at 75", "c at 80");
	}

	@Test
	void timerNeverFiresEarlyByLessThanAMillisecond() {
		ConsumingShard shard = start(new TestSettings());
		this.bean.at = Instant.EPOCH.plusSeconds(10).plusNanos(1);
		offer(shard, "a exact");
		shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.fired).isEmpty();
		shard.pass(Duration.ofMillis(1));

		assertThat(this.bean.fired).hasSize(1);
	}

	@Test
	void nextOwnerFiresWhatWasDueMeanwhileInTheOrderOfTheTimes() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "b set 30", "a set 20", "c set 600");
		shard.worker().drain();
		shard.run();
		shard.pass(MINUTE);
		assertThat(this.bean.fired).isEmpty();
		shard.restart();

		assertThat(this.bean.fired).containsExactly("a at 20", "b at 30");
		shard.pass(MINUTE.multipliedBy(10));
		assertThat(this.bean.fired).containsExactly("a at 20", "b at 30", "c at 600");
	}

	/** A crash repeats both, and the state has each once. */
	@Test
	void uncommittedCallsForRecordsAndTimersAreRepeatedByTheNextOwner() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 10");
		shard.pass(SECOND.multipliedBy(6));
		shard.checkpoints().delayCommits();
		offer(shard, "b set 8");
		shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.fired).containsExactly("b at 8", "a at 10");
		shard.worker().abandon();
		shard.run();
		shard.restart();
		shard.checkpoints().deliverCommits();
		shard.offer(2, "b", "b set 8");
		shard.run();
		shard.pass(MINUTE);

		assertThat(this.bean.fired).containsExactlyInAnyOrder("b at 8", "a at 10", "b at 8", "a at 10");
		assertThat(shard.checkpoint().state()).containsEntry("fired a", "1").containsEntry("fired b", "1");
		assertThat(waiting(shard)).isEmpty();
	}

	@Test
	void failedCallLeavesTheTimersAsTheyWere() {
		ConsumingShard shard = start(new TestSettings().maxAttempts(1));
		offer(shard, "a set 10");
		this.bean.failing.add("a cancel");
		offer(shard, "a cancel");
		assertThat(shard.deadLetters()).hasSize(1);
		shard.pass(MINUTE);

		assertThat(this.bean.fired).containsExactly("a at 10");
	}

	@Test
	void ownerThatIsFencedChangesNoTimers() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 10");
		shard.pass(SECOND.multipliedBy(5));
		shard.checkpoints().acquireNow(ConsumingShard.SHARD, new Token(7));
		offer(shard, "a cancel", "b set 5");
		shard.pass(MINUTE);

		assertThat(shard.ended()).containsExactly("released");
		assertThat(waiting(shard)).containsExactly("a at 10");
	}

	@Test
	void timerMethodMaySetTheNextTimerAndSend() {
		ConsumingShard shard = start(new TestSettings());
		this.bean.every = SECOND.multipliedBy(10);
		offer(shard, "a set 10");
		for (int i = 0; i < 4; i++) {
			shard.pass(SECOND.multipliedBy(10));
		}

		assertThat(this.bean.fired).containsExactly("a at 10", "a at 20", "a at 30", "a at 40");
		shard.pass(SECOND.multipliedBy(5));
		assertThat(waiting(shard)).containsExactly("a at 50");
		assertThat(shard.targets().received(TestTargets.MAILS)).containsExactly("a at 10", "a at 20", "a at 30",
				"a at 40");
	}

	/** It waits for the record of its key, and not for those of others. */
	@Test
	void withTheOrderingKeyATimerWaitsForTheRecordsOfItsKey() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 4));
		offer(shard, "a set 10", "b set 11");
		this.bean.during.put("a work", () -> shard.pass(SECOND.multipliedBy(20)));
		offer(shard, "a work");

		assertThat(this.bean.events).containsSubsequence("a work begins", "b at 11", "a work ends", "a at 10");
		assertThat(this.bean.fired).containsExactly("b at 11", "a at 10");
	}

	/** It was due, and waited for the call that has cancelled it. */
	@Test
	void earlierRecordOfItsKeyCancelsATimerThatIsDue() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 4));
		offer(shard, "a set 10");
		this.bean.during.put("a cancel", () -> shard.pass(SECOND.multipliedBy(20)));
		offer(shard, "a cancel");
		shard.pass(MINUTE);

		assertThat(this.bean.fired).isEmpty();
		assertThat(waiting(shard)).isEmpty();
	}

	/** Its call has overlapped: what it has written is dropped. */
	@Test
	void callForATimerThatAnotherKeyCancelsMeanwhileHasNoEffect() {
		ConsumingShard shard = start(new TestSettings().ordering(Ordering.KEY, 4));
		offer(shard, "a set 10");
		this.bean.during.put("a at 10", () -> offer(shard, "b cancels a"));
		shard.pass(SECOND.multipliedBy(10));
		shard.pass(MINUTE);

		assertThat(this.bean.fired).containsExactly("a at 10");
		assertThat(shard.checkpoint().state()).doesNotContainKey("fired a");
		assertThat(waiting(shard)).isEmpty();
	}

	@Test
	void timerWaitsBehindAParkedKeyAndItsRecordsCanCancelIt() {
		ConsumingShard shard = start(
				new TestSettings().maxAttempts(1).onFailure(OnFailure.PARK_KEY, SECOND.multipliedBy(30)));
		this.bean.failing.add("a work");
		offer(shard, "a set 10", "c set 10", "a work", "a cancel", "c work", "b set 12");
		this.bean.failing.add("c more");
		offer(shard, "c more");
		shard.pass(SECOND.multipliedBy(20));
		assertThat(this.bean.fired).as("only the key that does not wait").containsExactly("b at 12");
		assertThat(shard.retries()).isEqualTo(3);

		this.bean.failing.clear();
		shard.pass(SECOND.multipliedBy(30));

		assertThat(this.bean.fired).as("that of a is cancelled").containsExactly("b at 12", "c at 10");
		shard.pass(MINUTE);
		assertThat(waiting(shard)).isEmpty();
	}

	@Test
	void newOwnerKnowsTheParkedKeysBeforeItsFirstTimer() {
		ConsumingShard shard = start(
				new TestSettings().maxAttempts(1).onFailure(OnFailure.PARK_KEY, SECOND.multipliedBy(30)));
		this.bean.failing.add("a work");
		offer(shard, "a set 10", "a work");
		shard.worker().drain();
		shard.run();
		shard.pass(SECOND.multipliedBy(15));
		this.bean.failing.clear();
		shard.restart();
		assertThat(this.bean.fired).isEmpty();
		shard.pass(SECOND.multipliedBy(30));

		assertThat(this.bean.events).containsSubsequence("a work ends", "a at 10");
	}

	@Test
	void failingTimerIsRetriedAndBecomesADeadLetterThatCanBeSentBack() {
		ConsumingShard shard = start(new TestSettings().maxAttempts(3));
		this.bean.failing.add("a at 10");
		offer(shard, "a set 10", "b set 11");
		shard.pass(SECOND.multipliedBy(10));
		shard.pass(SECOND);
		shard.pass(SECOND);
		assertThat(this.bean.calls("a at 10")).isEqualTo(3);
		assertThat(this.bean.fired).as("the shard continues").containsExactly("b at 11");
		shard.pass(SECOND.multipliedBy(5));
		assertThat(waiting(shard)).isEmpty();
		assertThat(shard.letters()).singleElement().satisfies((letter) -> {
			assertThat(letter.record().key()).isEqualTo("a");
			assertThat(letter.record().headers()).containsEntry("shardkeeper-timer", "remind");
			assertThat(letter.record().timestamp()).isEqualTo(Instant.EPOCH.plusSeconds(10));
		});

		this.bean.failing.clear();
		shard.sendBackAll();

		assertThat(this.bean.fired).containsExactly("b at 11", "a at 10");
		assertThat(shard.letters()).isEmpty();
	}

	@Test
	void failingTimerWaitsInTheRetryQueueAndTheShardContinues() {
		ConsumingShard shard = start(
				new TestSettings().maxAttempts(1).onFailure(OnFailure.RETRY_QUEUE, SECOND.multipliedBy(30)));
		this.bean.failing.add("a at 10");
		offer(shard, "a set 10");
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.retries()).isOne();
		assertThat(waiting(shard)).isEmpty();
		offer(shard, "a set 15");
		shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.fired).containsExactly("a at 15");

		this.bean.failing.clear();
		move(shard);
		shard.pass(SECOND.multipliedBy(30));

		assertThat(this.bean.fired).containsExactly("a at 15", "a at 10");
		shard.pass(SECOND.multipliedBy(5));
		assertThat(shard.retries()).isZero();
	}

	@Test
	void failingTimerIsTreatedAsAFailureHandlerChooses() {
		List<String> chosen = new ArrayList<>();
		ConsumingShard shard = start(new TestSettings().failureHandlers((context, record, failure) -> {
			chosen.add("%s of %s at %s, attempt %d".formatted(record.headers().get("shardkeeper-timer"), record.key(),
					record.timestamp(), record.attempt()));
			return (record.attempt() == 1) ? FailureAction.retryQueue(MINUTE) : FailureAction.deadLetter();
		}));
		this.bean.failing.add("a at 10");
		offer(shard, "a set 10", "b set 11");
		shard.pass(SECOND.multipliedBy(11));
		assertThat(this.bean.fired).containsExactly("b at 11");
		assertThat(shard.retries()).isOne();
		assertThat(waiting(shard)).containsExactly("b at 11");
		shard.pass(MINUTE);

		assertThat(shard.deadLetters()).singleElement().asString().endsWith(" after 2");
		assertThat(chosen).containsExactly("remind of a at 1970-01-01T00:00:10Z, attempt 1",
				"remind of a at 1970-01-01T00:00:10Z, attempt 2");
		shard.pass(MINUTE);
		assertThat(waiting(shard)).isEmpty();
	}

	@Test
	void failingTimerParksItsKey() {
		ConsumingShard shard = start(new TestSettings().maxAttempts(1)
			.onFailure(OnFailure.PARK_KEY, SECOND.multipliedBy(30))
			.parking(10, 100, AfterDelays.REPEAT));
		this.bean.failing.add("a at 10");
		offer(shard, "a set 10");
		shard.pass(SECOND.multipliedBy(10));
		offer(shard, "a work", "b work");
		assertThat(this.bean.events).contains("b work ends").doesNotContain("a work begins");

		this.bean.failing.clear();
		shard.pass(SECOND.multipliedBy(30));

		assertThat(this.bean.events).containsSubsequence("a at 10", "a work begins");
	}

	@Test
	void failingTimerHaltsTheShardAndTheNextOwnerRepeatsIt() {
		ConsumingShard shard = start(new TestSettings().maxAttempts(1).onFailure(OnFailure.HALT));
		this.bean.failing.add("a at 10");
		offer(shard, "a set 10");
		shard.pass(SECOND.multipliedBy(10));
		offer(shard, "b work");
		assertThat(this.bean.events).doesNotContain("b work begins");
		assertThat(shard.worker().problem()).isNotNull();

		this.bean.failing.clear();
		move(shard);
		shard.pass(SECOND.multipliedBy(5));

		assertThat(this.bean.fired).containsExactly("a at 10");
		assertThat(waiting(shard)).isEmpty();
	}

	@Test
	void clockThatIsSetBackDelaysTimersAndRepeatsNone() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 10", "b set 20");
		shard.pass(SECOND.multipliedBy(10));
		this.wall.set = SECOND.multipliedBy(-60);
		shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.fired).containsExactly("a at 10");
		shard.pass(SECOND.multipliedBy(59));
		assertThat(this.bean.fired).containsExactly("a at 10");
		shard.pass(SECOND);

		assertThat(this.bean.fired).containsExactly("a at 10", "b at 20");
	}

	/** Nobody says that the clock was set, so it is looked at every minute. */
	@Test
	void clockThatIsSetForwardIsNoticedWithinAMinute() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 100000");
		this.wall.set = Duration.ofDays(2);
		shard.pass(MINUTE);

		assertThat(this.bean.fired).containsExactly("a at 100000");
	}

	@Test
	void dueTimersAndRecordsTakeTurns() {
		ConsumingShard shard = start(new TestSettings());
		shard.pass(MINUTE);
		for (int i = 0; i < 40; i++) {
			offer(shard, "t" + i + " set " + (70 + i));
		}
		this.wall.set = SECOND.multipliedBy(1000);
		this.bean.events.clear();
		for (int i = 0; i < 4; i++) {
			this.offered++;
			shard.offer(this.offered, "r", "r work");
		}
		shard.run();

		List<String> begun = this.bean.events.stream().filter((event) -> !event.endsWith("ends")).toList();
		assertThat(begun).hasSize(44);
		assertThat(begun.subList(0, 10)).allMatch((event) -> event.startsWith("t"));
		assertThat(begun.get(10)).isEqualTo("r work begins");
		assertThat(begun.get(21)).isEqualTo("r work begins");
	}

	@Test
	void pagesAreReadOneAfterTheOtherAndMemoryIsBounded() {
		ConsumingShard shard = start(new TestSettings());
		int count = 5_500;
		for (int i = 0; i < count; i++) {
			this.offered++;
			shard.offer(this.offered, "t" + i, "t" + i + " set " + (100 + i % 3_000));
			if (i % 500 == 0) {
				shard.run();
			}
		}
		shard.run();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoints().countTimers(ConsumingShard.SHARD)).isEqualTo(count);
		int reads = shard.checkpoints().timerReads();
		shard.pass(SECOND.multipliedBy(4_000));
		shard.pass(SECOND.multipliedBy(10));

		assertThat(this.bean.fired).hasSize(count).doesNotHaveDuplicates();
		assertThat(this.bean.dues).isSorted();
		assertThat(shard.checkpoints().timerReads() - reads).isBetween(4, 12);
		assertThat(waiting(shard)).isEmpty();
	}

	/** At midnight, say. */
	@Test
	void manyTimersOfOneTimeFireOnceEach() {
		ConsumingShard shard = start(new TestSettings());
		int count = 4_500;
		for (int i = 0; i < count; i++) {
			this.offered++;
			shard.offer(this.offered, "t" + i, "t" + i + " set 100");
			if (i % 500 == 0) {
				shard.run();
			}
		}
		shard.run();
		shard.pass(SECOND.multipliedBy(100));
		move(shard);
		shard.pass(SECOND.multipliedBy(10));

		assertThat(this.bean.fired).hasSize(count).doesNotHaveDuplicates();
		Map<String, String> state = shard.checkpoint().state();
		assertThat(IntStream.range(0, count).mapToObj((i) -> "fired t" + i))
			.allMatch((key) -> "1".equals(state.get(key)));
		assertThat(waiting(shard)).isEmpty();
	}

	/** More than the owner keeps in memory, before the store has any of them. */
	@Test
	@Timeout(30)
	void callMaySetThousandsOfTimersOfOneTime() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a many 100", "b many 100");
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoints().countTimers(ConsumingShard.SHARD)).isEqualTo(2 * Reminders.MANY);
		shard.pass(SECOND.multipliedBy(100));
		shard.pass(SECOND.multipliedBy(10));

		assertThat(this.bean.fired).hasSize(2 * Reminders.MANY).doesNotHaveDuplicates();
		assertThat(waiting(shard)).isEmpty();
	}

	@Test
	void timersThatTheStoreHasLostAreWrittenBack() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 100", "b set 200", "c set 10");
		shard.pass(SECOND.multipliedBy(30));
		assertThat(this.bean.fired).containsExactly("c at 10");
		shard.checkpoints().empty();
		offer(shard, "a cancel");
		shard.pass(SECOND.multipliedBy(10));
		assertThat(waiting(shard)).containsExactly("b at 200");

		shard.pass(MINUTE.multipliedBy(5));

		assertThat(this.bean.fired).containsExactly("c at 10", "b at 200");
	}

	/** A failover loses the last commits: what they have removed must not fire again. */
	@Test
	void timersThatComeBackInAFailoverDoNotFireAgain() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 10", "b set 60");
		shard.pass(SECOND.multipliedBy(5));
		Object before = shard.checkpoints().snapshot();
		shard.pass(SECOND.multipliedBy(10));
		shard.pass(SECOND.multipliedBy(5));
		assertThat(waiting(shard)).containsExactly("b at 60");
		shard.checkpoints().loseWritesSince(before);
		assertThat(waiting(shard)).hasSize(2);
		shard.worker().writeBack();
		shard.run();
		assertThat(waiting(shard)).containsExactly("b at 60");
		shard.pass(MINUTE.multipliedBy(2));
		shard.pass(SECOND.multipliedBy(5));

		assertThat(this.bean.fired).containsExactly("a at 10", "b at 60");
		assertThat(waiting(shard)).isEmpty();
	}

	@Test
	void seekKeepsTimersAndOneThatClearsTheStateRemovesThem() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 100", "b work");
		shard.pass(SECOND.multipliedBy(5));
		seek(shard, "1", false);
		assertThat(waiting(shard)).containsExactly("a at 100");
		seek(shard, "1", true);
		assertThat(waiting(shard)).isEmpty();
		shard.offer(2, "b", "b set 150");
		shard.run();
		shard.pass(MINUTE.multipliedBy(5));

		assertThat(this.bean.fired).containsExactly("b at 150");
	}

	/** Its owner began without timers, and does not have all of today's in memory. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void seekThatClearsTheStateIsCarriedOutAgainIfTheStoreHasLostIt(boolean requestIsLost) {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 100", "b work");
		shard.pass(SECOND.multipliedBy(5));
		Object before = shard.checkpoints().snapshot();
		shard.checkpoints().seek(ConsumingShard.SHARD, new Offset("1"), true);
		Object requested = shard.checkpoints().snapshot();
		shard.worker().attend();
		shard.run();
		shard.offer(2, "b", "b set 150");
		shard.run();
		shard.pass(SECOND.multipliedBy(5));
		assertThat(waiting(shard)).containsExactly("b at 150");

		shard.checkpoints().loseWritesSince(requestIsLost ? before : requested);
		assertThat(waiting(shard)).containsExactly("a at 100");
		shard.offer(3, "c", "c work");
		shard.run();
		shard.pass(SECOND.multipliedBy(5));

		assertThat(waiting(shard)).containsExactly("b at 150");
		Object carriedOut = shard.checkpoints().snapshot();
		shard.offer(4, "d", "d set 200");
		shard.run();
		shard.pass(SECOND.multipliedBy(5));
		shard.checkpoints().loseWritesSince(carriedOut);
		shard.offer(5, "c", "c work");
		shard.run();
		shard.pass(SECOND.multipliedBy(5));
		assertThat(waiting(shard)).containsExactly("b at 150", "d at 200");
		assertThat(shard.checkpoints().sent().get(shard.checkpoints().sent().size() - 1).clearsState()).isFalse();
	}

	private static void seek(ConsumingShard shard, String after, boolean clearsState) {
		shard.checkpoints().seek(ConsumingShard.SHARD, new Offset(after), clearsState);
		shard.worker().attend();
		shard.run();
		shard.pass(SECOND.multipliedBy(5));
	}

	@Test
	void shardIsNotAtItsEndWhileTimersWait() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 100");
		shard.reader().sink(ConsumingShard.SHARD).ended();
		shard.run();
		shard.pass(SECOND.multipliedBy(50));
		assertThat(shard.ended()).isEmpty();
		shard.pass(SECOND.multipliedBy(50));
		shard.pass(SECOND.multipliedBy(5));

		assertThat(this.bean.fired).containsExactly("a at 100");
		assertThat(shard.ended()).containsExactly("completed");
	}

	/** Otherwise the shard would be asked for its end again and again. */
	@Test
	void timersWithoutAMethodAreDeadLettersAtTheEndOfTheirShard() {
		ConsumingShard shard = ConsumingShard.withWallClock(new Plain(), new TestSettings(), this.wall, (created) -> {
			created.checkpoints().acquireNow(ConsumingShard.SHARD, new Token(1));
			created.checkpoints()
				.commit(ConsumingShard.SHARD, new Token(1), Commit.of(CommitNumber.ofWhole(1), null, Map.of())
					.withTimers(Map.of(new TimerId("a", "remind"), Instant.EPOCH.plusSeconds(10))));
		});
		this.wall.shard = shard;
		shard.pass(MINUTE);
		assertThat(waiting(shard)).containsExactly("a at 10");
		shard.reader().sink(ConsumingShard.SHARD).ended();
		shard.run();
		shard.pass(SECOND.multipliedBy(5));

		assertThat(shard.letters()).singleElement()
			.satisfies((letter) -> assertThat(letter.record().exception()).contains("no @OnShardTimer method"));
		assertThat(shard.ended()).containsExactly("completed");
	}

	@Test
	void unavailableStoreDelaysTimersAndLosesNone() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a set 10");
		shard.worker().drain();
		shard.run();
		shard.restartLater();
		shard.checkpoints().setAway(true);
		shard.run();
		shard.pass(MINUTE);
		assertThat(this.bean.fired).isEmpty();
		shard.checkpoints().setAway(false);
		shard.pass(MINUTE);

		assertThat(this.bean.fired).containsExactly("a at 10");
	}

	@Test
	void timersCannotBeUsedAfterTheCall() {
		ConsumingShard shard = start(new TestSettings());
		offer(shard, "a work");

		assertThatIllegalStateException().isThrownBy(() -> this.bean.last.cancel("a", "remind"))
			.withMessageContaining("inside the call");
	}

	@Test
	void batchSetsTimersAndEachFiresOnItsOwn() {
		Batches batches = new Batches();
		ConsumingShard shard = start(batches, new TestSettings());
		shard.deliver(1, 3);
		shard.pass(SECOND.multipliedBy(10));

		assertThat(batches.calls).containsExactly("3 records", "r1", "r2", "r3");
		shard.deliver(4, 5);
		assertThat(batches.calls).endsWith("r3", "2 records", "r4", "r5");
	}

	@Test
	void timerIsDoneWithTheUnacknowledgedRecordsBeforeIt() {
		Acknowledging manual = new Acknowledging();
		ConsumingShard shard = start(manual,
				new TestSettings().commits(CommitMode.MANUAL, Duration.ofSeconds(5), 1000));
		shard.deliver(1, 1);
		manual.acknowledgments.get(0).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(5));
		shard.deliver(2, 2);
		shard.pass(SECOND.multipliedBy(10));
		assertThat(manual.fired).containsExactly("r1");
		assertThat(shard.checkpoint().state()).as("r2 is not acknowledged").isEqualTo(Map.of("count", "1"));

		manual.acknowledgments.get(1).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(5));

		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("count", "3"));
	}

	/**
	 * The state has what the call did, and must not meet a timer that it has cancelled.
	 */
	@Test
	void timerThatAnUnacknowledgedCallHasCancelledDoesNotFire() {
		Acknowledging manual = new Acknowledging();
		ConsumingShard shard = start(manual,
				new TestSettings().commits(CommitMode.MANUAL, Duration.ofSeconds(5), 1000));
		shard.deliver(1, 3);
		manual.acknowledgments.get(0).acknowledge();
		manual.acknowledgments.get(1).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(5));
		assertThat(waiting(shard)).containsExactly("r1 at 10");
		shard.pass(SECOND.multipliedBy(10));
		assertThat(manual.fired).isEmpty();

		manual.acknowledgments.get(2).acknowledge();
		shard.run();
		shard.pass(SECOND.multipliedBy(10));

		assertThat(manual.fired).containsExactly("r3");
		assertThat(waiting(shard)).isEmpty();
	}

	@Test
	void handlerWithoutRecordsHasTimersToo() {
		Loop loop = new Loop();
		ConsumingShard shard = ConsumingShard.withoutRecords(loop, TopicSchedule.NONE, this.wall);
		this.wall.shard = shard;
		loop.failing = true;
		shard.pass(SECOND.multipliedBy(15));
		shard.pass(SECOND);
		assertThat(loop.calls).contains("fails");
		assertThat(shard.worker().problem()).isNotNull();
		loop.failing = false;
		shard.pass(MINUTE);
		shard.pass(SECOND.multipliedBy(5));

		assertThat(loop.calls).contains("fired");
		assertThat(shard.checkpoint().state().get("fired")).isEqualTo("1");
		assertThat(waiting(shard)).isEmpty();
		assertThat(shard.worker().problem()).isNull();
	}

	private ConsumingShard start(TestSettings settings) {
		return start(this.bean, settings);
	}

	private ConsumingShard start(Object handler, TestSettings settings) {
		ConsumingShard shard = ConsumingShard.withWallClock(handler, settings, this.wall);
		this.wall.shard = shard;
		return shard;
	}

	/** The shard is released, and has another owner. */
	private static void move(ConsumingShard shard) {
		shard.worker().drain();
		shard.run();
		shard.restart();
	}

	/** Each text begins with the key. */
	private void offer(ConsumingShard shard, String... payloads) {
		for (String payload : payloads) {
			this.offered++;
			shard.offer(this.offered, payload.substring(0, payload.indexOf(' ')), payload);
		}
		shard.run();
	}

	/** Returns what the store has. */
	private static List<String> waiting(ConsumingShard shard) {
		return shard.checkpoints()
			.store()
			.timers(ConsumingShard.SHARD, null, 10)
			.stream()
			.map(ShardTimersTests::text)
			.toList();
	}

	private static String text(StoredTimer timer) {
		return timer.id().key() + " at " + timer.due().getEpochSecond();
	}

	/** Goes with the clock of the shard, unless somebody sets it. */
	private static final class Wall implements InstantSource {

		private ConsumingShard shard;

		private Duration set = Duration.ZERO;

		@Override
		public Instant instant() {
			return (this.shard != null) ? Instant.EPOCH.plusNanos(this.shard.clock().now().nanos()).plus(this.set)
					: Instant.EPOCH;
		}

	}

	static final class Reminders {

		private static final int MANY = 3_000;

		private final List<String> events = new ArrayList<>();

		/** Timers of calls that have returned. */
		private final List<String> fired = new ArrayList<>();

		private final List<Instant> dues = new ArrayList<>();

		private final Set<String> failing = new HashSet<>();

		private final Map<String, Runnable> during = new HashMap<>();

		private Instant at = Instant.EPOCH;

		private Duration every;

		private ShardTimers last;

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record, ShardTimers timers) {
			this.last = timers;
			String payload = record.payload();
			begin(payload, payload + " begins");
			String[] words = payload.split(" ");
			switch (words[1]) {
				case "set" -> timers.set(words[0], "remind", Instant.EPOCH.plusSeconds(Long.parseLong(words[2])));
				case "many" -> {
					Instant time = Instant.EPOCH.plusSeconds(Long.parseLong(words[2]));
					IntStream.range(0, MANY).forEach((i) -> timers.set(words[0] + i, "remind", time));
				}
				case "exact" -> timers.set(words[0], "remind", this.at);
				case "cancel" -> timers.cancel(words[0], "remind");
				case "cancels" -> timers.cancel(words[2], "remind");
				default -> {
				}
			}
			this.events.add(payload + " ends");
		}

		@OnShardTimer
		void due(ShardTimers timers, ShardOutput output, ShardTimer timer, ShardState state, ShardContext context) {
			assertThat(context.shard()).isEqualTo(ConsumingShard.SHARD);
			assertThat(timer.name()).isEqualTo("remind");
			String text = timer.key() + " at " + timer.dueAt().getEpochSecond();
			begin(text, text);
			state.increment("fired " + timer.key(), 1);
			if (this.every != null) {
				timers.set(timer.key(), timer.name(), timer.dueAt().plus(this.every));
				output.send("mails", null, text);
			}
			this.fired.add(text);
			this.dues.add(timer.dueAt());
		}

		private void begin(String call, String event) {
			this.events.add(event);
			Runnable meanwhile = this.during.remove(call);
			if (meanwhile != null) {
				meanwhile.run();
			}
			if (this.failing.contains(call)) {
				throw new IllegalStateException("caused by the test");
			}
		}

		private long calls(String text) {
			return this.events.stream().filter(text::equals).count();
		}

	}

	static final class Plain {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

	static final class Batches {

		private final List<String> calls = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(List<ShardRecord<String>> records, ShardTimers timers) {
			this.calls.add(records.size() + " records");
			records.forEach((record) -> timers.set(record.payload(), "remind", Instant.EPOCH.plusSeconds(10)));
		}

		@OnShardTimer
		void due(ShardTimer timer) {
			this.calls.add(timer.key());
		}

	}

	static final class Acknowledging {

		private final List<Acknowledgment> acknowledgments = new ArrayList<>();

		private final List<String> fired = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record, ShardState state, ShardTimers timers, Acknowledgment acknowledgment) {
			state.increment("count", 1);
			this.acknowledgments.add(acknowledgment);
			if (record.payload().equals("r1")) {
				timers.set(record.payload(), "remind", Instant.EPOCH.plusSeconds(10));
			}
			if (record.payload().equals("r3")) {
				timers.cancel("r1", "remind");
				timers.set(record.payload(), "remind", Instant.EPOCH.plusSeconds(5));
			}
		}

		@OnShardTimer
		void due(ShardTimer timer, ShardState state) {
			state.increment("count", 1);
			this.fired.add(timer.key());
		}

	}

	static final class Loop {

		private final List<String> calls = new ArrayList<>();

		private boolean failing;

		private boolean set;

		@ShardConsumer(value = "orders", interval = "5s")
		void run(ShardTimers timers) {
			this.calls.add("run");
			if (!this.set) {
				timers.set("all", "remind", Instant.EPOCH.plusSeconds(12));
				this.set = true;
			}
		}

		@OnShardTimer
		void due(ShardTimer timer, ShardState state) {
			if (this.failing) {
				this.calls.add("fails");
				throw new IllegalStateException("caused by the test");
			}
			this.calls.add("fired");
			state.increment("fired", 1);
		}

	}

}
