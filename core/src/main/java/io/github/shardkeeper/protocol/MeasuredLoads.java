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
 * The measurement of the loads of a member's shards: rates between two samples, smoothed
 * with a half-life of 30 s. A shard has a load from its second sample on. Loads are
 * reported when a shard has its first one, when one has changed by more than a step and a
 * fifth, or all together by more than four steps and a tenth. Confined to the
 * coordinator's loop.
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

	private final Map<ShardId, Double> reported = new HashMap<>();

	public MeasuredLoads(LoadReporting reporting) {
		this.reporting = reporting;
	}

	/** Takes a sample of the work for each owned shard. */
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

	/** Returns a report, which counts as sent; {@code null} if none is due. */
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

	public void forgetReports() {
		this.reported.clear();
	}

	/** Sample of one shard; its load is smoothed, NaN for a first sample. */
	private record Sample(ShardWork work, MonotonicTime takenAt, double load) {

	}

	/**
	 * The work of a member for a shard since it owns it. Immutable.
	 *
	 * @param token the token of the ownership: another one starts again at 0
	 * @param handlerNanos the run time of the handler, including a current call
	 * @param records the number of handled records
	 */
	public record ShardWork(ShardId shard, Token token, long handlerNanos, long records) {

	}

	/**
	 * The settings for measuring and reporting loads. Immutable.
	 *
	 * @param interval the interval at which members check whether to report, and leaders
	 * whether there are reports
	 * @param step the change of a shard's load that is reported, in the unit of the
	 * measure
	 */
	public record LoadReporting(LoadMeasure measure, Duration interval, double step) {

		public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(10);

		public static final LoadReporting DEFAULT = of(LoadAwareSettings.DEFAULT, DEFAULT_INTERVAL);

		/** Resolution of reports: finer changes would move nothing. */
		private static final double STEPS_PER_GAIN = 4;

		/** Returns settings whose step is a quarter of the gain of a move. */
		public static LoadReporting of(LoadAwareSettings settings, Duration interval) {
			return new LoadReporting(settings.measure(), interval, settings.gain() / STEPS_PER_GAIN);
		}

	}

}
