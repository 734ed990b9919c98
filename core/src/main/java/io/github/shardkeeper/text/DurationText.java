package io.github.shardkeeper.text;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;

/**
 * Duration as in a properties file, such as {@code 90s} or {@code 2h}, for messages that
 * say what to write there. Has no state.
 */
public final class DurationText {

	private DurationText() {
	}

	/** Returns a duration in the largest unit in which it is a whole number. */
	public static String of(Duration duration) {
		if (duration.isZero()) {
			return "0s";
		}
		Unit unit = Arrays.stream(Unit.values())
			.filter((candidate) -> candidate.isWhole(duration))
			.findFirst()
			.orElse(Unit.NS);
		return duration.dividedBy(unit.length) + unit.name().toLowerCase(Locale.ROOT);
	}

	/** Units with the names that properties have, the largest first. */
	private enum Unit {

		D(Duration.ofDays(1)), H(Duration.ofHours(1)), M(Duration.ofMinutes(1)), S(Duration.ofSeconds(1)),
		MS(Duration.ofMillis(1)), US(Duration.ofNanos(1_000)), NS(Duration.ofNanos(1));

		private final Duration length;

		Unit(Duration length) {
			this.length = length;
		}

		boolean isWhole(Duration duration) {
			return (this.length.getNano() > 0) ? duration.getNano() % this.length.getNano() == 0
					: duration.getNano() == 0 && duration.getSeconds() % this.length.getSeconds() == 0;
		}

	}

}
