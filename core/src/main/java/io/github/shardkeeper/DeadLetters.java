package io.github.shardkeeper;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * Lists, sends back and drops the dead letters of this group. Works on every instance,
 * also on one that consumes nothing. Thread-safe. Methods block until the store replies.
 * <p>
 * A dead letter that is sent back moves to the retry queue of its shard, where it waits
 * for the owner of the shard. It is handled like a retry that is due, with all attempts
 * of a new record. <b>It loses its place in the order of the shard</b>: later records,
 * also of its own key, may have been handled before it. If all attempts fail again, it
 * becomes a dead letter again, under a new id.
 * <p>
 * Methods throw {@link StoreUnavailableException} if the store does not reply: repeat the
 * call, which then continues. They throw
 * {@link io.github.shardkeeper.shard.ShardkeeperConfigurationException} if a topic is not
 * configured and {@link IllegalArgumentException} if a shard does not exist or an id is
 * not valid; then a retry does not help.
 */
public interface DeadLetters {

	/**
	 * Counts the dead letters of a topic. Sends one command per shard, pipelined.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @return the number by shard, including shards with 0
	 */
	Map<ShardId, Long> count(String topic);

	/**
	 * Counts the records in the retry queues of a topic, due or not.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @return the number by shard, including shards with 0
	 */
	Map<ShardId, Long> waiting(String topic);

	/**
	 * Returns a page of dead letters, ordered by shard and within a shard oldest first.
	 * Reads on until the page is full of dead letters that meet the conditions.
	 * @param filter the dead letters to list
	 * @param after {@link Page#next()} of the previous page, {@code null} at first
	 * @param limit the maximum number of dead letters, 1 to 1,000; a page ends earlier
	 * when its payloads reach 8 MB
	 * @return the page
	 */
	Page list(DeadLetterFilter filter, @Nullable String after, int limit);

	/**
	 * Returns one dead letter.
	 * @param id the id of the dead letter
	 * @return the dead letter; empty if it was sent back or dropped
	 */
	Optional<DeadLetter> find(String id);

	/**
	 * Sends one dead letter back to be handled again.
	 * @param id the id of the dead letter
	 * @return the result, with 0 letters if it no longer exists
	 */
	SentBack sendBack(String id);

	/**
	 * Sends dead letters back to be handled again: those that existed when the call
	 * began, oldest first within a shard. Not atomic.
	 * @param filter the dead letters to send back
	 * @return the result
	 */
	SentBack sendBack(DeadLetterFilter filter);

	/**
	 * Deletes one dead letter permanently.
	 * @param id the id of the dead letter
	 * @return whether it existed
	 */
	boolean drop(String id);

	/**
	 * Deletes the dead letters that exist when the call begins, permanently. Not atomic.
	 * @param filter the dead letters to delete
	 * @return the number of dead letters deleted
	 */
	long drop(DeadLetterFilter filter);

	/**
	 * Page of dead letters. Immutable.
	 *
	 * @param letters the dead letters
	 * @param next {@code after} for the next page (may be empty); {@code null} if last
	 */
	record Page(List<DeadLetter> letters, @Nullable String next) {

		public Page {
			Objects.requireNonNull(letters, "letters must not be null");
			letters = List.copyOf(letters);
		}

	}

	/**
	 * Result of sending back. Immutable.
	 *
	 * @param letters the number of dead letters that moved to retry queues
	 * @param completedShards the completed shards, which are never consumed again: their
	 * dead letters stay. Send the payloads to another shard, or drop them
	 */
	record SentBack(long letters, Set<ShardId> completedShards) {

		public SentBack {
			Objects.requireNonNull(completedShards, "completedShards must not be null");
			completedShards = Set.copyOf(completedShards);
		}

	}

}
