package io.github.shardkeeper.shard;

/** Cause of a change of a shard's owner. */
public enum MoveCause {

	/** The shard had no owner before. */
	FIRST_OWNER,

	/** The new owner has joined the group. */
	JOIN,

	/** The owner has left the group in order. */
	LEAVE,

	/** The owner has restarted in place: its next session has the shard. */
	RESTART,

	/** The session of the owner has ended: its process is dead, frozen or cut off. */
	CRASH,

	/** The new owner runs a newer version of the application. */
	DEPLOY,

	/** Loads, weights, zones, pins or the list of shards have changed. */
	REBALANCE,

	/** Somebody has asked for it. */
	MANUAL,

	/** The owner did not release the shard in time, so it was taken from it. */
	FORCE,

	/** The shard was read to its end. */
	COMPLETED,

	/** The owner changed, or was lost, while nobody led. */
	UNKNOWN

}
