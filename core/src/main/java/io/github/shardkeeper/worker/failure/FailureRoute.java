package io.github.shardkeeper.worker.failure;

import io.github.shardkeeper.worker.record.TrackedRecord;

/**
 * What becomes of a record that cannot be handled: the retry queue, where later records
 * of its key may wait behind it, the dead letters, or a halt of its shard. Confined to
 * the shard's worker.
 */
public interface FailureRoute {

	/**
	 * Returns whether a record can take it now; if not, its delivery is held back until
	 * it can.
	 */
	default boolean isOpenTo(TrackedRecord record) {
		return true;
	}

	/** Returns whether no later record is handled, either. */
	default boolean halts() {
		return false;
	}

	/**
	 * Takes a record.
	 * @param calls the number of its calls so far
	 */
	void take(TrackedRecord record, int calls, Throwable failure);

}
