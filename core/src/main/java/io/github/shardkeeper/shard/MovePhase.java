package io.github.shardkeeper.shard;

/** Step of a move that only the owner of the shard knows. */
public enum MovePhase {

	/** The old owner's calls and its callback have returned: its last commit follows. */
	DRAINED,

	/** The new owner has the offset and the state. */
	ACQUIRED,

	/** The new owner has handled its first record, or made its first call. */
	FIRST_RECORD

}
