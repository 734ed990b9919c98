package io.github.shardkeeper.time;

/** The only reader of this process' monotonic clock, which tests replace. Thread-safe. */
@FunctionalInterface
public interface MonotonicClock {

	MonotonicClock SYSTEM = () -> new MonotonicTime(System.nanoTime());

	/** Returns the current time. */
	MonotonicTime now();

}
