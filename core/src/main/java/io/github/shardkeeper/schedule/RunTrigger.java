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
	 * @return the time; {@code null} if there is none
	 */
	@Nullable Instant next(Instant after);

	/**
	 * Pause from the end of a run to the start of the next one.
	 *
	 * @param interval the pause, possibly zero
	 */
	record Every(Duration interval) implements RunTrigger {

		public Every {
			if (interval.isNegative()) {
				throw new IllegalArgumentException("An interval of " + interval + ": it is at least 0");
			}
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

		private final CronExpression cron;

		private final ZoneId zone;

		private final boolean everyHour;

		private Cron(String expression, CronExpression cron, ZoneId zone) {
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
			return new Cron(cron.strip(), expression, zone(zone, where));
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

		@Override
		public @Nullable Instant next(Instant after) {
			return this.everyHour ? nextOfPassingHours(after) : nextOfHoursOnTheWall(after);
		}

		/**
		 * Asks in one offset at a time: where the clock is changed, Spring's expressions
		 * answer times that are not later, or leave some out.
		 */
		private @Nullable Instant nextOfPassingHours(Instant after) {
			ZoneRules rules = this.zone.getRules();
			ZoneOffset offset = rules.getOffset(after);
			LocalDateTime from = LocalDateTime.ofInstant(after, offset);
			ZoneOffsetTransition change = rules.nextTransition(after);
			while (true) {
				LocalDateTime next = this.cron.next(from);
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
			LocalDateTime next = this.cron.next(from);
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
					next = this.cron.next(gap.getDateTimeAfter().minusNanos(1));
				}
				else {
					next = this.cron.next(next);
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
