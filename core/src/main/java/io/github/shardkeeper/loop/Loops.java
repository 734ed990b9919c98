package io.github.shardkeeper.loop;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * Runner of the loops of a member: heartbeats, lease guard, coordinator, reader. A loop
 * defines its step and when the next one is due; the runner decides on which thread and
 * by which clock it waits. Thread-safe.
 */
public interface Loops {

	/**
	 * Starts a loop that does not keep the process running.
	 * @param name the name for logs and health
	 */
	Loop start(String name, Step step);

	/** Starts a loop that keeps the process running until it is closed. */
	Loop startForeground(String name, Step step);

	/** One round of a loop. Never runs concurrently with itself. */
	@FunctionalInterface
	interface Step {

		/**
		 * Does what is due.
		 * @return the time of the next step unless the loop is woken before; {@code null}
		 * to wait for a wake
		 * @throws InterruptedException when the loop is closed, or the step exceeded its
		 * limit
		 */
		@Nullable MonotonicTime run() throws InterruptedException;

	}

	/** A running loop. Thread-safe. */
	interface Loop extends AutoCloseable {

		/**
		 * Runs the next step now. Several calls before it begins cause one step; a call
		 * during a step causes another.
		 */
		void wake();

		/** Ends the loop. Waits for at most 1 s until the running step has ended. */
		@Override
		void close();

	}

}
