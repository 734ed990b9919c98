package io.github.shardkeeper.schedule;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.support.CronExpression;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/** Times of the runs of a shard. Immutable. */
public sealed interface RunTrigger {

	/** Text that differs if the times differ; kept with the position in the schedule. */
	String text();

	/**
	 * Returns the time of the run after another one: after its time for a cron
	 * expression, after its end for an interval.
	 * @return the time; for a cron expression it is later than {@code after}
	 * @throws NoNextRunException if a cron expression has none
	 */
	Instant next(Instant after);

	/**
	 * Pause from the end of a run to the start of the next one.
	 *
	 * @param interval the pause, possibly zero
	 */
	record Every(Duration interval) implements RunTrigger {

		/** Longest interval: after a longer one there may be no time to write down. */
		private static final Duration LONGEST = Duration.ofDays(36_500);

		public Every {
			if (!isPossible(interval)) {
				throw new IllegalArgumentException("An interval of %s: it is at least 0 and at most %d days"
					.formatted(interval, LONGEST.toDays()));
			}
		}

		/** Returns whether an interval is neither negative nor too long. */
		public static boolean isPossible(Duration interval) {
			return !interval.isNegative() && interval.compareTo(LONGEST) <= 0;
		}

		@Override
		public Instant next(Instant after) {
			return after.plus(this.interval);
		}

		@Override
		public String text() {
			return "interval " + this.interval;
		}

	}

	/**
	 * Times of a cron expression in a time zone. Where it names every hour ({@code *}),
	 * they are hours that pass: every hour of a day of 23 or 25 hours has its runs. Other
	 * hours are those of the clock on the wall: a time that daylight saving leaves out is
	 * moved by the time that is missing, and one that occurs twice counts once.
	 */
	final class Cron implements RunTrigger {

		private static final int HOURS = 2;

		/** An expression that has no time after this one never has one. */
		private static final LocalDateTime ANY_TIME = LocalDateTime.of(2000, 1, 1, 0, 0);

		private final String expression;

		private final Function<LocalDateTime, @Nullable LocalDateTime> cron;

		private final ZoneId zone;

		private final boolean everyHour;

		/** Creates a trigger of times without a zone, each of which has a next one. */
		Cron(String expression, Function<LocalDateTime, @Nullable LocalDateTime> cron, ZoneId zone) {
			this.expression = expression;
			this.cron = cron;
			this.zone = zone;
			String[] fields = expression.split("\\s+");
			this.everyHour = (fields.length > HOURS) ? isEveryHour(fields[HOURS]) : expression.equals("@hourly");
		}

		private static boolean isEveryHour(String hours) {
			CronExpression ofHours = CronExpression.parse("0 0 " + hours + " * * *");
			return IntStream.range(0, 24)
				.mapToObj(ANY_TIME::plusHours)
				.allMatch((hour) -> hour.plusHours(1).equals(ofHours.next(hour)));
		}

		/**
		 * Parses a cron expression.
		 * @param cron six fields as in Spring's {@link CronExpression}, or a macro
		 * @param zone the time zone, {@code null} for UTC
		 * @param where the property or annotation that contains them
		 * @throws ShardkeeperConfigurationException if one of them is not valid
		 */
		public static Cron parse(String cron, @Nullable String zone, String where) {
			CronExpression expression;
			try {
				expression = CronExpression.parse(cron.strip());
			}
			catch (IllegalArgumentException ex) {
				throw new ShardkeeperConfigurationException(
						"The cron expression '%s' of %s is not valid: %s.".formatted(cron, where, ex.getMessage()),
						"Write six fields: second, minute, hour, day of month, month, day of week; for example "
								+ "'0 0 3 * * *' for every day at three o'clock.",
						ex);
			}
			if (expression.next(ANY_TIME) == null) {
				throw new ShardkeeperConfigurationException(
						"The cron expression '%s' of %s never fires.".formatted(cron, where),
						"Correct it: there is no date such as 31 February.");
			}
			return new Cron(cron.strip(), expression::next, zone(zone, where));
		}

		private static ZoneId zone(@Nullable String zone, String where) {
			try {
				return ZoneId.of((zone != null && !zone.isBlank()) ? zone.strip() : "UTC");
			}
			catch (DateTimeException ex) {
				throw new ShardkeeperConfigurationException(
						"The zone '%s' of %s is not a time zone.".formatted(zone, where),
						"Write the name of a time zone, such as 'Europe/Berlin', 'Asia/Shanghai' or 'UTC'.", ex);
			}
		}

		/** Checks the reply: a schedule that does not get on would run for ever. */
		@Override
		public Instant next(Instant after) {
			Instant next = this.everyHour ? nextOfPassingHours(after) : nextOfHoursOnTheWall(after);
			if (next == null || !next.isAfter(after)) {
				throw new NoNextRunException(this, after, next);
			}
			return next;
		}

		private @Nullable LocalDateTime nextOnTheWall(LocalDateTime from) {
			LocalDateTime next = this.cron.apply(from);
			if (next != null && !next.isAfter(from)) {
				throw new NoNextRunException(this, from.atZone(this.zone).toInstant(),
						next.atZone(this.zone).toInstant());
			}
			return next;
		}

		/**
		 * Asks in one offset at a time: where the clock is changed, Spring's expressions
		 * reply times that are not later, or leave some out.
		 */
		private @Nullable Instant nextOfPassingHours(Instant after) {
			ZoneRules rules = this.zone.getRules();
			ZoneOffset offset = rules.getOffset(after);
			LocalDateTime from = LocalDateTime.ofInstant(after, offset);
			ZoneOffsetTransition change = rules.nextTransition(after);
			while (true) {
				LocalDateTime next = nextOnTheWall(from);
				if (next == null) {
					return null;
				}
				if (change == null || next.toInstant(offset).isBefore(change.getInstant())) {
					return next.toInstant(offset);
				}
				offset = change.getOffsetAfter();
				from = change.getDateTimeAfter().minusNanos(1);
				change = rules.nextTransition(change.getInstant());
			}
		}

		private @Nullable Instant nextOfHoursOnTheWall(Instant after) {
			ZoneRules rules = this.zone.getRules();
			LocalDateTime from = LocalDateTime.ofInstant(after, this.zone);
			ZoneOffsetTransition last = rules.previousTransition(after.plusNanos(1));
			if (last != null && last.isGap() && !last.getInstant().plus(last.getDuration()).isBefore(after)) {
				// Times that were left out are moved to after the gap, and may still
				// come.
				from = from.minus(last.getDuration());
			}
			Instant moved = null;
			LocalDateTime next = nextOnTheWall(from);
			while (next != null) {
				Instant instant = next.atZone(this.zone).toInstant();
				ZoneOffsetTransition gap = rules.getTransition(next);
				boolean leftOut = gap != null && gap.isGap();
				if (instant.isAfter(after)) {
					if (!leftOut) {
						return (moved != null && moved.isBefore(instant)) ? moved : instant;
					}
					// A time right after the gap may be earlier.
					moved = instant;
					next = nextOnTheWall(gap.getDateTimeAfter().minusNanos(1));
				}
				else {
					next = nextOnTheWall(next);
				}
			}
			return moved;
		}

		@Override
		public String text() {
			return "cron " + this.expression + " " + this.zone;
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return other instanceof Cron cron && text().equals(cron.text());
		}

		@Override
		public int hashCode() {
			return Objects.hash(this.expression, this.zone);
		}

		@Override
		public String toString() {
			return text();
		}

	}

}
