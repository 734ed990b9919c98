package io.github.shardkeeper.loop;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * Runs the loops of a member: heartbeats, the watch over the lease, the coordinator, the
 * reader. A loop only says what a step does and when the next one is due; who waits, on
 * which thread and by which clock, is decided here. Thread-safe.
 */
public interface Loops {

	/**
	 * Starts a loop that does not keep the process running.
	 * @param name its name, for people
	 * @param step what it repeats
	 * @return the running loop
	 */
	Loop start(String name, Step step);

	/**
	 * Starts a loop that keeps the process running until it is closed.
	 * @param name its name, for people
	 * @param step what it repeats
	 * @return the running loop
	 */
	Loop startForeground(String name, Step step);

	/** One round of a loop. Never runs twice at a time. */
	@FunctionalInterface
	interface Step {

		/**
		 * Does what is due.
		 * @return when to run next if nobody wakes the loop before; {@code null} for only
		 * then
		 * @throws InterruptedException when the loop is closed, or has taken too long
		 */
		@Nullable MonotonicTime run() throws InterruptedException;

	}

	/** A running loop. Thread-safe. */
	interface Loop extends AutoCloseable {

		/**
		 * Has the next step run now. Several calls before it begins make one; a call
		 * while a step runs makes another follow.
		 */
		void wake();

		/** Ends the loop; waits for a moment until the running step has ended. */
		@Override
		void close();

	}

}
