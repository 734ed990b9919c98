package io.github.shardkeeper.benchmarks.consuming;

/**
 * Something that reads streams. Confined to its thread.
 */
interface Contender {

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

	/**
	 * Reads all records of all streams from their begin, in a group of its own.
	 * @param streams the streams
	 * @param tally is told of every record once it is handled
	 * @throws Exception when that cannot be done
	 */
	void consume(Streams streams, Tally tally) throws Exception;

}
