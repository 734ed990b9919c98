package io.github.shardkeeper.protocol;

/**
 * Where a shard stands in the protocol.
 */
public enum ShardPhase {

	/** Nobody owns it. */
	FREE,

	/** Its owner may consume it. */
	OWNED,

	/** Its owner still holds it, and is to drain, flush and release it. */
	REVOKING,

	/** It was released, and rests: nobody may own it yet. */
	QUIET,

	/** Its owner has come to its end; nobody will own it again. */
	COMPLETED

}
