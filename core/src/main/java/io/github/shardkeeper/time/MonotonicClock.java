package io.github.shardkeeper.time;

/**
 * The only place where this process' monotonic clock is read, so that tests can set it.
 * Thread-safe.
 */
@FunctionalInterface
public interface MonotonicClock {

	/** The process' own clock. */
	MonotonicClock SYSTEM = () -> new MonotonicTime(System.nanoTime());

	/**
	 * Reads the clock.
	 * @return the time
	 */
	MonotonicTime now();

}
