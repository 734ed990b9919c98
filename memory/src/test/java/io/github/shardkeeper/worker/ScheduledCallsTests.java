package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.handler.ScheduledHandlers;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.schedule.RunRules;
import io.github.shardkeeper.schedule.RunRules.MissedRuns;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;
import io.github.shardkeeper.schedule.RunTrigger;
import io.github.shardkeeper.schedule.TestTriggers;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.worker.failure.ShardProblem;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers that are called by a schedule, on a topic without records.
 */
class ScheduledCallsTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Instant MIDNIGHT = Instant.parse("2026-11-23T00:00:00Z");

	private final Scheduled bean = new Scheduled();

	private Instant time = MIDNIGHT;

	private ConsumingShard shard;

	@Test
	void handlerIsCalledAtTheTimesOfTheCronExpression() {
		begin(hourly(null, null));
		assertThat(this.bean.calls).isEmpty();
		pass(Duration.ofMinutes(59));
		assertThat(this.bean.calls).isEmpty();
		pass(MINUTE);
		assertThat(this.bean.calls).containsExactly("01:00");
		pass(MINUTE);
		pass(HOUR);

		assertThat(this.bean.calls).containsExactly("01:00", "02:01");
		assertThat(position().next()).isEqualTo(MIDNIGHT.plus(HOUR.multipliedBy(3)));
	}

	@Test
	void nextRunIsStoredBeforeTheFirstOne() {
		begin(hourly(null, null));
		pass(Duration.ofSeconds(5));

		assertThat(position())
			.isEqualTo(new RunPosition(MIDNIGHT.plus(HOUR), null, false, null, null, "cron 0 0 * * * * UTC"));
	}

	@Test
	void positionAndStateAreInOneCommit() {
		begin(hourly(null, null));
		pass(HOUR);

		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("count", "1"));
		assertThat(position().ended()).isEqualTo(MIDNIGHT.plus(HOUR));
		assertThat(this.shard.checkpoints().sent()).filteredOn((commit) -> !commit.changes().isEmpty())
			.singleElement()
			.satisfies((commit) -> assertThat(RunPosition.of(commit.offset()).ended()).isNotNull());
	}

	@Test
	void newOwnerWaitsForTheNextRun() {
		begin(hourly(null, null));
		pass(HOUR);
		this.shard.restart();

		assertThat(this.bean.calls).containsExactly("01:00");
		pass(HOUR);
		assertThat(this.bean.calls).containsExactly("01:00", "02:00");
	}

	@Test
	void intervalContinuesAfterAMove() {
		begin(new TopicSchedule(null, null, Duration.ofMinutes(30), null, null, null));
		assertThat(this.bean.calls).containsExactly("00:00");
		pass(Duration.ofMinutes(20));
		this.shard.worker().drain();
		this.shard.run();
		this.shard.restart();
		assertThat(this.bean.calls).containsExactly("00:00");
		pass(Duration.ofMinutes(10));

		assertThat(this.bean.calls).containsExactly("00:00", "00:30");
	}

	@Test
	void intervalOfZeroKeepsNoSchedule() {
		begin(new TopicSchedule(null, null, Duration.ZERO, null, null, null));
		pass(MINUTE);
		pass(MINUTE);

		assertThat(this.bean.calls).hasSize(3);
		assertThat(this.bean.times).isEmpty();
		assertThat(this.shard.checkpoint().offset()).isNull();
	}

	/** The old owner is a zombie: it still runs, and can commit nothing. */
	@Test
	void runOfAnOwnerThatDiesIsRepeatedAndChangesTheStateOnce() {
		begin(hourly(OnInterruption.REPEAT, MissedRuns.SKIP));
		takeOverDuringTheNextCall(Duration.ofMinutes(10));
		pass(HOUR);
		this.shard.run();

		assertThat(this.bean.calls).containsExactly("01:00", "01:10");
		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("count", "1"));
		assertThat(position().next()).isEqualTo(MIDNIGHT.plus(HOUR.multipliedBy(2)));
	}

	@Test
	void runOfAnOwnerThatDiesIsSkipped() {
		begin(hourly(OnInterruption.SKIP, MissedRuns.ONCE));
		takeOverDuringTheNextCall(Duration.ofMinutes(10));
		pass(HOUR);
		this.shard.run();
		pass(Duration.ofMinutes(10));

		assertThat(this.bean.calls).containsExactly("01:00");
		assertThat(this.shard.checkpoint().state()).isEmpty();
		assertThat(position()).isEqualTo(new RunPosition(MIDNIGHT.plus(HOUR.multipliedBy(2)), null, false,
				MIDNIGHT.plus(HOUR), null, "cron 0 0 * * * * UTC"));
		pass(HOUR);
		assertThat(this.bean.calls).hasSize(2);
	}

	@Test
	void storeKnowsOfTheRunBeforeTheCallWithSkip() {
		begin(hourly(OnInterruption.SKIP, null));
		pass(Duration.ofMinutes(59));
		this.shard.checkpoints().holdAnswers();
		pass(MINUTE);

		assertThat(position().started()).isEqualTo(MIDNIGHT.plus(HOUR));
		assertThat(this.bean.calls).isEmpty();
		assertThat(this.shard.threads().hasAlarms()).as("only the reply is awaited").isFalse();
		this.shard.checkpoints().answerAll();
		this.shard.run();
		assertThat(this.bean.calls).containsExactly("01:00");
	}

	@Test
	void runIsMarkedWithoutWaitingWithRepeat() {
		begin(hourly(OnInterruption.REPEAT, null));
		pass(Duration.ofMinutes(59));
		this.shard.checkpoints().holdAnswers();
		pass(MINUTE);

		assertThat(this.bean.calls).containsExactly("01:00");
		assertThat(this.shard.checkpoints().sent()).anySatisfy(
				(commit) -> assertThat(RunPosition.of(commit.offset()).started()).isEqualTo(MIDNIGHT.plus(HOUR)));
	}

	@Test
	void runThatWasMarkedAndNotCalledIsLeftToTheNextOwner() {
		begin(hourly(OnInterruption.SKIP, null));
		pass(Duration.ofMinutes(59));
		this.shard.checkpoints().holdAnswers();
		pass(MINUTE);
		this.shard.worker().drain();
		this.shard.checkpoints().answerAll();
		this.shard.run();
		assertThat(this.bean.calls).isEmpty();
		assertThat(this.shard.ended()).containsExactly("released");
		this.shard.restart();

		assertThat(this.bean.calls).containsExactly("01:00");
	}

	@Test
	void runIsRepeatedUntilItSucceeds() {
		begin(hourly(OnInterruption.SKIP, MissedRuns.SKIP));
		this.bean.failing = true;
		pass(HOUR);
		assertThat(this.bean.calls).hasSize(1);
		assertThat(this.shard.worker().problem()).asString().contains("Scheduled.run", "keeps failing");
		pass(Duration.ofMillis(200));
		assertThat(this.bean.calls).hasSize(2);
		this.bean.failing = false;
		pass(Duration.ofMinutes(30));
		assertThat(this.bean.calls).hasSize(3);
		pass(Duration.ofMinutes(30));

		assertThat(this.bean.calls).hasSize(4);
		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("count", "2"));
	}

	@Test
	void failedRunIsRepeatedByTheNextOwner() {
		begin(hourly(OnInterruption.SKIP, MissedRuns.SKIP));
		this.bean.failing = true;
		pass(HOUR);
		this.bean.failing = false;
		this.shard.worker().drain();
		this.shard.run();
		this.shard.restart();

		assertThat(this.bean.calls).hasSize(2);
	}

	@Test
	void missedRunsAreMadeUpOneAfterTheOther() {
		begin(hourly(null, MissedRuns.ALL));
		pass(Duration.ofSeconds(5));
		this.shard.worker().abandon();
		this.shard.run();
		this.time = this.time.plus(HOUR.multipliedBy(3));
		this.shard.restart();
		pass(Duration.ZERO);
		pass(Duration.ZERO);

		assertThat(this.bean.calls).hasSize(3);
		assertThat(this.bean.times).containsExactly(MIDNIGHT.plus(HOUR), MIDNIGHT.plus(HOUR.multipliedBy(2)),
				MIDNIGHT.plus(HOUR.multipliedBy(3)));
		assertThat(this.bean.context.scheduledTime()).as("after the call").isEmpty();
		assertThat(position().next()).isEqualTo(MIDNIGHT.plus(HOUR.multipliedBy(4)));
	}

	@Test
	void shardThatWaitsForAThreadMissesNoRun() {
		begin(hourly(null, MissedRuns.SKIP));
		pass(Duration.ofMinutes(59));
		pass(Duration.ofSeconds(59));
		this.shard.renewLease();
		this.shard.clock().advance(Duration.ofSeconds(1));
		this.time = this.time.plusSeconds(1);
		this.shard.worker().wake();
		this.time = this.time.plus(Duration.ofMinutes(20));
		this.shard.run();

		assertThat(this.bean.calls).as("woken by somebody else").isEmpty();

		pass(Duration.ofMinutes(39));
		this.shard.renewLease();
		this.shard.threads().ring(MINUTE);
		this.time = this.time.plus(MINUTE);
		this.time = this.time.plus(Duration.ofMinutes(20));
		this.shard.run();
		assertThat(this.bean.calls).as("woken by its timer").containsExactly("02:20");
	}

	@Test
	void commitBeforeAMissedRunDoesNotMakeItTimely() {
		begin(new TopicSchedule("0 1 * * * *", null, null, null, MissedRuns.SKIP, null));
		pass(Duration.ofSeconds(5));
		assertThat(this.shard.checkpoints().committed()).as("woken by the timer of commits").hasSize(1);
		this.shard.renewLease();
		this.shard.clock().advance(Duration.ofSeconds(55));
		this.time = this.time.plusSeconds(55).plus(Duration.ofMinutes(20));
		this.shard.worker().wake();
		this.shard.run();

		assertThat(this.bean.calls).isEmpty();
		pass(Duration.ofSeconds(5));
		assertThat(position().next()).isEqualTo(MIDNIGHT.plus(HOUR).plus(MINUTE));
	}

	@Test
	void clockThatIsSetForwardIsNoticedWithinAMinute() {
		begin(hourly(null, null));
		pass(MINUTE);
		this.time = this.time.plus(Duration.ofMinutes(59));
		pass(MINUTE);

		assertThat(this.bean.calls).containsExactly("01:01");
	}

	@ParameterizedTest
	@EnumSource(OnInterruption.class)
	void clockThatIsSetBackEndsNoFinishedRunAgain(OnInterruption onInterruption) {
		begin(new TopicSchedule("*/3 * * * * *", null, null, onInterruption, MissedRuns.ALL, null));
		passInSteps(30);
		assertThat(this.bean.times).hasSize(30).last().isEqualTo(MIDNIGHT.plusSeconds(90));
		this.time = MIDNIGHT;
		passInSteps(15);
		this.shard.restart();
		passInSteps(15);

		assertThat(this.bean.times).as("after the clock has caught up").hasSize(30);
		passInSteps(2);
		assertThat(this.bean.times).hasSize(32).doesNotHaveDuplicates().isSorted();
		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("count", "32"));
	}

	@Test
	void clockBehindTheLastRunIsAProblemUntilItHasCaughtUp() {
		begin(new TopicSchedule("*/3 * * * * *", null, null, null, null, null));
		passInSteps(30);
		assertThat(this.shard.worker().problem()).isNull();
		this.time = MIDNIGHT;

		assertThat(this.shard.worker().problem()).isEqualTo(ShardProblem
			.alarm("The clock of this machine shows 2026-11-23T00:00:00Z, 90 s before the last run of the shard, which was "
					+ "at 2026-11-23T00:01:30Z. The next run waits until this clock shows 2026-11-23T00:01:33Z. Set the "
					+ "clocks of all instances (NTP). If this one is right, and an earlier one was ahead, seek the shard "
					+ "to 'earliest': its schedule starts over from now, and its state is kept"));
		this.time = MIDNIGHT.plusSeconds(45);
		assertThat(this.shard.worker().problem()).as("catches up soon")
			.satisfies((problem) -> assertThat(problem.alarm()).isFalse())
			.asString()
			.contains("45 s before");
		this.time = MIDNIGHT.plusSeconds(89);
		assertThat(this.shard.worker().problem()).as("clocks of two instances").isNull();
	}

	@Test
	void seekStartsOverAScheduleWhoseClockWasAhead() {
		begin(hourly(null, null));
		this.time = MIDNIGHT.plus(Duration.ofDays(2000));
		pass(HOUR);
		this.time = MIDNIGHT.plus(HOUR);
		pass(HOUR);
		assertThat(this.bean.calls).hasSize(1);
		assertThat(this.shard.worker().problem()).asString().contains("seek the shard to 'earliest'");
		this.shard.checkpoints().seek(ConsumingShard.SHARD, new Offset("beginning"), false);
		this.shard.worker().attend();
		this.shard.run();
		assertThat(this.shard.worker().problem()).isNull();
		pass(HOUR);

		assertThat(this.bean.times).last().isEqualTo(MIDNIGHT.plus(HOUR.multipliedBy(3)));
		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("count", "2"));
	}

	@Test
	void pauseOfAnIntervalStartsOverIfTheClockIsSetBack() {
		begin(new TopicSchedule(null, null, Duration.ofMinutes(10), null, null, null));
		pass(Duration.ofMinutes(5));
		this.time = MIDNIGHT.minus(HOUR);
		pass(MINUTE);
		assertThat(this.shard.worker().problem()).asString()
			.contains("3540 s before the last run", "The next run waits until this clock shows 2026-11-22T23:11:00Z");
		pass(Duration.ofMinutes(10));

		assertThat(this.bean.calls).containsExactly("00:00", "23:11");
		assertThat(this.shard.worker().problem()).isNull();
	}

	/** Otherwise the worker would decide for ever, or repeat the run that it has made. */
	@Test
	void scheduleWithoutALaterTimeBeginsNoRunAndRepeatsNone() {
		this.bean.clock = () -> this.time.toString().substring(11, 16);
		LocalDateTime last = LocalDateTime.of(2026, 11, 23, 2, 0);
		RunTrigger stopping = TestTriggers.cron((from) -> from.isBefore(last) ? from.plusHours(1) : from);
		this.shard = ConsumingShard.withoutRecords(
				ScheduledHandlers.of("orders", this.bean,
						new RunRules(stopping, OnInterruption.SKIP, MissedRuns.ALL, RunRules.MISSED_AFTER)),
				() -> this.time);
		pass(HOUR);
		pass(HOUR);
		pass(HOUR);

		assertThat(this.bean.calls).containsExactly("01:00");
		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("count", "1"));
		assertThat(position().ended()).isEqualTo(MIDNIGHT.plus(HOUR));
		assertThat(this.shard.worker().problem()).satisfies((problem) -> assertThat(problem.alarm()).isTrue())
			.asString()
			.contains(
					"The schedule 'cron 0 0 * * * * Z' names no time after 2026-11-23T02:59:59Z, but 2026-11-23T02:59:59Z",
					"Write another expression");
		this.shard.restart();
		assertThat(this.shard.worker().problem()).asString().contains("names no time after");
		this.shard.worker().drain();
		this.shard.run();
		assertThat(this.shard.ended()).containsExactly("released");
	}

	/** What was not committed would be repeated after a crash. */
	@ParameterizedTest
	@EnumSource(OnInterruption.class)
	void eachRunOfABurstWaitsForTheCommitOfTheLastOne(OnInterruption onInterruption) {
		begin(hourly(onInterruption, MissedRuns.ALL));
		pass(Duration.ofSeconds(5));
		this.shard.worker().abandon();
		this.shard.run();
		this.time = this.time.plus(HOUR.multipliedBy(3));
		this.shard.checkpoints().holdAnswers();
		this.shard.restart();
		if (onInterruption == OnInterruption.SKIP) {
			this.shard.checkpoints().reply();
		}
		pass(Duration.ZERO);
		pass(Duration.ZERO);
		assertThat(this.bean.times).containsExactly(MIDNIGHT.plus(HOUR));
		while (this.bean.times.size() == 1 && this.shard.checkpoints().heldAnswers() > 0) {
			this.shard.checkpoints().reply();
			pass(Duration.ZERO);
		}

		assertThat(this.bean.times).containsExactly(MIDNIGHT.plus(HOUR), MIDNIGHT.plus(HOUR.multipliedBy(2)));
		assertThat(this.shard.checkpoints().committed()).extracting((offset) -> RunPosition.of(offset).ended())
			.as("the end of the first one")
			.last()
			.isNotNull();
	}

	/** A request per run, as long as one follows the other. */
	@Test
	void endOfARunAndBeginOfTheNextAreOneCommit() {
		begin(hourly(OnInterruption.SKIP, MissedRuns.ALL));
		pass(Duration.ofSeconds(5));
		this.shard.worker().abandon();
		this.shard.run();
		this.time = this.time.plus(HOUR.multipliedBy(4));
		int before = this.shard.checkpoints().sent().size();
		this.shard.restart();
		for (int i = 0; i < 4; i++) {
			pass(Duration.ZERO);
		}

		assertThat(this.bean.times).hasSize(4);
		assertThat(this.shard.checkpoints().sent().subList(before, this.shard.checkpoints().sent().size()))
			.as("one for the begin of the first")
			.hasSize(1 + 4);
	}

	@Test
	void endOfALongIntervalIsCommittedAtOnce() {
		begin(new TopicSchedule(null, null, Duration.ofSeconds(5), null, null, null));
		assertThat(position().ended()).isEqualTo(MIDNIGHT);
		begin(new TopicSchedule(null, null, Duration.ofSeconds(4), null, null, null));
		assertThat(this.shard.checkpoint().offset()).as("several runs share a commit").isNull();
		pass(Duration.ofSeconds(5));
		assertThat(position().ended()).isNotNull();
	}

	@Test
	void interruptedCallIsRepeatedHere() {
		begin(hourly(OnInterruption.REPEAT, MissedRuns.SKIP));
		this.bean.onCall = () -> {
			this.shard.interruptCalls();
			throw new IllegalStateException("interrupted");
		};
		pass(HOUR);
		pass(Duration.ZERO);

		assertThat(this.bean.calls).containsExactly("01:00", "01:00");
	}

	@Test
	void interruptedCallIsSkippedHere() {
		begin(hourly(OnInterruption.SKIP, MissedRuns.SKIP));
		this.bean.onCall = () -> {
			this.shard.interruptCalls();
			throw new IllegalStateException("interrupted");
		};
		pass(HOUR);
		pass(MINUTE);

		assertThat(this.bean.calls).containsExactly("01:00");
		assertThat(position().next()).isEqualTo(MIDNIGHT.plus(HOUR.multipliedBy(2)));
	}

	@Test
	void resetBeginsTheScheduleAnew() {
		begin(hourly(null, MissedRuns.ALL));
		pass(HOUR);
		this.shard.checkpoints().seek(ConsumingShard.SHARD, new Offset("beginning"), true);
		this.time = this.time.plus(HOUR.multipliedBy(5));
		this.shard.worker().attend();
		this.shard.run();
		pass(Duration.ofSeconds(5));

		assertThat(this.bean.calls).containsExactly("01:00");
		assertThat(this.shard.checkpoint().state()).isEmpty();
		assertThat(position().next()).isEqualTo(MIDNIGHT.plus(HOUR.multipliedBy(7)));
	}

	private void begin(TopicSchedule schedule) {
		this.bean.clock = () -> this.time.toString().substring(11, 16);
		this.shard = ConsumingShard.withoutRecords(this.bean, schedule, () -> this.time);
	}

	/** Both clocks advance. */
	private void pass(Duration duration) {
		this.time = this.time.plus(duration);
		this.shard.pass(duration);
	}

	/** As {@link #pass}, in steps of 3 s. */
	private void passInSteps(int steps) {
		for (int i = 0; i < steps; i++) {
			pass(Duration.ofSeconds(3));
		}
	}

	/** While the handler runs, another owner begins some time later. */
	private void takeOverDuringTheNextCall(Duration later) {
		this.bean.onCall = () -> {
			this.time = this.time.plus(later);
			this.shard.restart();
		};
	}

	private RunPosition position() {
		return RunPosition.of(this.shard.checkpoint().offset());
	}

	private static TopicSchedule hourly(OnInterruption onInterruption, MissedRuns missedRuns) {
		return new TopicSchedule("0 0 * * * *", null, null, onInterruption, missedRuns, null);
	}

	/** What the user wrote. */
	static final class Scheduled {

		private final List<String> calls = new ArrayList<>();

		private final List<Instant> times = new ArrayList<>();

		private ShardContext context;

		private Supplier<String> clock;

		private Runnable onCall;

		private boolean failing;

		@ShardConsumer("orders")
		void run(ShardContext shard, ShardState state) {
			this.context = shard;
			shard.scheduledTime().ifPresent(this.times::add);
			this.calls.add(this.clock.get());
			state.increment("count", 1);
			Runnable then = this.onCall;
			this.onCall = null;
			if (then != null) {
				then.run();
			}
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

}
