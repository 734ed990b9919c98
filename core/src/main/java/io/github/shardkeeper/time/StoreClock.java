package io.github.shardkeeper.time;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What this process knows of the store's clock from its own answered heartbeats: by its
 * monotonic clock, the earliest time that the store's clock can show. An answer brings
 * the store's time of some moment between sending and receiving, so the store cannot show
 * less when the answer is here. Of all answers the one counts that says most; one that
 * came late says little and harms nothing.
 * <p>
 * A step is noticed when it is beyond that uncertainty. What is not noticed, steps that
 * add up over several answers among it, stays below {@link #tolerance()}: two fifths of a
 * lease's margin each for steps ahead and for steps back; one fifth is left for clocks
 * that run at different speeds, and for rounding. Not thread-safe: confined to the loop
 * that hears the answers.
 */
public final class StoreClock {

	/** Clocks are taken to run apart by no more than one in so many. */
	private static final long DRIFT_DIVISOR = 500;

	private static final long NANOS_PER_MILLI = 1_000_000;

	private final Duration tolerance;

	/** The store cannot show less than this at that time. */
	private @Nullable Reading earliest;

	/** From where steps ahead are measured. */
	private Reading base = new Reading(new MonotonicTime(0), 0);

	/**
	 * Creates one that knows nothing yet.
	 * @param margin what a lease has left for clocks, of which each kind of step may take
	 * its part
	 */
	public StoreClock(Duration margin) {
		this.tolerance = margin.multipliedBy(2).dividedBy(5);
	}

	/**
	 * Takes in the time of an answer.
	 * @param sentAt when the heartbeat was sent
	 * @param storeMillis the time that the store's clock showed
	 * @param now when the answer was here, or later
	 * @return whether the store's clock has made a step since the answer before
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

	/** The store cannot have shown more than that when the heartbeat was sent. */
	private boolean isSetBack(Reading known, MonotonicTime sentAt, long storeMillis) {
		long latest = (storeMillis + 1) * NANOS_PER_MILLI;
		return known.slowest(sentAt) - latest > this.tolerance.toNanos();
	}

	/**
	 * The earliest time that the store's clock can show unless it is set back.
	 * @param now the time by this process' clock
	 * @return milliseconds of the store's time, 0 before the first answer
	 */
	public long earliestMillis(MonotonicTime now) {
		return (this.earliest != null) ? Math.floorDiv(this.earliest.slowest(now), NANOS_PER_MILLI) : 0;
	}

	/**
	 * When the store's clock shows a time at the latest, unless it is set back.
	 * @param storeMillis that time, after the first answer
	 * @return the time by this process' clock
	 */
	public MonotonicTime reaches(long storeMillis) {
		Reading known = (this.earliest != null) ? this.earliest : this.base;
		long nanos = storeMillis * NANOS_PER_MILLI - known.storeNanos;
		return known.at.plus(Duration.ofNanos(nanos + Math.abs(nanos) / (DRIFT_DIVISOR - 1) + 1));
	}

	/**
	 * How far steps of one direction may go without being noticed, besides the
	 * uncertainty of the best answer.
	 * @return the most
	 */
	public Duration tolerance() {
		return this.tolerance;
	}

	/**
	 * What the store's clock showed, at least, at a moment of this process' clock.
	 */
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
