package io.github.shardkeeper.time;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A point on the monotonic clock of this process ({@link System#nanoTime()}). Has no
 * meaning outside the process. Immutable.
 *
 * @param nanos the reading in nanoseconds, which may overflow
 */
public record MonotonicTime(long nanos) implements Comparable<MonotonicTime> {

	public MonotonicTime plus(Duration duration) {
		return new MonotonicTime(this.nanos + duration.toNanos());
	}

	public MonotonicTime minus(Duration duration) {
		return new MonotonicTime(this.nanos - duration.toNanos());
	}

	public boolean isBefore(MonotonicTime other) {
		// The difference, as below.
		return this.nanos - other.nanos < 0;
	}

	/** Returns the time from here to another point; negative if that is earlier. */
	public Duration until(MonotonicTime other) {
		return Duration.ofNanos(other.nanos - this.nanos);
	}

	public static MonotonicTime earliest(MonotonicTime one, MonotonicTime other) {
		return one.isBefore(other) ? one : other;
	}

	/**
	 * Returns the earliest of times that may be {@code null}; {@code null} if all are.
	 */
	public static @Nullable MonotonicTime earliestOf(@Nullable MonotonicTime... times) {
		MonotonicTime earliest = null;
		for (MonotonicTime time : times) {
			if (time != null) {
				earliest = (earliest != null) ? earliest(earliest, time) : time;
			}
		}
		return earliest;
	}

	/** Returns whether a time has come; a time that is {@code null} never does. */
	public static boolean isReached(@Nullable MonotonicTime time, MonotonicTime now) {
		return time != null && !now.isBefore(time);
	}

	@Override
	public int compareTo(MonotonicTime other) {
		// The difference, not the values: nanoTime may overflow.
		return Long.signum(this.nanos - other.nanos);
	}

}
