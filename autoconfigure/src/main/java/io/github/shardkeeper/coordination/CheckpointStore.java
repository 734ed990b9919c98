package io.github.shardkeeper.coordination;

import java.time.Instant;
import java.util.Collection;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The data plane: per shard of a group a fence, an offset and the state's entries.
 * <p>
 * Every method may throw {@link StoreUnavailableException}; each may be repeated as it
 * is. Thread-safe.
 */
public interface CheckpointStore extends AutoCloseable {

	/**
	 * Raises the fence and reads the checkpoint, in one atomic step: the reader sees
	 * every write that was accepted from earlier owners, and they can write nothing after
	 * it.
	 * @param shard the shard
	 * @param token the new owner's token
	 * @return the checkpoint, or that a newer token exists
	 */
	Acquisition acquire(ShardId shard, Token token);

	/**
	 * Writes offset and state changes in one atomic step, if the fence still stands at
	 * the token.
	 * @param shard the shard
	 * @param token the token under which it was acquired
	 * @param number which of the commits under that token it is
	 * @param offset the new offset, {@code null} to leave it as it is
	 * @param changes state entries by key, with {@code null} for removed ones
	 * @return whether the write was accepted
	 */
	CommitReply commit(ShardId shard, Token token, CommitNumber number, @Nullable Offset offset,
			Map<String, @Nullable String> changes);

	/**
	 * Reads a checkpoint without any right to write.
	 * @param shard the shard
	 * @return the checkpoint as committed last
	 */
	Checkpoint read(ShardId shard);

	/**
	 * Reads the committed offsets of many shards.
	 * @param shards the shards
	 * @return the offsets of those that have one
	 */
	Map<ShardId, Offset> offsets(Collection<ShardId> shards);

	/**
	 * Since when the group consumes a topic: the store's time when this is asked for the
	 * first time ever, and the same time ever after, whoever asks.
	 * @param topic the topic
	 * @return the time, to the millisecond
	 */
	Instant consumedSince(String topic);

	@Override
	void close();

	/**
	 * The durable part of a shard.
	 *
	 * @param offset the offset of the last record that counts as handled, {@code null}
	 * before the first
	 * @param state the state's entries, values as JSON
	 */
	record Checkpoint(@Nullable Offset offset, Map<String, String> state) {

	}

	/** The answer to an acquisition. */
	sealed interface Acquisition {

		/**
		 * The fence stands at the token.
		 *
		 * @param checkpoint where to go on
		 */
		record Acquired(Checkpoint checkpoint) implements Acquisition {

		}

		/**
		 * A newer token exists.
		 *
		 * @param fence that token
		 */
		record Refused(Token fence) implements Acquisition {

		}

	}

	/** The answer to a commit. */
	enum CommitReply {

		/** Everything was written. */
		COMMITTED,

		/**
		 * A newer token has acquired the shard, or a later commit was written; nothing
		 * was written.
		 */
		STALE,

		/**
		 * The store has lost what the commit rests on: the checkpoint, the acquisition
		 * under the token, or the commit that was acknowledged last. Nothing was written.
		 * Who still holds the shard acquires it again under the same token and writes its
		 * whole state.
		 */
		GONE

	}

}
