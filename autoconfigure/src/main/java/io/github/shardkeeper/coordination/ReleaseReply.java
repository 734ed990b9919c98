package io.github.shardkeeper.coordination;

/**
 * The answer to a release.
 */
public enum ReleaseReply {

	/** The shard went to its target, rests, is free, or is completed. */
	RELEASED,

	/** The member did not own it under that token (any longer). */
	STALE

}
