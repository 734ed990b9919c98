package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.ShardId;

/**
 * The dead letters that {@linkplain CheckpointStore#commit commits} have stored. No
 * method needs a token. A store of its own, so that reading many dead letters never
 * delays commits.
 * <p>
 * Every method blocks until the reply and may throw {@link StoreUnavailableException};
 * each may be repeated with the same arguments. Thread-safe.
 */
public interface DeadLetterStore extends AutoCloseable {

	/** The result of {@link #sendBack} for a completed shard. */
	int SHARD_COMPLETED = -1;

	/**
	 * Reads dead letters of a shard, oldest first.
	 * @param after the id after which to continue, {@code null} to begin
	 * @param limit maximum number of dead letters
	 * @return the dead letters; fewer than the limit at the end or if they are large,
	 * none only at the end
	 */
	List<StoredDeadLetter> list(ShardId shard, @Nullable String after, int limit);

	/** Returns a dead letter, {@code null} if there is none. */
	@Nullable StoredDeadLetter find(ShardId shard, String id);

	/** Returns the number of dead letters of each of the shards, in the same order. */
	Map<ShardId, Long> countDeadLetters(Collection<ShardId> shards);

	/** Returns the size of the shards' retry queues, due or not, in the same order. */
	Map<ShardId, Long> countRetries(Collection<ShardId> shards);

	/**
	 * Moves dead letters into the shard's retry queue, due now, without attempts. Each is
	 * moved in one atomic step; after a failure some may have been moved. The caller has
	 * to notify the shard's owner.
	 * @return the number of moved dead letters, or {@link #SHARD_COMPLETED}
	 */
	int sendBack(ShardId shard, List<StoredDeadLetter> letters);

	/** Removes dead letters, and returns their number. */
	int drop(ShardId shard, List<StoredDeadLetter> letters);

	/**
	 * Removes the oldest dead letters of a shard that are too old or too many, a limited
	 * number per call. Repeat it until it removes none.
	 * @return the number of removed dead letters
	 */
	int expire(ShardId shard, Retention retention);

	@Override
	void close();

	/**
	 * Dead letters to keep. Immutable.
	 *
	 * @param maxAge the maximum time since a letter was stored, by the clock of the
	 * store; {@code null} for no limit
	 * @param maxCount the maximum number of letters of a shard; {@code null} for no limit
	 */
	record Retention(@Nullable Duration maxAge, @Nullable Long maxCount) {

		/** Returns whether letters may have to be removed. */
		public boolean hasLimit() {
			return this.maxAge != null || this.maxCount != null;
		}

	}

	/**
	 * A dead letter.
	 *
	 * @param id its id, two whole numbers with a dash between them; later dead letters of
	 * a shard have higher ones
	 */
	record StoredDeadLetter(String id, FailedRecord record) {

	}

}
