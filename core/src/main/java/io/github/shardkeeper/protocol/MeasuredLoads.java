package io.github.shardkeeper.protocol;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.load.LoadAwareSettings;
import io.github.shardkeeper.assignment.load.LoadMeasure;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A member's measurement of its shards' loads: rates between two samples, smoothed so
 * that what is 30 s old counts half as much as what is new. A shard has a load from its
 * second sample on.
 * <p>
 * Something is to be reported when a shard has a load for the first time, when one has
 * changed by more than a step and a fifth, or all together by more than four steps and a
 * tenth. Not thread-safe: confined to the coordinator's loop.
 */
public final class MeasuredLoads {

	private static final int HALF_LIFE_SECONDS = 30;

	private static final double NANOS_PER_SECOND = Duration.ofSeconds(1).toNanos();

	private static final double MILLIS_PER_SECOND = 1000;

	private static final double SHARE_OF_SHARD = 0.2;

	private static final double SHARE_OF_ALL = 0.1;

	private static final int STEPS_OF_ALL = 4;

	private final LoadReporting reporting;

	private Map<ShardId, Sample> samples = new HashMap<>();

	/** Loads in the last report. */
	private final Map<ShardId, Double> reported = new HashMap<>();

	/**
	 * Creates an instance without samples.
	 * @param reporting what to measure
	 */
	public MeasuredLoads(LoadReporting reporting) {
		this.reporting = reporting;
	}

	/**
	 * Takes a sample.
	 * @param work what has been done for each shard that is owned
	 * @param now the time
	 */
	public void sample(Collection<ShardWork> work, MonotonicTime now) {
		Map<ShardId, Sample> taken = new HashMap<>();
		for (ShardWork done : work) {
			Sample before = this.samples.get(done.shard());
			double load = (before != null && before.work.token().equals(done.token())) ? load(before, done, now)
					: Double.NaN;
			taken.put(done.shard(), new Sample(done, now, load));
		}
		this.samples = taken;
		this.reported.keySet().retainAll(taken.keySet());
	}

	private double load(Sample before, ShardWork done, MonotonicTime now) {
		double seconds = before.takenAt.until(now).toNanos() / NANOS_PER_SECOND;
		if (seconds <= 0) {
			return before.load;
		}
		double rate = (this.reporting.measure() == LoadMeasure.RECORDS)
				? (done.records() - before.work.records()) / seconds
				: (done.handlerNanos() - before.work.handlerNanos()) / NANOS_PER_SECOND * MILLIS_PER_SECOND / seconds;
		rate = Math.max(rate, 0);
		double weight = Double.isNaN(before.load) ? 0 : Math.pow(0.5, seconds / HALF_LIFE_SECONDS);
		return (weight > 0) ? weight * before.load + (1 - weight) * rate : rate;
	}

	/**
	 * Returns what is to be reported, and counts it as reported.
	 * @return a report of all shards that have a load, {@code null} when nothing has
	 * changed enough
	 */
	public @Nullable LoadReport report() {
		Map<ShardId, Double> loads = new HashMap<>();
		double sum = 0;
		double reportedSum = 0;
		boolean changed = false;
		for (Sample sample : this.samples.values()) {
			if (!Double.isNaN(sample.load)) {
				ShardId shard = sample.work.shard();
				loads.put(shard, sample.load);
				Double before = this.reported.get(shard);
				changed |= before == null || differ(sample.load, before, 1, SHARE_OF_SHARD);
				sum += sample.load;
				reportedSum += (before != null) ? before : 0;
			}
		}
		if (!changed && !differ(sum, reportedSum, STEPS_OF_ALL, SHARE_OF_ALL)) {
			return null;
		}
		this.reported.clear();
		this.reported.putAll(loads);
		return LoadReport.of(this.reporting.measure(), loads);
	}

	private boolean differ(double load, double before, int steps, double share) {
		double difference = Math.abs(load - before);
		return difference > steps * this.reporting.step() && difference > share * before;
	}

	/** Has everything reported again. */
	public void forgetReports() {
		this.reported.clear();
	}

	/**
	 * Sample of one shard.
	 *
	 * @param load the smoothed load, NaN for a first sample
	 */
	private record Sample(ShardWork work, MonotonicTime takenAt, double load) {

	}

	/**
	 * What a member has done for a shard since it owns it. Immutable.
	 *
	 * @param shard the shard
	 * @param token the token under which it is owned: with another one everything begins
	 * at 0
	 * @param handlerNanos how long its handler has run, a call that runs now included
	 * @param records how many records it has handled
	 */
	public record ShardWork(ShardId shard, Token token, long handlerNanos, long records) {

	}

	/**
	 * How members measure the loads of their shards and tell the leader. Immutable.
	 *
	 * @param measure what is measured
	 * @param interval how often a member looks whether there is something to report, and
	 * a leader whether something was reported
	 * @param step by how much, in the unit of the measure, a shard's load must have
	 * changed to be reported anew
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

}
