package io.github.shardkeeper.benchmarks.records;

import io.github.shardkeeper.benchmarks.Contender;

/**
 * Something that reads records. Confined to its thread.
 *
 * @param <R> the records
 */
interface Reader<R extends Records> extends Contender {

	/** Returns the part of the records that it gets: all would take too long. */
	default int divisor() {
		return 1;
	}

	/**
	 * Reads all records of all shards from their beginning, in a group of its own.
	 * @param handled receives every record once it is handled
	 */
	void consume(R records, HandledRecords handled) throws Exception;

}
