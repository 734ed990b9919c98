package io.github.shardkeeper.handler;

/**
 * Way of calling a handler's method.
 */
public enum HandlerShape {

	/** Once for each record. */
	RECORD,
	/** With a list of records. */
	BATCH,
	/** Repeatedly while the shard is owned, without records. */
	LOOP

}
