package io.github.shardkeeper.worker;

import java.util.List;

import io.github.shardkeeper.source.SourceRecord;

/**
 * Handles an acquired shard, turn by turn. Confined to the worker, but for {@link #offer}
 * and {@link #ended}.
 */
sealed interface ShardLoop permits RecordLoop, CallLoop {

	/** Takes records; returns whether there is room for more. */
	boolean offer(List<SourceRecord> records);

	/** Marks the shard as one that gets no further records. */
	void ended();

	/**
	 * Does what there is to do, until there is nothing or a turn is over.
	 * @throws io.github.shardkeeper.StoreUnavailableException when the store does not
	 * answer; to be run again
	 */
	Outcome run();

	/**
	 * Processes the results of calls that have returned, begins no further one, and
	 * returns whether none runs any more.
	 */
	boolean collectResults();

	/** Drops what was read and not taken up. */
	void clear();

	/** How a turn has ended. */
	enum Outcome {

		/** There is more to do. */
		MORE,
		/** There is nothing to do until something happens. */
		IDLE,
		/** The last record that the shard will ever have is done. */
		COMPLETED,
		/** A newer owner has acquired the shard. */
		FENCED,
		/** The checkpoint is gone, and may not be written back now. */
		CHECKPOINT_MISSING

	}

}
