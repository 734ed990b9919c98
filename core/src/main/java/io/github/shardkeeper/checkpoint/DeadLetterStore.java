package io.github.shardkeeper.checkpoint;

import java.util.Collection;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.ShardId;

/**
 * The dead letters that commits have left, for whoever looks after them: no right to
 * write a shard is needed. Apart from {@link CheckpointStore}, so that reading many
 * letters never holds up commits.
 * <p>
 * Every method may throw {@link StoreUnavailableException}; each may be repeated as it
 * is. Thread-safe.
 */
public interface DeadLetterStore extends AutoCloseable {

	/** What {@link #sendBack} answers for a shard that nobody consumes any more. */
	int SHARD_COMPLETED = -1;

	/**
	 * Reads dead letters of a shard, oldest first.
	 * @param shard the shard
	 * @param after the id of a letter to go on after, {@code null} to begin
	 * @param limit the most letters to read
	 * @return the letters; fewer than the limit at the end, or when they are large, and
	 * none only at the end
	 */
	List<StoredDeadLetter> list(ShardId shard, @Nullable String after, int limit);

	/**
	 * Reads one dead letter.
	 * @param shard the shard
	 * @param id the letter's id in the shard
	 * @return the letter, {@code null} when there is none
	 */
	@Nullable StoredDeadLetter find(ShardId shard, String id);

	/**
	 * Counts the dead letters of many shards.
	 * @param shards the shards
	 * @return their number for each of the shards, in the same order
	 */
	Map<ShardId, Long> countDeadLetters(Collection<ShardId> shards);

	/**
	 * Counts the records in the retry queues of many shards, due or not.
	 * @param shards the shards
	 * @return their number for each of the shards, in the same order
	 */
	Map<ShardId, Long> countRetries(Collection<ShardId> shards);

	/**
	 * Moves dead letters into the shard's retry queue, due now, without attempts. Each is
	 * moved in one atomic step; after a failure some may have been. The shard's owner has
	 * to be told.
	 * @param shard the shard
	 * @param letters the letters
	 * @return how many were moved, of those that were still there, or
	 * {@link #SHARD_COMPLETED}
	 */
	int sendBack(ShardId shard, List<StoredDeadLetter> letters);

	/**
	 * Removes dead letters.
	 * @param shard the shard
	 * @param letters the letters
	 * @return how many were removed, of those that were still there
	 */
	int drop(ShardId shard, List<StoredDeadLetter> letters);

	@Override
	void close();

	/**
	 * A dead letter.
	 *
	 * @param id its id, two whole numbers with a dash between them; rises within the
	 * shard in the order in which letters were stored
	 * @param record the record and its failure
	 */
	record StoredDeadLetter(String id, FailedRecord record) {

	}

}
