package io.github.shardkeeper.handover;

import java.time.Duration;

import io.github.shardkeeper.assignment.load.LoadAwareSettings;
import io.github.shardkeeper.assignment.load.LoadMeasure;

/**
 * How members measure the loads of their shards and tell the leader. Immutable.
 *
 * @param measure what is measured
 * @param interval how often a member looks whether there is something to report, and a
 * leader whether something was reported
 * @param step by how much, in the unit of the measure, a shard's load must have changed
 * to be reported anew
 */
public record LoadReporting(LoadMeasure measure, Duration interval, double step) {

	/** Ten seconds. */
	public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(10);

	/** What holds where nothing else is configured. */
	public static final LoadReporting DEFAULT = of(LoadAwareSettings.DEFAULT, DEFAULT_INTERVAL);

	/** What moves nothing for so much need not be known any better. */
	private static final double STEPS_PER_GAIN = 4;

	/**
	 * As it suits a strategy.
	 * @param settings what the strategy goes by
	 * @param interval how often to look
	 * @return a quarter of the gain of a move as the step
	 */
	public static LoadReporting of(LoadAwareSettings settings, Duration interval) {
		return new LoadReporting(settings.measure(), interval, settings.gain() / STEPS_PER_GAIN);
	}

}
