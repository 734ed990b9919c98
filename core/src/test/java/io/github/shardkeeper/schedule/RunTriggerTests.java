package io.github.shardkeeper.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.schedule.RunTrigger.Cron;
import io.github.shardkeeper.schedule.RunTrigger.Every;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Cron expressions over the changes of daylight saving. In Berlin the clock goes from 2
 * to 3 on 29 March 2026, and from 3 back to 2 on 25 October 2026.
 */
class RunTriggerTests {

	private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

	@Test
	void timesAreThoseOfTheZone() {
		assertThat(times("0 0 3 * * *", "2026-07-01T00:00Z", 2)).containsExactly("2026-07-01T03:00+02:00",
				"2026-07-02T03:00+02:00");
		assertThat(Cron.parse("0 0 3 * * *", null, "here").next(Instant.parse("2026-07-01T03:00:00Z")))
			.isEqualTo("2026-07-02T03:00:00Z");
	}

	@Test
	void timeThatDaylightSavingLeavesOutIsMovedByTheMissingHour() {
		assertThat(times("0 30 2 * * *", "2026-03-28T00:00Z", 4)).containsExactly("2026-03-28T02:30+01:00",
				"2026-03-29T03:30+02:00", "2026-03-30T02:30+02:00", "2026-03-31T02:30+02:00");
	}

	@Test
	void movedTimeIsFoundFromInsideTheHourAfterTheGap() {
		assertThat(times("0 30 2 * * *", "2026-03-29T01:10Z", 2)).containsExactly("2026-03-29T03:30+02:00",
				"2026-03-30T02:30+02:00");
	}

	@Test
	void timeThatIsMovedOntoAnotherOneRunsOnce() {
		assertThat(times("0 30 2,3 * * *", "2026-03-28T12:00Z", 3)).containsExactly("2026-03-29T03:30+02:00",
				"2026-03-30T02:30+02:00", "2026-03-30T03:30+02:00");
	}

	@Test
	void timeThatOccursTwiceRunsOnce() {
		assertThat(times("0 30 2 * * *", "2026-10-24T12:00Z", 2)).containsExactly("2026-10-25T02:30+02:00",
				"2026-10-26T02:30+01:00");
		assertThat(times("0 0,30 2 * * *", "2026-10-25T01:10Z", 1)).as("between the two")
			.containsExactly("2026-10-26T02:00+01:00");
	}

	@Test
	void everyHourOfTheDayHasItsRuns() {
		assertThat(times("0 0 * * * *", "2026-03-28T23:30Z", 3)).containsExactly("2026-03-29T01:00+01:00",
				"2026-03-29T03:00+02:00", "2026-03-29T04:00+02:00");
		assertThat(times("0 0 * * * *", "2026-10-24T23:30Z", 3)).containsExactly("2026-10-25T02:00+02:00",
				"2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00");
	}

	@Test
	void macrosAreCronExpressions() {
		assertThat(times("@daily", "2026-10-24T12:00Z", 2)).containsExactly("2026-10-25T00:00+02:00",
				"2026-10-26T00:00+01:00");
		assertThat(times("@hourly", "2026-10-24T23:30Z", 3)).containsExactly("2026-10-25T02:00+02:00",
				"2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00");
	}

	/** Each run of a year, from one to the next and from any time in between. */
	@ParameterizedTest
	@ValueSource(strings = { "0 30 2 * * *", "0 */20 * * * *", "0 15 1-3 * * *", "0 0 0 1 * *" })
	void nextTimeDependsOnlyOnTheTimeBefore(String expression) {
		Cron cron = Cron.parse(expression, "Europe/Berlin", "here");
		Instant end = Instant.parse("2027-01-01T00:00:00Z");
		for (Instant time = Instant.parse("2026-01-01T00:00:00Z"), next; time.isBefore(end); time = next) {
			next = cron.next(time);
			assertThat(next).isAfter(time);
			assertThat(cron.next(next.minusMillis(1))).isEqualTo(next);
			assertThat(cron.next(time.plus(Duration.between(time, next).dividedBy(2)))).isEqualTo(next);
		}
	}

	/** A schedule that names the same time again would run for ever. */
	@ParameterizedTest
	@CsvSource({ "0 0 * * * *, 0", "0 0 * * * *, -1800", "0 0 3 * * *, 0", "0 0 3 * * *, -1800" })
	@Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
	void timeThatIsNotLaterIsNoNextTime(String expression, long seconds) {
		Cron cron = new Cron(expression, (from) -> from.plusSeconds(seconds), BERLIN);
		Instant after = Instant.parse("2026-07-01T01:00:00Z");

		assertThatExceptionOfType(NoNextRunException.class).isThrownBy(() -> cron.next(after))
			.withMessage(
					"The schedule 'cron %s Europe/Berlin' names no time after %s, but %s, so no run is begun. "
							+ "Write another expression, or a zone without changes of its clock, such as UTC",
					expression, after, after.plusSeconds(seconds));
	}

	@Test
	void scheduleThatEndsHasNoNextTime() {
		assertThatExceptionOfType(NoNextRunException.class)
			.isThrownBy(() -> new Cron("0 0 3 * * *", (from) -> null, BERLIN).next(Instant.EPOCH))
			.withMessageContaining("names no time after 1970-01-01T00:00:00Z, so no run");
	}

	@Test
	void intervalCountsFromTheEndOfARun() {
		assertThat(new Every(Duration.ofSeconds(10)).next(Instant.EPOCH)).isEqualTo(Instant.EPOCH.plusSeconds(10));
		assertThatIllegalArgumentException().isThrownBy(() -> new Every(Duration.ofSeconds(-1)));
		assertThatIllegalArgumentException().isThrownBy(() -> new Every(Duration.ofDays(36_501)));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					61 * * * * * | UTC     | The cron expression '61 * * * * *' of here is not valid: Invalid value for SecondOfMinute (valid values 0 - 59): 61 '61' in cron expression "61 * * * * *".
					0 3 * * *    | UTC     | The cron expression '0 3 * * *' of here is not valid: Cron expression must consist of 6 fields (found 5 in "0 3 * * *").
					0 0 0 31 2 * | UTC     | The cron expression '0 0 0 31 2 *' of here never fires.
					0 0 3 * * *  | Berlin  | The zone 'Berlin' of here is not a time zone.
					0 0 3 * * *  | UTC+99  | The zone 'UTC+99' of here is not a time zone.
					""")
	void whatIsNotValidIsRefused(String cron, String zone, String message) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> Cron.parse(cron, zone, "here"))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains(message);
				assertThat(ex.getAction()).isNotBlank();
			});
	}

	@Test
	void expressionThatFiresInALeapYearOnlyIsValid() {
		assertThat(Cron.parse("0 0 0 29 2 *", "UTC", "here").next(Instant.parse("2026-11-23T00:00:00Z")))
			.isEqualTo("2028-02-29T00:00:00Z");
	}

	private static List<String> times(String expression, String after, int count) {
		Cron cron = Cron.parse(expression, "Europe/Berlin", "here");
		List<String> times = new ArrayList<>();
		Instant time = ZonedDateTime.parse(after).toInstant();
		for (int i = 0; i < count; i++) {
			time = cron.next(time);
			times.add(time.atZone(BERLIN).toOffsetDateTime().toString());
		}
		return times;
	}

}
