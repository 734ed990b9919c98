package io.github.shardkeeper.source;

/**
 * What happens to a shard if the record after its checkpoint is no longer in the source.
 */
public enum ResetPolicy {

	/** Reading resumes at the first record that the source still has. */
	EARLIEST,

	/** Reading resumes after the last record that the source has. */
	LATEST,

	/** The shard is not read until its position is set. */
	STOP

}
