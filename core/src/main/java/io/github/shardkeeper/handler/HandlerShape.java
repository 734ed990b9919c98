package io.github.shardkeeper.handler;

import io.github.shardkeeper.Internal;

/**
 * Way of calling a handler's method.
 */
@Internal
public enum HandlerShape {

	/** Once for each record. */
	RECORD,
	/** With a list of records. */
	BATCH,
	/** Repeatedly while the shard is owned, without records. */
	LOOP

}
