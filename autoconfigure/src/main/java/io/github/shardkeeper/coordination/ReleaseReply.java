package io.github.shardkeeper.coordination;

/**
 * The answer to a release.
 */
public enum ReleaseReply {

	/** The shard went to its target or is free. */
	RELEASED,

	/** The member did not own it under that token (any longer). */
	STALE

}
