package io.github.shardkeeper.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.LoadAwareSettings;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Load;
import io.github.shardkeeper.handover.LoadReporting;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Checks and reads {@code shardkeeper.assignment.load.*}. Has no state.
 */
final class LoadSettings {

	private static final String PREFIX = "shardkeeper.assignment.load.";

	private static final Duration SHORTEST_INTERVAL = Duration.ofMillis(100);

	private static final Duration LONGEST_INTERVAL = Duration.ofHours(1);

	private static final Duration LONGEST_COOL_DOWN = Duration.ofDays(7);

	private LoadSettings() {
	}

	static LoadReporting reporting(Load load) {
		return LoadReporting.of(settings(load), load.reportInterval());
	}

	/**
	 * Reads the settings of the strategy.
	 * @throws ShardkeeperConfigurationException when they cannot be
	 */
	static LoadAwareSettings settings(Load load) {
		require(load.reportInterval().compareTo(SHORTEST_INTERVAL) >= 0
				&& load.reportInterval().compareTo(LONGEST_INTERVAL) <= 0, "report-interval", load.reportInterval(),
				"Set it to 100ms or more, and to at most 1h; the default is 10s.");
		double difference = orDefault(load.difference(), load.measure().defaultDifference());
		require(difference > 0 && difference < Double.MAX_VALUE, "difference", difference,
				"Set it to a number above 0, in %s; the default is %.0f.".formatted(load.measure().unit(),
						load.measure().defaultDifference()));
		require(load.differenceShare() >= 0 && load.differenceShare() < 1, "difference-share", load.differenceShare(),
				"Set it to a number from 0 to 0.99; 0.2, the default, is a fifth.");
		// A lower difference has a lower gain.
		double gain = orDefault(load.gain(), Math.min(load.measure().defaultGain(), difference / 2));
		require(gain > 0 && gain <= difference / 2, "gain", gain,
				"Set it to a number above 0, and to at most half of '%sdifference', which is %s: no move brings more."
					.formatted(PREFIX, difference));
		require(!load.coolDown().isNegative() && load.coolDown().compareTo(LONGEST_COOL_DOWN) <= 0, "cool-down",
				load.coolDown(), "Set it to 0s or more, and to at most 7d; the default is 5m.");
		require(load.movesPerPlan() >= 1, "moves-per-plan", load.movesPerPlan(),
				"Set it to 1 or more; the default is 10.");
		return new LoadAwareSettings(load.measure(), difference, load.differenceShare(), gain, load.coolDown(),
				load.movesPerPlan());
	}

	private static double orDefault(@Nullable Double value, double otherwise) {
		return (value != null) ? value : otherwise;
	}

	private static void require(boolean valid, String property, Object value, String action) {
		if (!valid) {
			throw new ShardkeeperConfigurationException("'%s%s' is %s.".formatted(PREFIX, property, value), action);
		}
	}

}
