package io.github.shardkeeper.consumer;

import java.time.InstantSource;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Port: threads on which an instance consumes, and its clock on the wall. Thread-safe.
 */
public interface ConsumerRuntime {

	/** Starts the threads. */
	Running start();

	/** Returns the clock on the wall. */
	InstantSource wallClock();

	/**
	 * Returns whether classes are loaded on a thread of their own before the first shard
	 * arrives.
	 */
	boolean warmsUp();

	/**
	 * Running threads.
	 *
	 * @param preparing runs preparations, on a part of the threads
	 * @param timer wakes workers
	 * @param retire the next start gets other threads: calls may hang on these; called at
	 * a stop
	 * @param shutdown ends threads and timer; called after every worker has ended
	 */
	record Running(Executor executor, Executor preparing, ScheduledExecutorService timer, Runnable retire,
			Runnable shutdown) {

	}

}
