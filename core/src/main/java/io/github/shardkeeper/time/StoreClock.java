package io.github.shardkeeper.time;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The earliest time that the store's clock can show, by this process' monotonic clock.
 * The reply to a heartbeat contains the store's time of some moment between sending and
 * receiving, so the store's clock shows at least that time when the reply arrives. The
 * most precise reply counts; a late one is imprecise but does no harm.
 * <p>
 * A step is noticed when it exceeds that uncertainty. Unnoticed steps, including those
 * that add up over several replies, stay below {@link #tolerance()}: two fifths of the
 * margin of a lease each for steps ahead and for steps back. One fifth remains for drift
 * and rounding. Confined to the loop that receives the replies.
 */
public final class StoreClock {

	/** Maximum drift: one part in so many. */
	private static final long DRIFT_DIVISOR = 500;

	private static final long NANOS_PER_MILLI = 1_000_000;

	private final Duration tolerance;

	private @Nullable Reading earliest;

	/** Reading from which steps ahead are measured. */
	private Reading base = new Reading(new MonotonicTime(0), 0);

	/**
	 * Creates a clock without a reading.
	 * @param margin the margin of a lease for clocks
	 */
	public StoreClock(Duration margin) {
		this.tolerance = margin.multipliedBy(2).dividedBy(5);
	}

	/**
	 * Takes in the time of a reply.
	 * @param now the time of the reply's arrival, or later
	 * @return whether the store's clock has made a step since the previous reply
	 */
	public boolean answered(MonotonicTime sentAt, long storeMillis, MonotonicTime now) {
		Reading reading = new Reading(now, storeMillis * NANOS_PER_MILLI);
		if (this.earliest == null || isSetBack(this.earliest, sentAt, storeMillis)) {
			boolean setBack = this.earliest != null;
			this.earliest = reading;
			this.base = reading;
			return setBack;
		}
		if (this.earliest.slowest(now) < reading.storeNanos) {
			this.earliest = reading;
		}
		Reading risen = new Reading(now, this.base.fastest(now));
		Reading known = new Reading(now, this.earliest.slowest(now));
		boolean ahead = known.storeNanos - risen.storeNanos > this.tolerance.toNanos();
		this.base = (ahead || known.storeNanos < risen.storeNanos) ? known : risen;
		return ahead;
	}

	/** Returns whether the clock shows less than was certain at the sending. */
	private boolean isSetBack(Reading known, MonotonicTime sentAt, long storeMillis) {
		long latest = (storeMillis + 1) * NANOS_PER_MILLI;
		return known.slowest(sentAt) - latest > this.tolerance.toNanos();
	}

	/**
	 * {@return the earliest time that the store's clock can show unless it is set back,
	 * in milliseconds; 0 before the first reply}
	 */
	public long earliestMillis(MonotonicTime now) {
		return (this.earliest != null) ? Math.floorDiv(this.earliest.slowest(now), NANOS_PER_MILLI) : 0;
	}

	/**
	 * {@return the latest time at which the store's clock shows a time, unless it is set
	 * back} Call it after the first reply.
	 */
	public MonotonicTime reaches(long storeMillis) {
		Reading known = (this.earliest != null) ? this.earliest : this.base;
		long nanos = storeMillis * NANOS_PER_MILLI - known.storeNanos;
		return known.at.plus(Duration.ofNanos(nanos + Math.abs(nanos) / (DRIFT_DIVISOR - 1) + 1));
	}

	/**
	 * {@return the maximum of unnoticed steps in one direction, apart from the
	 * uncertainty of the most precise reply}
	 */
	public Duration tolerance() {
		return this.tolerance;
	}

	/** Lower bound of the store's time at a moment of the monotonic clock. */
	private record Reading(MonotonicTime at, long storeNanos) {

		long slowest(MonotonicTime then) {
			long passed = this.at.until(then).toNanos();
			return this.storeNanos + passed - Math.abs(passed) / DRIFT_DIVISOR;
		}

		long fastest(MonotonicTime then) {
			long passed = this.at.until(then).toNanos();
			return this.storeNanos + passed + Math.abs(passed) / DRIFT_DIVISOR;
		}

	}

}
