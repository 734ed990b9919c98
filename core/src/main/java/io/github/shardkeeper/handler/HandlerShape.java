package io.github.shardkeeper.handler;

/**
 * The way a handler's method is called.
 */
public enum HandlerShape {

	/** Once for each record. */
	RECORD,
	/** With a list of records. */
	BATCH,
	/** Repeatedly while the shard is owned, without records. */
	LOOP

}
