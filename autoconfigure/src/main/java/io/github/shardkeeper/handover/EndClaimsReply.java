package io.github.shardkeeper.handover;

/**
 * The answer to a leader that ends the time for claims.
 */
public enum EndClaimsReply {

	/** It is over: free shards may be handed out. */
	ENDED,

	/** It has begun again since the leader was told when it may end. */
	OPEN,

	/** Somebody else leads. */
	DEPOSED

}
