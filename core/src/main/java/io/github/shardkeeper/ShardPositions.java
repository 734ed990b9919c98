package io.github.shardkeeper;

import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;

/**
 * Moves shards of this group to another position, backwards or forwards, while the group
 * runs or is stopped. Works on every instance, also on one that consumes nothing.
 * Thread-safe. Methods block until the store has answered.
 * <p>
 * When a method returns, the request is durable; it is applied soon after. The owner of
 * the shard lets running calls return, calls the {@link OnShardRevoked} methods, commits,
 * and resumes at the new position under the same token, beginning with the
 * {@link OnShardAssigned} methods. If the shard has no owner, the next owner begins at
 * the new position. A later request replaces one that is not applied yet.
 * <p>
 * A position is resolved when it is requested: {@link StartPosition#LATEST} is the end of
 * the shard at that time. Exception: {@link StartPosition#EARLIEST} is the first record
 * that exists <em>when the request is applied</em>. An offset beyond the last record
 * makes the shard wait: records before that offset are skipped, including future ones.
 * The position of a {@linkplain StartPosition#group consumer group} that has live members
 * is not accepted.
 * <p>
 * A request changes only the position. Records in the retry queue are handled when they
 * are due; dead letters stay. Acknowledgments of earlier records have no effect.
 * <p>
 * Methods throw {@link StoreUnavailableException} if the store, or the source of the
 * topic, does not reply, or if a consumer group has live members; repeat the call. They
 * throw {@link io.github.shardkeeper.shard.ShardkeeperConfigurationException} if a topic
 * is not configured and {@link IllegalArgumentException} if a shard does not exist or an
 * offset is not valid for the source; then a retry does not help.
 */
public interface ShardPositions {

	/**
	 * Requests another position of a shard. <b>The state is kept</b>: records that are
	 * handled again change it again.
	 * @param shard the shard
	 * @param position the new position
	 * @return the accepted request
	 */
	Seek seek(ShardId shard, StartPosition position);

	/**
	 * Requests another position of all shards of a topic. States are kept. Not atomic:
	 * after an exception the request may be accepted for some shards.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param position the new position
	 * @return the accepted requests
	 */
	Seek seek(String topic, StartPosition position);

	/**
	 * Requests another position of a shard and an empty state, in one atomic step:
	 * {@code reset(shard, StartPosition.EARLIEST)} computes the state again from the
	 * beginning. What {@link OnShardRevoked} methods write to the state is removed too.
	 * @param shard the shard
	 * @param position the new position
	 * @return the accepted request
	 */
	Seek reset(ShardId shard, StartPosition position);

	/**
	 * Requests another position of all shards of a topic and empty states. Atomic for
	 * each shard only: after an exception the request may be accepted for some shards.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param position the new position
	 * @return the accepted requests
	 */
	Seek reset(String topic, StartPosition position);

	/**
	 * Returns the progress of accepted requests.
	 * @param seek the accepted requests
	 * @return the progress by shard
	 */
	Map<ShardId, Progress> progress(Seek seek);

	/**
	 * Accepted requests. Immutable.
	 *
	 * @param requests the number of the request by shard; numbers of a shard rise
	 * @param completedShards the completed shards, which have no request
	 */
	record Seek(Map<ShardId, Long> requests, Set<ShardId> completedShards) {

		public Seek {
			Objects.requireNonNull(requests, "requests must not be null");
			Objects.requireNonNull(completedShards, "completedShards must not be null");
			requests = Map.copyOf(requests);
			completedShards = Set.copyOf(completedShards);
		}

	}

	/** Progress of a request. */
	enum Progress {

		/** Not applied yet, possibly because the shard has no owner. */
		PENDING,
		/** Applied and committed: the shard is consumed from the new position. */
		APPLIED,
		/** Replaced by a later request, possibly after it was applied. */
		REPLACED,
		/** Lost by the store, which may lose its last writes: request it again. */
		LOST

	}

}
