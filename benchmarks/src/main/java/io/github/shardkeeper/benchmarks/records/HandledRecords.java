package io.github.shardkeeper.benchmarks.records;

/**
 * Receives every record once it is handled. Thread-safe for different shards.
 */
interface HandledRecords {

	void handled(byte[] payload);

	/**
	 * Receives a record whose key was counted.
	 * @param count how many records of its key there are, with this one
	 */
	default void counted(byte[] payload, long count) {
		handled(payload);
	}

	/** Returns whether no more records are expected. */
	boolean isComplete();

	/** Waits until no more records are expected. */
	void awaitCompletion() throws InterruptedException;

}
