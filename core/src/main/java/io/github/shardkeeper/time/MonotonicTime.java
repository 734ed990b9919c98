package io.github.shardkeeper.time;

import java.time.Duration;

/**
 * A point on this process' monotonic clock ({@link System#nanoTime()}); has no meaning
 * outside the process and cannot be mixed up with the store's wall clock. Immutable.
 *
 * @param nanos the clock's reading in nanoseconds, which may overflow
 */
public record MonotonicTime(long nanos) implements Comparable<MonotonicTime> {

	public MonotonicTime plus(Duration duration) {
		return new MonotonicTime(this.nanos + duration.toNanos());
	}

	public MonotonicTime minus(Duration duration) {
		return new MonotonicTime(this.nanos - duration.toNanos());
	}

	public boolean isBefore(MonotonicTime other) {
		return compareTo(other) < 0;
	}

	/**
	 * How long it is from here to another point; negative when that is past.
	 * @param other the other point
	 * @return the time between
	 */
	public Duration until(MonotonicTime other) {
		return Duration.ofNanos(other.nanos - this.nanos);
	}

	public static MonotonicTime earliest(MonotonicTime one, MonotonicTime other) {
		return one.isBefore(other) ? one : other;
	}

	@Override
	public int compareTo(MonotonicTime other) {
		// The difference, not the values: nanoTime may overflow.
		return Long.signum(this.nanos - other.nanos);
	}

}
