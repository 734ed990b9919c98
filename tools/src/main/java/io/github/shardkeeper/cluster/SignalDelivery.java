package io.github.shardkeeper.cluster;

import java.time.Duration;

/**
 * A signal that was sent, to wait until instances have handled it. A wait that nobody
 * makes costs nothing. Thread-safe.
 * <p>
 * An instance that has handled a later signal of the same name counts as one that has
 * handled this one, too. What counts is what the store knows from the call on: an
 * instance that has handled the signal and left before the sender waits is not listed.
 */
public interface SignalDelivery {

	/** Returns the name of the signal. */
	String name();

	/** Returns the number of the signal; higher for a later signal. */
	long number();

	/**
	 * Waits until a number of instances have handled the signal. Returns earlier if that
	 * many instances have answered, some of them with a failure, and no other instance
	 * with a method for the signal is left to reply.
	 * @param instances the number of instances, at least 1
	 * @param timeout the longest time to wait; zero to look once
	 * @return who has handled it by then
	 * @throws IllegalArgumentException if the number or the time is not valid
	 * @throws InterruptedException if the thread is interrupted
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store has not
	 * answered within the time, or refuses; a retry makes sense
	 */
	SignalResult await(int instances, Duration timeout) throws InterruptedException;

	/**
	 * Waits until all instances of the group that have a method for the signal have
	 * answered, or have left. Without any, returns at once.
	 * @param timeout the longest time to wait; zero to look once
	 * @return who has handled it by then
	 * @throws IllegalArgumentException if the time is negative
	 * @throws InterruptedException if the thread is interrupted
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store has not
	 * answered within the time, or refuses; a retry makes sense
	 */
	SignalResult awaitAll(Duration timeout) throws InterruptedException;

}
