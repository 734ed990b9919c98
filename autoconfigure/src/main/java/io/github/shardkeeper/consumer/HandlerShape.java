package io.github.shardkeeper.consumer;

/**
 * How often a handler's method is called, and with what.
 */
enum HandlerShape {

	/** Once for each record. */
	RECORD,
	/** With a list of records. */
	BATCH,
	/** Again and again while the shard is owned; without records. */
	LOOP

}
