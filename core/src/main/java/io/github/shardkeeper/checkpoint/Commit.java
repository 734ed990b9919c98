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
 * Changes that an owner writes to its shard in one atomic step. Immutable.
 *
 * @param number the position among the commits under the token
 * @param offset the new offset, {@code null} to leave it as it is
 * @param ahead the identities of the records above the offset that are done already;
 * replaces the committed set, also if it is empty
 * @param changes state entries by key, with {@code null} for removed ones
 * @param retries records to put into the retry queue; replace those with the same offset
 * @param taken offsets of the records to remove from the retry queue; unknown ones are
 * ignored
 * @param deadLetters records to append to the dead letters
 * @param seek the number of the seek that this commit carries out, and all before it; 0
 * for none
 * @param outbox the changes of the outbox
 */
public record Commit(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead,
		Map<String, @Nullable String> changes, List<Retry> retries, Set<Offset> taken, List<FailedRecord> deadLetters,
		long seek, Outbox.Changes outbox) {

	public Commit {
		ahead = copy(ahead);
		changes = changes.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(changes));
		retries = List.copyOf(retries);
		taken = copy(taken);
		deadLetters = List.copyOf(deadLetters);
	}

	/** Creates a commit that leaves the outbox as it is. */
	public Commit(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead,
			Map<String, @Nullable String> changes, List<Retry> retries, Set<Offset> taken,
			List<FailedRecord> deadLetters, long seek) {
		this(number, offset, ahead, changes, retries, taken, deadLetters, seek, Outbox.Changes.NONE);
	}

	/** Creates a commit that carries out no seek. */
	public Commit(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead,
			Map<String, @Nullable String> changes, List<Retry> retries, Set<Offset> taken,
			List<FailedRecord> deadLetters) {
		this(number, offset, ahead, changes, retries, taken, deadLetters, 0);
	}

	/** Keeps the order, which must be the same in every run of a simulation. */
	private static Set<Offset> copy(Set<Offset> offsets) {
		return offsets.isEmpty() ? Set.of() : Collections.unmodifiableSet(new LinkedHashSet<>(offsets));
	}

	/** Returns a commit of offset and state only. */
	public static Commit of(CommitNumber number, @Nullable Offset offset, Map<String, @Nullable String> changes) {
		return new Commit(number, offset, Set.of(), changes, List.of(), Set.of(), List.of());
	}

	/** Returns a copy under another number. */
	public Commit withNumber(CommitNumber other) {
		return new Commit(other, this.offset, this.ahead, this.changes, this.retries, this.taken, this.deadLetters,
				this.seek, this.outbox);
	}

	/** Returns a copy with changes of the outbox. */
	public Commit withOutbox(Outbox.Changes changed) {
		return new Commit(this.number, this.offset, this.ahead, this.changes, this.retries, this.taken,
				this.deadLetters, this.seek, changed);
	}

	/**
	 * A record for the retry queue.
	 *
	 * @param delay time until it is due, from when the commit is written, in milliseconds
	 */
	public record Retry(FailedRecord record, Duration delay) {

		public Retry {
			if (delay.isNegative()) {
				throw new IllegalArgumentException("A record cannot be retried " + delay + " from now");
			}
		}

	}

	/**
	 * The position of a commit among those under one token, and what the commit rests on.
	 * The store uses it to refuse a commit that arrives after its successor, and to
	 * notice that it has lost a commit that it answered: later changes must not be
	 * written without it. Immutable.
	 *
	 * @param attempt the number of the attempt under the token, from 1; every attempt has
	 * a number of its own
	 * @param acknowledged the last attempt that was answered with
	 * {@link CheckpointStore.CommitReply#COMMITTED}; 0 for none, or for a commit that
	 * writes the whole state and rests on no other
	 * @param acquisition the {@link CheckpointStore.Acquisition.Acquired#acquisition()}
	 * that the commit rests on, 0 for none
	 */
	public record CommitNumber(long attempt, long acknowledged, long acquisition) {

		public CommitNumber {
			if (attempt <= acknowledged || acknowledged < 0) {
				throw new IllegalArgumentException(
						"Attempt %d after %d was acknowledged".formatted(attempt, acknowledged));
			}
		}

		/** Returns the number of a commit that does not rest on an earlier one. */
		public static CommitNumber ofWhole(long attempt) {
			return new CommitNumber(attempt, 0, 0);
		}

	}

}
