package io.github.shardkeeper.assignment;

import java.time.Duration;
import java.util.Objects;

/**
 * When a difference of measured loads is worth a move. Loads are those of a member of
 * average capacity; numbers are in the {@linkplain LoadMeasure#unit() unit of the
 * measure}. Immutable.
 *
 * @param measure what loads are measured by
 * @param difference by how much, in absolute terms, a member must be busier than another
 * one before a shard moves between them; above zero
 * @param differenceShare by which share of its own load it must be, too: 0.2 for a fifth;
 * at least 0 and below 1
 * @param gain by how much, in absolute terms, a move must bring down the higher of the
 * two members' loads; above zero, and at most half the difference
 * @param coolDown how long a shard does not move for its load after it has moved for any
 * reason
 * @param movesPerPlan how many shards may move for their load in one plan, less those
 * that are moving already; at least 1
 */
public record LoadAwareSettings(LoadMeasure measure, double difference, double differenceShare, double gain,
		Duration coolDown, int movesPerPlan) {

	/** A fifth. */
	public static final double DEFAULT_DIFFERENCE_SHARE = 0.2;

	/** Five minutes. */
	public static final Duration DEFAULT_COOL_DOWN = Duration.ofMinutes(5);

	/** Ten. */
	public static final int DEFAULT_MOVES_PER_PLAN = 10;

	/** What holds where nothing else is configured. */
	public static final LoadAwareSettings DEFAULT = of(LoadMeasure.HANDLER_TIME);

	public LoadAwareSettings {
		Objects.requireNonNull(measure, "measure must not be null");
		Objects.requireNonNull(coolDown, "coolDown must not be null");
		require(difference > 0 && difference < Double.MAX_VALUE, "difference", difference, "above zero");
		require(differenceShare >= 0 && differenceShare < 1, "differenceShare", differenceShare,
				"at least 0 and below 1");
		// More than half of it no single move could bring.
		require(gain > 0 && gain <= difference / 2, "gain", gain, "above zero, and at most half the difference");
		require(!coolDown.isNegative(), "coolDown", coolDown, "not negative");
		require(movesPerPlan >= 1, "movesPerPlan", movesPerPlan, "at least 1");
	}

	/**
	 * The defaults for a measure.
	 * @param measure what loads are measured by
	 * @return the settings
	 */
	public static LoadAwareSettings of(LoadMeasure measure) {
		Objects.requireNonNull(measure, "measure must not be null");
		return new LoadAwareSettings(measure, measure.defaultDifference(), DEFAULT_DIFFERENCE_SHARE,
				measure.defaultGain(), DEFAULT_COOL_DOWN, DEFAULT_MOVES_PER_PLAN);
	}

	private static void require(boolean valid, String name, Object value, String rule) {
		if (!valid) {
			throw new IllegalArgumentException("%s is %s: it must be %s".formatted(name, value, rule));
		}
	}

}
