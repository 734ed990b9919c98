package io.github.shardkeeper.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.scheduling.support.CronExpression;

import io.github.shardkeeper.schedule.RunTrigger.Cron;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cron expressions around each change of a clock, compared with a search that asks for
 * each minute whether it has a run. Among the zones of the ordinary run are those whose
 * clocks change by 30 minutes, by two hours, at midnight, and by a whole day.
 */
class CronOverClockChangesTests {

	private static final List<String> ZONES = List.of("Europe/Berlin", "Europe/Dublin", "Australia/Lord_Howe",
			"America/Sao_Paulo", "America/Santiago", "Africa/Cairo", "Africa/Casablanca", "Asia/Beirut",
			"Antarctica/Troll", "Pacific/Apia", "UTC");

	/** The expressions, and whether their hours are those that pass. */
	private static final String EXPRESSIONS = """
			0 * * * * *          | true
			0 0 * * * *          | true
			0 */20 * * * *       | true
			0 15,45 0-23 * * *   | true
			@hourly              | true
			0 0 */2 * * *        | false
			0 0,15,30 */3 * * *  | false
			0 30 2 * * *         | false
			0 15,30,45 2 * * *   | false
			0 10 0-4 * * *       | false
			0 45 23,0,1 * * *    | false
			0 5 1,2,3 * * SUN    | false
			@daily               | false
			0 0 3 L * *          | false
			""";

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = EXPRESSIONS)
	void eachRunHasItsMinute(String expression, boolean everyHour) {
		List.of(2011, 2018, 2026).forEach((year) -> compare(expression, everyHour, ZONES, year));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = EXPRESSIONS)
	@Tag("proof")
	void eachRunHasItsMinuteInEveryZone(String expression, boolean everyHour) {
		List.of(2011, 2016, 2018, 2022, 2024, 2026, 2027)
			.forEach((year) -> compare(expression, everyHour, new TreeSet<>(ZoneId.getAvailableZoneIds()), year));
	}

	private static void compare(String expression, boolean everyHour, Iterable<String> zones, int year) {
		CronExpression cron = CronExpression.parse(expression);
		// Many zones have the same changes.
		Set<List<ZoneOffsetTransition>> compared = new HashSet<>();
		for (String name : zones) {
			ZoneId zone = ZoneId.of(name);
			List<ZoneOffsetTransition> changes = changes(zone, year);
			if (!compared.add(changes)) {
				continue;
			}
			Cron trigger = Cron.parse(expression, name, "the test");
			changes.forEach((change) -> {
				Duration around = change.getDuration().abs().plusHours(4);
				Instant from = change.getInstant().minus(around);
				Instant to = change.getInstant().plus(around);
				assertThat(runs(trigger, from, to)).as("'%s' in %s", expression, change)
					.isEqualTo(minutes(cron, everyHour, zone, from, to));
			});
		}
	}

	private static List<ZoneOffsetTransition> changes(ZoneId zone, int year) {
		List<ZoneOffsetTransition> changes = new ArrayList<>();
		Instant end = Year.of(year + 1).atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC);
		ZoneOffsetTransition change = zone.getRules()
			.nextTransition(Year.of(year).atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC));
		while (change != null && change.getInstant().isBefore(end)) {
			changes.add(change);
			change = zone.getRules().nextTransition(change.getInstant());
		}
		return changes;
	}

	/** Returns the runs after one time, up to another one. */
	private static List<Instant> runs(Cron trigger, Instant from, Instant to) {
		List<Instant> runs = new ArrayList<>();
		Instant last = from;
		while (true) {
			Instant next = Objects.requireNonNull(trigger.next(last));
			assertThat(next).isAfter(last);
			if (next.isAfter(to)) {
				return runs;
			}
			runs.add(next);
			last = next;
		}
	}

	private static List<Instant> minutes(CronExpression cron, boolean everyHour, ZoneId zone, Instant from,
			Instant to) {
		List<Instant> minutes = new ArrayList<>();
		for (Instant minute = from.plusSeconds(60); !minute.isAfter(to); minute = minute.plusSeconds(60)) {
			LocalDateTime local = LocalDateTime.ofInstant(minute, zone);
			boolean onTheWall = matches(cron, local) && local.atZone(zone).toInstant().equals(minute);
			if (everyHour ? matches(cron, local) : onTheWall || isMovedTo(cron, zone, minute, local)) {
				minutes.add(minute);
			}
		}
		return minutes;
	}

	/** Whether a time that the last change has left out is moved to this one. */
	private static boolean isMovedTo(CronExpression cron, ZoneId zone, Instant minute, LocalDateTime local) {
		ZoneOffsetTransition change = zone.getRules().previousTransition(minute.plusNanos(1));
		if (change == null || !change.isGap()) {
			return false;
		}
		LocalDateTime leftOut = local.minus(change.getDuration());
		return !leftOut.isBefore(change.getDateTimeBefore()) && leftOut.isBefore(change.getDateTimeAfter())
				&& matches(cron, leftOut);
	}

	/** Without a zone, so that no change of a clock matters. */
	private static boolean matches(CronExpression cron, LocalDateTime time) {
		return time.equals(cron.next(time.minusNanos(1)));
	}

}
