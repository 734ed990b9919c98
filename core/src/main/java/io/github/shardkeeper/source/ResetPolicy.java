package io.github.shardkeeper.source;

/**
 * Reaction of a source if it no longer has the record at which a shard would resume, for
 * example because its retention is shorter than the pause of the group, or because
 * another log has the name of the one that the checkpoint is of.
 */
public enum ResetPolicy {

	/** Resumes at the first record that is available. */
	EARLIEST,

	/** Resumes at the next record that is appended. */
	LATEST,

	/** Does not read the shard, and reports a problem until its position is changed. */
	STOP

}
