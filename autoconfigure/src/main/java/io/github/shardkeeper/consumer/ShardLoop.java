package io.github.shardkeeper.consumer;

import java.util.List;

import io.github.shardkeeper.source.SourceRecord;

/**
 * What a worker does again and again for a shard that it has acquired. Confined to the
 * worker, but for what takes records in.
 */
interface ShardLoop {

	/** Takes records; tells whether there is room for more. */
	boolean offer(List<SourceRecord> records);

	/** No further records will ever come. */
	void ended();

	/**
	 * Does what there is to do, until there is nothing or a turn is over.
	 * @throws io.github.shardkeeper.StoreUnavailableException when the store does not
	 * answer; to be run again
	 */
	Outcome run(ShardProgress progress);

	/**
	 * Takes in what calls have brought that have returned; begins no further one. Tells
	 * whether none runs any more.
	 */
	boolean settle(ShardProgress progress);

	/** What was read and not taken up is not wanted any more. */
	void clear();

	/** How a turn has ended. */
	enum Outcome {

		/** There is more to do. */
		MORE,
		/** There is nothing to do until something happens. */
		DONE,
		/** The last record that the shard will ever have is done. */
		COMPLETED,
		/** A newer owner has acquired the shard. */
		FENCED,
		/** The checkpoint is gone, and may not be made anew now. */
		CHECKPOINT_GONE

	}

}
