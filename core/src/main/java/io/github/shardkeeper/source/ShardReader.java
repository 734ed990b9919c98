package io.github.shardkeeper.source;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Reads all shards of an instance over one connection or a few. One thread calls
 * {@link #poll()} in a loop, and the reader passes the records of each shard to the
 * shard's {@link RecordSink}. {@link #poll()} is confined to that thread; all other
 * methods are thread-safe and may be called while a poll waits.
 * <p>
 * A reader passes each record of a shard once, in order, from {@link #start} until
 * {@link #stop}. A failure of one shard must not stop the others.
 */
public interface ShardReader extends AutoCloseable {

	/**
	 * Starts reading a shard. A poll that waits must include the shard without delay. A
	 * shard that is stopped and started again is read from the new offset only.
	 * @param shard the shard; it may be unknown to {@link ShardSource#topics()}
	 * @param after the offset of the last record to skip, {@code null} to begin with the
	 * first available record
	 * @param sink receives the records of the shard, in order
	 */
	void start(ShardId shard, @Nullable Offset after, RecordSink sink);

	/**
	 * Stops reading a shard. Once this method has returned, its sink is not called any
	 * more. Does nothing if the shard is not being read.
	 * @param shard the shard
	 */
	void stop(ShardId shard);

	/**
	 * Resumes a shard that is paused because its sink was full. Does nothing if the shard
	 * is not being read.
	 * @param shard the shard
	 */
	void resume(ShardId shard);

	/**
	 * Waits for records of any shard, for a few seconds at most, and passes them to the
	 * sinks on the calling thread.
	 * @return whether the source has answered a read, with or without records
	 * @throws InterruptedException if the thread is interrupted
	 * @throws RuntimeException if the source cannot be reached. The caller polls again
	 * after a pause; that poll continues where the last successful one ended
	 */
	boolean poll() throws InterruptedException;

	/**
	 * Returns the shards that cannot be read although others can. Answers from memory.
	 * @return the reason by shard, for logs and health; empty if there is no problem
	 */
	Map<ShardId, String> problems();

	/**
	 * Closes the reader. Sinks are not called any more.
	 */
	@Override
	void close();

	/**
	 * Receiver of one shard's records. Called by one thread at a time, inside
	 * {@link ShardReader#poll()}. Does not block.
	 */
	@FunctionalInterface
	interface RecordSink {

		/**
		 * Takes all the records or, if it throws, none of them. After an exception the
		 * reader offers the same records again with a later poll.
		 * @param records the next records of the shard, in order; not empty
		 * @return whether there is room for more. If not, the reader pauses the shard
		 * until {@link ShardReader#resume(ShardId)}
		 */
		boolean offer(List<SourceRecord> records);

		/**
		 * Notifies the sink that the shard is closed and that its last record has been
		 * offered: no record will follow. Called once for each {@link ShardReader#start},
		 * also if no record is left to read; if the last records paused the shard, only
		 * after it was resumed.
		 */
		default void ended() {
		}

	}

}
