package io.github.shardkeeper.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.schedule.RunRules.MissedRuns;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;
import io.github.shardkeeper.schedule.RunSchedule.Skipped;
import io.github.shardkeeper.schedule.RunTrigger.Cron;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Decisions by a clock that the test sets. */
class RunScheduleTests {

	private static final Instant MIDNIGHT = Instant.parse("2026-11-23T00:00:00Z");

	private static final String HOURLY = "0 0 * * * *";

	private Instant now = MIDNIGHT;

	private RunRules rules = cron(HOURLY, OnInterruption.REPEAT, MissedRuns.ONCE);

	private RunSchedule schedule = new RunSchedule(this.rules, null, this.now);

	@Test
	void cronWaitsForItsFirstTime() {
		assertThat(decide()).isEqualTo(at("01:00"));
	}

	@Test
	void intervalBeginsAtOnceAndCountsFromTheEnd() {
		begin(RunRules.every(Duration.ofMinutes(10)));

		assertThat(decide()).isNull();
		run(Duration.ofMinutes(3));
		assertThat(decide()).isEqualTo(at("00:13"));
		set("00:13");
		assertThat(decide()).isNull();
	}

	@Test
	void runIsOfItsTimeAlsoIfItBeginsLater() {
		set("01:20");
		assertThat(decide()).isNull();
		run(Duration.ofMinutes(1));

		assertThat(this.schedule.position())
			.isEqualTo(new RunPosition(at("02:00"), null, false, at("01:20"), at("01:21"), "cron " + HOURLY + " UTC"));
	}

	@Test
	void nothingIsDecidedWhileARunIsUnderWay() {
		set("01:00");
		decide();
		this.schedule.begin(this.now);
		set("03:30");

		assertThat(decide()).isNull();
		assertThat(this.schedule.position().next()).isEqualTo(at("01:00"));
	}

	@Test
	void missedRunsAreLeftOutWithSkip() {
		begin(cron(HOURLY, OnInterruption.REPEAT, MissedRuns.SKIP));
		set("05:20");

		assertThat(decide()).isEqualTo(at("06:00"));
		assertThat(this.schedule.takeSkipped()).containsExactly(new Skipped(at("01:00"), at("06:00"), false));
		assertThat(this.schedule.takeSkipped()).isEmpty();
	}

	@Test
	void lateRunIsNotMissedYet() {
		begin(cron(HOURLY, OnInterruption.REPEAT, MissedRuns.SKIP));
		this.now = at("05:01");

		assertThat(decide()).isNull();
		assertThat(this.schedule.position().next()).isEqualTo(at("05:00"));
		assertThat(this.schedule.takeSkipped()).containsExactly(new Skipped(at("01:00"), at("05:00"), false));
	}

	@Test
	void waitingForAThreadDoesNotMakeARunAMissedOne() {
		begin(cron(HOURLY, OnInterruption.REPEAT, MissedRuns.SKIP));
		set("01:30");

		assertThat(this.schedule.decide(this.now, at("01:00"))).isNull();
		assertThat(this.schedule.position().next()).isEqualTo(at("01:00"));
		assertThat(this.schedule.takeSkipped()).isEmpty();
	}

	@Test
	void missedRunsAreMadeUpByOneWithOnce() {
		set("05:20");

		assertThat(runAll()).containsExactly(at("05:00"));
		assertThat(decide()).isEqualTo(at("06:00"));
		assertThat(this.schedule.takeSkipped()).isEmpty();
	}

	@Test
	void eachMissedRunIsMadeUpWithAll() {
		begin(cron(HOURLY, OnInterruption.REPEAT, MissedRuns.ALL));
		set("05:20");

		assertThat(runAll()).containsExactly(at("01:00"), at("02:00"), at("03:00"), at("04:00"), at("05:00"));
		assertThat(decide()).isEqualTo(at("06:00"));
		assertThat(this.schedule.takeSkipped()).isEmpty();
	}

	@Test
	void onlyTheLastHundredMissedRunsAreMadeUp() {
		begin(cron("* * * * * *", OnInterruption.REPEAT, MissedRuns.ALL));
		this.now = MIDNIGHT.plus(Duration.ofDays(400));

		assertThat(decide()).isNull();
		assertThat(this.schedule.takeSkipped())
			.containsExactly(new Skipped(MIDNIGHT.plusSeconds(1), this.now.minusSeconds(99), false));
		assertThat(runAll()).hasSize(100).endsWith(this.now);
		assertThat(decide()).isEqualTo(this.now.plusSeconds(1));
	}

	@Test
	void runsThatPassDuringALongRunAreMissed() {
		begin(cron(HOURLY, OnInterruption.REPEAT, MissedRuns.SKIP));
		set("01:00");
		decide();
		run(Duration.ofMinutes(150));

		assertThat(decide()).isEqualTo(at("04:00"));
		assertThat(this.schedule.takeSkipped()).containsExactly(new Skipped(at("02:00"), at("04:00"), false));
	}

	@ParameterizedTest
	@EnumSource(MissedRuns.class)
	void interruptedRunIsRepeatedByTheNextOwner(MissedRuns missedRuns) {
		begin(cron(HOURLY, OnInterruption.REPEAT, missedRuns));
		set("01:00");
		decide();
		this.schedule.begin(this.now);
		set("01:40");
		crash();

		assertThat(decide()).isNull();
		assertThat(this.schedule.position().next()).isEqualTo(at("01:00"));
		run(Duration.ZERO);
		assertThat(decide()).isEqualTo(at("02:00"));
		assertThat(this.schedule.takeSkipped()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(MissedRuns.class)
	void interruptedRunIsSkippedByTheNextOwner(MissedRuns missedRuns) {
		begin(cron(HOURLY, OnInterruption.SKIP, missedRuns));
		set("01:00");
		decide();
		this.schedule.begin(this.now);
		set("01:40");
		crash();

		assertThat(decide()).isEqualTo(at("02:00"));
		assertThat(this.schedule.takeSkipped()).containsExactly(new Skipped(at("01:00"), at("02:00"), true));
		assertThat(this.schedule.position().last()).isEqualTo(at("01:00"));
		assertThat(this.schedule.position().ended()).isNull();
	}

	@Test
	void runsMissedAfterAnInterruptedOneAreMissedRuns() {
		begin(cron(HOURLY, OnInterruption.SKIP, MissedRuns.ALL));
		set("01:00");
		decide();
		this.schedule.begin(this.now);
		set("03:20");
		crash();

		assertThat(runAll()).containsExactly(at("02:00"), at("03:00"));
		assertThat(this.schedule.takeSkipped()).containsExactly(new Skipped(at("01:00"), at("02:00"), true));
	}

	@Test
	void interruptedAndMissedRunsAreReportedApart() {
		begin(cron(HOURLY, OnInterruption.SKIP, MissedRuns.SKIP));
		set("01:00");
		decide();
		this.schedule.begin(this.now);
		set("03:20");
		crash();

		assertThat(decide()).isEqualTo(at("04:00"));
		assertThat(this.schedule.takeSkipped()).containsExactly(new Skipped(at("01:00"), at("02:00"), true),
				new Skipped(at("02:00"), at("04:00"), false));
	}

	@Test
	void callThatWasInterruptedHereIsTreatedAlike() {
		begin(cron(HOURLY, OnInterruption.SKIP, MissedRuns.ONCE));
		set("01:00");
		decide();
		this.schedule.begin(this.now);
		this.schedule.interrupted();

		assertThat(decide()).isEqualTo(at("02:00"));

		begin(cron(HOURLY, OnInterruption.REPEAT, MissedRuns.ONCE));
		set("02:00");
		decide();
		this.schedule.begin(this.now);
		this.schedule.interrupted();
		assertThat(decide()).isNull();
	}

	@Test
	void interruptedIntervalIsSkippedFromItsStart() {
		begin(new RunRules(new RunTrigger.Every(Duration.ofMinutes(10)), OnInterruption.SKIP, MissedRuns.ONCE,
				RunRules.MISSED_AFTER));
		decide();
		this.schedule.begin(this.now);
		set("00:04");
		crash();

		assertThat(decide()).isEqualTo(at("00:10"));
	}

	/** The handler has answered: it failed, and is to be called again. */
	@ParameterizedTest
	@EnumSource(OnInterruption.class)
	void failedRunIsRepeatedAlsoByTheNextOwner(OnInterruption onInterruption) {
		begin(cron(HOURLY, onInterruption, MissedRuns.SKIP));
		set("01:00");
		decide();
		this.schedule.begin(this.now);
		this.schedule.failed();
		assertThat(decide()).isNull();
		set("01:50");
		crash();

		assertThat(decide()).isNull();
		assertThat(this.schedule.position().next()).isEqualTo(at("01:00"));
		this.schedule.begin(this.now);
		assertThat(this.schedule.position().failed()).isFalse();
	}

	@Test
	void cancelledRunIsDueAsBefore() {
		set("01:00");
		decide();
		RunPosition before = this.schedule.position();
		this.schedule.begin(this.now);
		this.schedule.cancel();

		assertThat(this.schedule.position()).isEqualTo(before);
		assertThat(decide()).isNull();
	}

	@Test
	void newOwnerContinuesTheSchedule() {
		set("00:50");
		crash();

		assertThat(decide()).isEqualTo(at("01:00"));
		set("01:00");
		run(Duration.ofMinutes(1));
		crash();
		assertThat(decide()).isEqualTo(at("02:00"));
	}

	@Test
	void otherCronBeginsAnew() {
		set("01:00");
		run(Duration.ZERO);
		set("10:15");
		this.rules = cron("0 30 * * * *", OnInterruption.REPEAT, MissedRuns.ALL);
		crash();

		assertThat(decide()).isEqualTo(at("10:30"));
		assertThat(this.schedule.position().last()).isEqualTo(at("01:00"));
	}

	@Test
	void otherIntervalCountsFromTheLastEnd() {
		begin(RunRules.every(Duration.ofHours(5)));
		decide();
		run(Duration.ofMinutes(1));
		set("00:30");
		this.rules = RunRules.every(Duration.ofHours(1));
		crash();

		assertThat(decide()).isEqualTo(at("01:01"));
	}

	@Test
	void clockThatIsSetBackRepeatsNoRun() {
		set("01:00");
		run(Duration.ofMinutes(1));
		set("00:30");

		assertThat(decide()).as("left out: 01:00, which has run").isEqualTo(at("02:00"));
		set("02:00");
		assertThat(decide()).isNull();
	}

	@ParameterizedTest
	@EnumSource(OnInterruption.class)
	void clockThatIsSetBackByManyRunsRepeatsNone(OnInterruption onInterruption) {
		begin(cron("*/3 * * * * *", onInterruption, MissedRuns.ALL));
		this.now = MIDNIGHT.plusSeconds(90);
		List<Instant> runs = runAll();
		this.now = MIDNIGHT;
		runs.addAll(runAll());
		crash();
		this.now = MIDNIGHT.plusSeconds(60);
		runs.addAll(runAll());

		assertThat(runs).hasSize(30);
		assertThat(decide()).as("waits for the clock").isEqualTo(MIDNIGHT.plusSeconds(93));
		this.now = MIDNIGHT.plusSeconds(99);
		assertThat(runAll()).containsExactly(MIDNIGHT.plusSeconds(93), MIDNIGHT.plusSeconds(96),
				MIDNIGHT.plusSeconds(99));
	}

	@Test
	void scheduleBeginsAnewAfterAClockThatWasFarAhead() {
		this.now = at("00:00").plus(Duration.ofDays(2000));
		begin(this.rules);
		this.now = at("00:10");
		crash();
		assertThat(decide()).isEqualTo(at("01:00"));

		this.now = at("00:00").plus(Duration.ofDays(2000));
		begin(RunRules.every(Duration.ofHours(1)));
		decide();
		run(Duration.ZERO);
		this.now = at("00:10");
		crash();
		assertThat(decide()).isEqualTo(at("01:10"));
	}

	@Test
	void cronWaitsForTheTimeOfARunThatWasMadeWhileTheClockWasFarAhead() {
		Instant ahead = MIDNIGHT.plus(Duration.ofDays(2000));
		this.now = ahead;
		run(Duration.ofMinutes(1));
		this.now = at("00:10");
		crash();

		assertThat(decide()).isEqualTo(ahead.plus(Duration.ofHours(1)));
	}

	/** They were left out by mistake, and none of them was made. */
	@Test
	void runsThatWereLeftOutWhileTheClockWasFarAheadAreMade() {
		begin(cron(HOURLY, OnInterruption.REPEAT, MissedRuns.SKIP));
		set("01:00");
		run(Duration.ofMinutes(1));
		this.now = MIDNIGHT.plus(Duration.ofDays(2000)).plusSeconds(1200);
		assertThat(decide()).isAfter(this.now);
		set("01:10");
		crash();

		assertThat(decide()).isEqualTo(at("02:00"));
	}

	/** Both have a run at 01:00. */
	@Test
	void otherCronRepeatsNoFinishedRunWhileTheClockIsBehind() {
		set("01:00");
		run(Duration.ofMinutes(1));
		set("00:40");
		this.rules = cron("0 0/30 * * * *", OnInterruption.REPEAT, MissedRuns.ALL);
		crash();

		assertThat(decide()).isEqualTo(at("01:30"));
	}

	/** The first run was repeated by an owner whose clock is behind its time. */
	@Test
	void otherCronRepeatsNoRunThatWasMadeBeforeItsTime() {
		set("01:00");
		decide();
		this.schedule.begin(this.now);
		set("00:40");
		crash();
		assertThat(decide()).isNull();
		run(Duration.ofMinutes(1));
		this.rules = cron("0 0/30 * * * *", OnInterruption.REPEAT, MissedRuns.ALL);
		crash();

		assertThat(decide()).isEqualTo(at("01:30"));
	}

	@Test
	void latestTimeIsThatOfTheClocksSoFar() {
		assertThat(this.schedule.position().latest()).isNull();
		set("01:20");
		decide();
		this.schedule.begin(this.now);
		assertThat(this.schedule.position().latest()).isEqualTo(at("01:20"));
		set("01:25");
		this.schedule.succeeded(this.now);
		assertThat(this.schedule.position().latest()).isEqualTo(at("01:25"));
		set("01:10");
		this.schedule = new RunSchedule(this.rules, this.schedule.position(), this.now);
		assertThat(this.schedule.position().latest()).isEqualTo(at("01:25"));
	}

	/** Otherwise a run that was made would have no end, and be made again. */
	@Test
	void runThatNoneFollowsIsNotBegun() {
		LocalDateTime only = LocalDateTime.of(2026, 11, 23, 1, 0);
		Cron cron = new Cron(HOURLY, (from) -> from.isBefore(only) ? only : null, ZoneOffset.UTC);
		begin(new RunRules(cron, OnInterruption.REPEAT, MissedRuns.SKIP, RunRules.MISSED_AFTER));
		set("01:00");
		RunPosition before = this.schedule.position();

		assertThatExceptionOfType(NoNextRunException.class).isThrownBy(() -> {
			decide();
			this.schedule.begin(this.now);
		}).withMessageContaining("names no time after 2026-11-23T01:00:00Z");
		assertThat(this.schedule.isUnderWay()).isFalse();
		assertThat(this.schedule.position()).isEqualTo(before);
	}

	private Instant decide() {
		return this.schedule.decide(this.now, this.now);
	}

	/** Makes all runs that are due, and returns their times. */
	private List<Instant> runAll() {
		List<Instant> runs = new ArrayList<>();
		while (decide() == null) {
			runs.add(this.schedule.position().next());
			run(Duration.ZERO);
		}
		return runs;
	}

	/** Makes the run that is due. */
	private void run(Duration duration) {
		decide();
		this.schedule.begin(this.now);
		this.now = this.now.plus(duration);
		this.schedule.succeeded(this.now);
	}

	private void begin(RunRules other) {
		this.rules = other;
		this.schedule = new RunSchedule(other, null, this.now);
	}

	/** Another owner begins with the committed position. */
	private void crash() {
		RunPosition stored = RunPosition.of(this.schedule.position().toOffset());
		this.schedule = new RunSchedule(this.rules, stored, this.now);
	}

	private void set(String time) {
		this.now = at(time);
	}

	private static Instant at(String time) {
		return Instant.parse("2026-11-23T" + time + ":00Z");
	}

	private static RunRules cron(String cron, OnInterruption onInterruption, MissedRuns missedRuns) {
		return new RunRules(Cron.parse(cron, null, "here"), onInterruption, missedRuns, RunRules.MISSED_AFTER);
	}

}
