package io.github.shardkeeper.cluster.signal;

import io.github.shardkeeper.cluster.ClusterSignal;

/** Code of the application that handles signals of one name. Thread-safe. */
public interface SignalHandler {

	/** Returns the name of the signals. */
	String signal();

	/** Returns class, method and parameter types, for messages. */
	String method();

	/**
	 * Returns whether it also handles the latest signal that was sent before this process
	 * was started, within the retention of that signal.
	 */
	boolean atStart();

	/** Calls it, and throws what it throws. */
	void handle(ClusterSignal signal) throws Throwable;

}
