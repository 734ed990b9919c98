package io.github.shardkeeper.time;

/**
 * The only reader of the monotonic clock of this process, so that tests can set it.
 * Thread-safe.
 */
@FunctionalInterface
public interface MonotonicClock {

	/** Clock of this process. */
	MonotonicClock SYSTEM = () -> new MonotonicTime(System.nanoTime());

	/**
	 * Reads the clock.
	 * @return the current time
	 */
	MonotonicTime now();

}
