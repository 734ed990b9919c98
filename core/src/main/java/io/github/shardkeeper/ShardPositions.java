package io.github.shardkeeper;

import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;

/**
 * Has shards of this group consumed from another position on, backwards or forwards,
 * while the group runs or while it is stopped. Any instance may ask, also one that
 * consumes nothing. Thread-safe.
 * <p>
 * What is asked for is durable when a method returns, and is carried out soon after that:
 * the shard's owner lets the calls that run return, calls the methods with
 * {@link OnShardRevoked}, commits, and begins anew under the same token, with the methods
 * with {@link OnShardAssigned}. The shard is not handed over to anybody for that. While
 * nobody owns the shard, the next owner begins at the new position. A later request takes
 * the place of one that was not carried out yet.
 * <p>
 * A position is resolved when it is asked for: {@link StartPosition#LATEST} leads behind
 * the last record that there is then, whatever comes until it is carried out.
 * {@link StartPosition#EARLIEST} leads to the first record that there is <em>when it is
 * carried out</em>. One beyond the last record has the shard wait: records before it are
 * skipped, also those that are yet to come.
 * <p>
 * What is asked for nothing but the position does: records in the retry queue stay there
 * and are handled when they are due, dead letters stay what they are. Acknowledgments of
 * records from before come too late and have no effect.
 * <p>
 * Methods throw {@link StoreUnavailableException} when the store, or the source of the
 * topic, does not answer; each may be repeated as it is, and has to be if the request
 * shall be carried out without delay.
 * {@link io.github.shardkeeper.shard.ShardkeeperConfigurationException} says that a topic
 * is not configured, {@link IllegalArgumentException} that there is no such shard, or
 * that an offset cannot be one of the topic's source; then a retry does not help.
 */
public interface ShardPositions {

	/**
	 * Has a shard consumed from another position on. <b>Its state is kept</b>: what it
	 * has counted stays counted, and records that are handled again count again.
	 * @param shard the shard
	 * @param position where to go on
	 * @return what was accepted
	 */
	Seek seek(ShardId shard, StartPosition position);

	/**
	 * Has all shards of a topic consumed from another position on, one after the other;
	 * after a failure some may be. Their states are kept.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param position where to go on
	 * @return what was accepted
	 */
	Seek seek(String topic, StartPosition position);

	/**
	 * Has a shard consumed from another position on with an empty state, in one atomic
	 * step: {@code reset(shard, StartPosition.EARLIEST)} computes its state anew. What
	 * the methods with {@link OnShardRevoked} write is removed with everything else.
	 * @param shard the shard
	 * @param position where to go on
	 * @return what was accepted
	 */
	Seek reset(ShardId shard, StartPosition position);

	/**
	 * Has all shards of a topic consumed from another position on with empty states, one
	 * shard after the other; after a failure some may be.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param position where to go on
	 * @return what was accepted
	 */
	Seek reset(String topic, StartPosition position);

	/**
	 * Looks what became of a request.
	 * @param seek what was accepted
	 * @return how each of its requests stands
	 */
	Map<ShardId, Progress> progress(Seek seek);

	/**
	 * What was accepted.
	 *
	 * @param requests by shard the number of the request; within a shard they rise
	 * @param completedShards shards that have come to their end, so that nobody will ever
	 * consume them: nothing was asked for them
	 */
	record Seek(Map<ShardId, Long> requests, Set<ShardId> completedShards) {

		public Seek {
			Objects.requireNonNull(requests, "requests must not be null");
			Objects.requireNonNull(completedShards, "completedShards must not be null");
			requests = Map.copyOf(requests);
			completedShards = Set.copyOf(completedShards);
		}

	}

	/** How a request stands. */
	enum Progress {

		/** Nobody has carried it out yet, perhaps because nobody owns the shard. */
		PENDING,

		/** It is carried out, and committed: the shard is consumed from there on. */
		APPLIED,

		/** There is a later one; it may have been carried out before that came. */
		REPLACED,

		/** The store has lost it, as it may lose what was written last: ask again. */
		LOST

	}

}
