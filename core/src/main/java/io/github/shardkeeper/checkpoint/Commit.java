package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * What an owner writes of its shard in one atomic step. Immutable: maps and collections
 * are copied.
 *
 * @param number which of the commits under the token it is
 * @param offset the new offset, {@code null} to leave it as it is
 * @param ahead the records above the offset that are done already; replaces what was
 * committed before, also when it is empty
 * @param changes state entries by key, with {@code null} for removed ones
 * @param retries records to put into the retry queue; one that is there under the same
 * offset is replaced
 * @param taken offsets of the retry queue's records that are settled; those that are not
 * there do no harm
 * @param deadLetters records to append to the dead letters
 * @param seek the number of the request to consume from another position on that is
 * carried out with it, and all before it; 0 for none
 */
public record Commit(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead,
		Map<String, @Nullable String> changes, List<Retry> retries, Set<Offset> taken, List<FailedRecord> deadLetters,
		long seek) {

	public Commit {
		ahead = copy(ahead);
		changes = changes.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(changes));
		retries = List.copyOf(retries);
		taken = copy(taken);
		deadLetters = List.copyOf(deadLetters);
	}

	/**
	 * A commit that carries out no seek.
	 * @param number which of the commits under the token it is
	 * @param offset the new offset, {@code null} to leave it as it is
	 * @param ahead the records above the offset that are done already
	 * @param changes state entries by key, with {@code null} for removed ones
	 * @param retries records to put into the retry queue
	 * @param taken offsets of the retry queue's records that are settled
	 * @param deadLetters records to append to the dead letters
	 */
	public Commit(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead,
			Map<String, @Nullable String> changes, List<Retry> retries, Set<Offset> taken,
			List<FailedRecord> deadLetters) {
		this(number, offset, ahead, changes, retries, taken, deadLetters, 0);
	}

	/** In an order that is the same in every run. */
	private static Set<Offset> copy(Set<Offset> offsets) {
		return offsets.isEmpty() ? Set.of() : Collections.unmodifiableSet(new LinkedHashSet<>(offsets));
	}

	/**
	 * A commit of offset and state alone.
	 * @param number which of the commits under the token it is
	 * @param offset the new offset, {@code null} to leave it as it is
	 * @param changes state entries by key, with {@code null} for removed ones
	 * @return the commit
	 */
	public static Commit of(CommitNumber number, @Nullable Offset offset, Map<String, @Nullable String> changes) {
		return new Commit(number, offset, Set.of(), changes, List.of(), Set.of(), List.of());
	}

	/**
	 * The same commit under another number.
	 * @param other the number
	 * @return the commit
	 */
	public Commit withNumber(CommitNumber other) {
		return new Commit(other, this.offset, this.ahead, this.changes, this.retries, this.taken, this.deadLetters,
				this.seek);
	}

	/**
	 * A record to be handled again.
	 *
	 * @param record the record
	 * @param delay how long it rests, from when the commit is written; milliseconds count
	 */
	public record Retry(FailedRecord record, Duration delay) {

		public Retry {
			if (delay.isNegative()) {
				throw new IllegalArgumentException("A record cannot be retried " + delay + " from now");
			}
		}

	}

	/**
	 * Which of its commits under one token a writer sends, and what it knows of those
	 * before. With it the store refuses a commit that arrives after its successor, and
	 * notices that it has lost one that it had answered: what changed since that one
	 * would be written on an older base. Immutable.
	 *
	 * @param attempt counts the attempts under the token, from 1; every attempt has a
	 * number of its own
	 * @param acknowledged the last attempt that was answered with
	 * {@link CheckpointStore.CommitReply#COMMITTED}; 0 for none, or for a commit that
	 * writes everything and rests on nothing
	 * @param acquisition the acquisition that it rests on, 0 for a commit that rests on
	 * none: what an empty store has given to a late repetition of it is no base
	 */
	public record CommitNumber(long attempt, long acknowledged, long acquisition) {

		public CommitNumber {
			if (attempt <= acknowledged || acknowledged < 0) {
				throw new IllegalArgumentException(
						"Attempt %d after %d was acknowledged".formatted(attempt, acknowledged));
			}
		}

		/**
		 * A commit that does not rest on an earlier one.
		 * @param attempt its number
		 * @return the number
		 */
		public static CommitNumber ofWhole(long attempt) {
			return new CommitNumber(attempt, 0, 0);
		}

	}

}
