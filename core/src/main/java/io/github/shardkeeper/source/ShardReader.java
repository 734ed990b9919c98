package io.github.shardkeeper.source;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Reads the records of all the shards of an instance at once. {@link #poll()} belongs to
 * one thread, everything else is thread-safe.
 */
public interface ShardReader extends AutoCloseable {

	/**
	 * Begins to read a shard; a poll that is waiting takes it in without delay.
	 * @param shard the shard
	 * @param after the offset of the last record that is not wanted any more,
	 * {@code null} to begin with the first that there is
	 * @param sink takes the records, in their order
	 */
	void start(ShardId shard, @Nullable Offset after, RecordSink sink);

	/**
	 * Stops reading a shard. After it has returned, the sink gets nothing more.
	 * @param shard the shard
	 */
	void stop(ShardId shard);

	/**
	 * Goes on with a shard whose sink was full.
	 * @param shard the shard
	 */
	void resume(ShardId shard);

	/**
	 * Waits for records of any shard, for at most a few seconds, and hands them to their
	 * sinks.
	 * @return whether the source has answered a read, with records or without
	 * @throws InterruptedException when the thread is interrupted
	 * @throws RuntimeException of the source when it cannot be reached; a later poll goes
	 * on where the last one ended
	 */
	boolean poll() throws InterruptedException;

	/**
	 * The shards that cannot be read while others can.
	 * @return the reason for each
	 */
	Map<ShardId, String> problems();

	@Override
	void close();

	/** Takes the records of one shard; must not block. */
	@FunctionalInterface
	interface RecordSink {

		/**
		 * Takes records: all of them, or, when it throws, none. Those are offered again
		 * with a later poll.
		 * @param records the next records of the shard, not empty
		 * @return whether there is room for more; when not, the shard pauses until
		 * {@link ShardReader#resume(ShardId)}
		 */
		boolean offer(List<SourceRecord> records);

		/**
		 * The shard is closed, and its last record has been offered: nothing will ever
		 * come again. Told once for each {@link ShardReader#start}, after what the last
		 * record's offer may have paused was resumed.
		 */
		default void ended() {
		}

	}

}
