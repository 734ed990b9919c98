package io.github.shardkeeper.assignment.load;

import java.time.Duration;
import java.util.Objects;

/**
 * Limits within which a difference of measured loads is worth a move. Loads are scaled to
 * a member of average capacity, in {@link LoadMeasure#unit()}. Immutable.
 *
 * @param measure the measure of loads
 * @param difference the minimum difference of the loads of two members; above zero
 * @param differenceShare the minimum difference as a share of the higher load, from 0 to
 * below 1
 * @param gain the minimum by which a move must lower the higher of the two loads; above
 * zero, and at most half the difference
 * @param coolDown the time during which a shard does not move for its load after any move
 * @param movesPerPlan the maximum number of shards that move for their load in one plan,
 * including those that are moving already; at least 1
 */
public record LoadAwareSettings(LoadMeasure measure, double difference, double differenceShare, double gain,
		Duration coolDown, int movesPerPlan) {

	public static final double DEFAULT_DIFFERENCE_SHARE = 0.2;

	public static final Duration DEFAULT_COOL_DOWN = Duration.ofMinutes(5);

	public static final int DEFAULT_MOVES_PER_PLAN = 10;

	public static final LoadAwareSettings DEFAULT = of(LoadMeasure.HANDLER_TIME);

	public LoadAwareSettings {
		Objects.requireNonNull(measure, "measure must not be null");
		Objects.requireNonNull(coolDown, "coolDown must not be null");
		require(difference > 0 && difference < Double.MAX_VALUE, "difference", difference, "above zero");
		require(differenceShare >= 0 && differenceShare < 1, "differenceShare", differenceShare,
				"at least 0 and below 1");
		// No single move gains more than half of the difference.
		require(gain > 0 && gain <= difference / 2, "gain", gain, "above zero, and at most half the difference");
		require(!coolDown.isNegative(), "coolDown", coolDown, "not negative");
		require(movesPerPlan >= 1, "movesPerPlan", movesPerPlan, "at least 1");
	}

	/** Returns the defaults for a measure. */
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
