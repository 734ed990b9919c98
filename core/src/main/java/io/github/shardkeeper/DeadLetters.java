package io.github.shardkeeper;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * The records that this group's handlers have given up: to look at, to have them handled
 * after all, or to forget. Any instance may ask, also one that consumes nothing.
 * Thread-safe.
 * <p>
 * A letter that is sent back moves into its shard's retry queue and is handled there as a
 * record that fell due, by the shard's owner, with as many attempts as a new one. <b>Its
 * place in the order of the shard is lost</b>: it comes after whatever was handled
 * meanwhile, also of its own key. While nobody owns the shard it waits in the retry
 * queue. When it fails again as often, it becomes a dead letter again, under a new id.
 * <p>
 * Methods throw {@link StoreUnavailableException} when the store does not answer; each
 * may be repeated as it is, and goes on where it was.
 * {@link io.github.shardkeeper.shard.ShardkeeperConfigurationException} says that a topic
 * is not configured, {@link IllegalArgumentException} that a shard or an id cannot be;
 * then a retry does not help.
 */
public interface DeadLetters {

	/**
	 * Counts the dead letters of a topic; one command per shard, all under way together.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @return their number for each shard, 0 where there are none
	 */
	Map<ShardId, Long> count(String topic);

	/**
	 * Counts the records that wait in the retry queues of a topic, due or not.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @return their number for each shard, 0 where there are none
	 */
	Map<ShardId, Long> waiting(String topic);

	/**
	 * Lists dead letters by shard, within a shard oldest first.
	 * @param filter which ones
	 * @param after the {@link Page#next()} of the page before, {@code null} for the first
	 * page
	 * @param limit the most letters on the page, 1 to 1,000; it has fewer when their
	 * payloads come to 8 MB
	 * @return the letters, and where to go on. With conditions, all letters of the topic
	 * or shard are read until enough meet them
	 */
	Page list(DeadLetterFilter filter, @Nullable String after, int limit);

	/**
	 * Looks at one letter.
	 * @param id its id
	 * @return the letter; empty when it was sent back or dropped
	 */
	Optional<DeadLetter> find(String id);

	/**
	 * Has one letter handled again.
	 * @param id its id
	 * @return whether it was sent back; nothing was if it is not there any more
	 */
	SentBack sendBack(String id);

	/**
	 * Has letters handled again: those that were there when this began, the oldest of a
	 * shard first. They are moved bit by bit; after a failure some are back and the
	 * others are not.
	 * @param filter which ones
	 * @return how many were sent back
	 */
	SentBack sendBack(DeadLetterFilter filter);

	/**
	 * Forgets one letter for good.
	 * @param id its id
	 * @return whether it was there
	 */
	boolean drop(String id);

	/**
	 * Forgets letters for good: those that were there when this began.
	 * @param filter which ones
	 * @return how many there were
	 */
	long drop(DeadLetterFilter filter);

	/**
	 * Some dead letters.
	 *
	 * @param letters the letters
	 * @param next where the next page begins, which may turn out to be empty;
	 * {@code null} when this is the last one
	 */
	record Page(List<DeadLetter> letters, @Nullable String next) {

		public Page {
			Objects.requireNonNull(letters, "letters must not be null");
			letters = List.copyOf(letters);
		}

	}

	/**
	 * What came of sending back.
	 *
	 * @param letters how many letters are in the retry queue now
	 * @param completedShards shards that have come to their end, so that nobody will ever
	 * consume them: their letters stay where they are. Send the payload anew, to another
	 * shard, or drop them
	 */
	record SentBack(long letters, Set<ShardId> completedShards) {

		public SentBack {
			Objects.requireNonNull(completedShards, "completedShards must not be null");
			completedShards = Set.copyOf(completedShards);
		}

	}

}
