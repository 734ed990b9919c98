package io.github.shardkeeper.benchmarks.consuming;

/**
 * Something that reads records. Confined to its thread.
 *
 * @param <R> which ones
 */
interface Contender<R extends Records> {

	/** Its name in the table. */
	String name();

	/** What part of the records it gets, because it would take too long with all. */
	default int divisor() {
		return 1;
	}

	/** How many times as fast as it Shardkeeper is to be, 0 for Shardkeeper itself. */
	default double asked() {
		return 0;
	}

	/** Whether it takes many records at once. */
	default boolean inBatches() {
		return false;
	}

	/** Whether a contender of ours is to be compared with it. */
	default boolean isRivalOf(Contender<?> ours) {
		return true;
	}

	/**
	 * Reads all records of all shards from their begin, in a group of its own.
	 * @param records the records
	 * @param tally is told of every record once it is handled
	 * @throws Exception when that cannot be done
	 */
	void consume(R records, Tally tally) throws Exception;

}
