package io.github.shardkeeper.source;

import java.util.List;

import io.github.shardkeeper.shard.Offset;

/**
 * Reads all shards of an instance over one connection or a few, and passes the records of
 * each shard to its {@link RecordSink}: each record once, in order, from {@link #start
 * start} until {@link #stop stop}. A failure of one shard must not stop the others.
 * {@link #poll()} is confined to the thread that calls it in a loop; all other methods
 * are thread-safe and may be called while a poll waits.
 */
public interface ShardReader extends ShardReadControl, AutoCloseable {

	/**
	 * Waits for records of any shard, for a few seconds at most, and passes them to the
	 * sinks. A reader may also pass them between two polls, on a thread of its client.
	 * @return whether the source has answered a read since the last call, with or without
	 * records
	 * @throws InterruptedException if the thread is interrupted
	 * @throws RuntimeException if the source cannot be reached. A later poll continues
	 * where the last successful one ended
	 */
	boolean poll() throws InterruptedException;

	/** Closes the reader. Sinks are not called any more. */
	@Override
	void close();

	/**
	 * Receiver of one shard's records. Called by one thread at a time, the one that polls
	 * or one of the reader's client. Does not block.
	 */
	@FunctionalInterface
	interface RecordSink {

		/**
		 * Takes all the records or, if it throws, none: a later poll offers them again.
		 * @param records the next records of the shard, in order; not empty
		 * @return whether there is room for more. If not, the reader pauses the shard
		 * until {@link ShardReader#resume(ShardId)}
		 */
		boolean offer(List<SourceRecord> records);

		/**
		 * Notifies the sink that the shard is read on at another position, because its
		 * next records do not exist any more. Applies to the records offered after this
		 * call. The worker commits the position before it handles the first of them:
		 * otherwise the next owner would not find its position either, and skip records
		 * that this owner was about to handle.
		 * @param after the offset before the next record
		 * @param offsetsReused whether offsets may now denote other records than before,
		 * for example in a topic that was deleted and created again
		 */
		default void movedTo(Offset after, boolean offsetsReused) {
		}

		/**
		 * Notifies the sink that the shard is closed and that its last record has been
		 * offered. Called once for each {@link ShardReader#start}, also if no record is
		 * left to read; if the last records paused the shard, only after it was resumed.
		 */
		default void ended() {
		}

		/**
		 * Returns whether this instance owns the shard for its group now. A source that
		 * shows positions in a system of its own asks before each write: an instance that
		 * was frozen has pending writes of shards that others own by now, and nobody owns
		 * the shards of a broadcast topic. No fence: the instance may freeze after the
		 * reply. Replies from memory, on any thread.
		 * @return whether it does
		 */
		default boolean isOwned() {
			return true;
		}

	}

}
