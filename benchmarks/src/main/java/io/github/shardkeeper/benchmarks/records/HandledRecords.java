package io.github.shardkeeper.benchmarks.records;

/**
 * Receives every record once it is handled. Thread-safe for different shards.
 */
interface HandledRecords {

	void handled(byte[] payload);

	/** Returns whether no more records are expected. */
	boolean isComplete();

	/** Waits until no more records are expected. */
	void awaitCompletion() throws InterruptedException;

}
