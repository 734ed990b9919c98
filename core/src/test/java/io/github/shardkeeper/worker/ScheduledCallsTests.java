package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.schedule.RunRules.MissedRuns;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.Offset;

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
		assertThat(this.shard.threads().hasAlarms()).as("only the answer is awaited").isFalse();
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
