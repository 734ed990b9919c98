package io.github.shardkeeper.source;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Reads all shards of an instance over one connection or a few, and passes the records of
 * each shard to its {@link RecordSink}: each record once, in order, from {@link #start}
 * until {@link #stop}. A failure of one shard must not stop the others. {@link #poll()}
 * is confined to the thread that calls it in a loop; all other methods are thread-safe
 * and may be called while a poll waits.
 */
public interface ShardReader extends AutoCloseable {

	/**
	 * Starts reading a shard. A poll that waits must include it without delay. A shard
	 * that is stopped and started again is read from the new offset only.
	 * @param shard the shard; it may be unknown to {@link ShardSource#topics()}
	 * @param after the offset of the last record to skip, {@code null} for none
	 * @param sink receives the records of the shard, in order
	 */
	void start(ShardId shard, @Nullable Offset after, RecordSink sink);

	/**
	 * Stops reading a shard, if it is being read. Its sink is not called afterwards.
	 * @param shard the shard
	 */
	void stop(ShardId shard);

	/**
	 * Resumes a shard that is paused because its sink was full, if it is being read.
	 * @param shard the shard
	 */
	void resume(ShardId shard);

	/**
	 * Waits for records of any shard, for a few seconds at most, and passes them to the
	 * sinks on the calling thread.
	 * @return whether the source has answered a read, with or without records
	 * @throws InterruptedException if the thread is interrupted
	 * @throws RuntimeException if the source cannot be reached. A later poll continues
	 * where the last successful one ended
	 */
	boolean poll() throws InterruptedException;

	/**
	 * Notes that the checkpoint of a shard has been committed, for sources that show the
	 * progress in a system of their own. Called after each commit with an offset that the
	 * store has accepted, by the owner of the shard. Must not block or throw.
	 * @param shard the shard
	 * @param offset the offset of the last record that is done
	 */
	default void committed(ShardId shard, Offset offset) {
	}

	/**
	 * Returns the shards that cannot be read although others can. Answers from memory.
	 * @return the reason by shard, for logs and health
	 */
	Map<ShardId, String> problems();

	/** Closes the reader. Sinks are not called any more. */
	@Override
	void close();

	/**
	 * Receiver of one shard's records. Called by one thread at a time, inside
	 * {@link ShardReader#poll()}. Does not block.
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
		 * Notifies the sink that the shard is closed and that its last record has been
		 * offered. Called once for each {@link ShardReader#start}, also if no record is
		 * left to read; if the last records paused the shard, only after it was resumed.
		 */
		default void ended() {
		}

	}

}
