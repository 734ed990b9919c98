package io.github.shardkeeper.cluster.signal;

import io.github.shardkeeper.cluster.ClusterSignal;

/** Code of the application that handles signals of one name. Thread-safe. */
public interface SignalHandler {

	/** Returns the name of the signals. */
	String signal();

	/** Returns class, method and parameter types, for messages. */
	String method();

	/** Calls it, and throws what it throws. */
	void handle(ClusterSignal signal) throws Throwable;

}
