package io.github.shardkeeper.source;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader.RecordSink;

/**
 * Starts, stops and resumes the reading of shards. Thread-safe.
 */
public interface ShardReadControl {

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
	 * Notes that the checkpoint of a shard has been committed, for sources that show the
	 * progress in a system of their own. Called after each commit of an offset that the
	 * store has accepted, by the owner of the shard. Must not block or throw.
	 * @param shard the shard
	 * @param offset the offset of the last record that is done
	 */
	default void committed(ShardId shard, Offset offset) {
	}

	/**
	 * Returns the shards that cannot be read although others can. Replies from memory.
	 * @return the reason by shard, for logs and health
	 */
	Map<ShardId, String> problems();

}
