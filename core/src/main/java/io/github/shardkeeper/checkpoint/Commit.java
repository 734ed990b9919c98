package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
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
 * @param timers when timers are due, in milliseconds (fractions are dropped), with
 * {@code null} for those to remove
 * @param clearsState whether all entries of the state and all timers are removed before
 * the others change: the owner has carried out a seek that removes them
 */
public record Commit(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead,
		Map<String, @Nullable String> changes, List<Retry> retries, Set<Offset> taken, List<FailedRecord> deadLetters,
		long seek, Outbox.Changes outbox, Map<TimerId, @Nullable Instant> timers, boolean clearsState) {

	public Commit {
		ahead = copy(ahead);
		changes = copy(changes);
		retries = List.copyOf(retries);
		taken = copy(taken);
		deadLetters = List.copyOf(deadLetters);
		timers = copy(timers);
	}

	/** Creates a commit that keeps state and timers, except for what it changes. */
	public Commit(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead,
			Map<String, @Nullable String> changes, List<Retry> retries, Set<Offset> taken,
			List<FailedRecord> deadLetters, long seek, Outbox.Changes outbox, Map<TimerId, @Nullable Instant> timers) {
		this(number, offset, ahead, changes, retries, taken, deadLetters, seek, outbox, timers, false);
	}

	/** Creates a commit that leaves the timers as they are. */
	public Commit(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead,
			Map<String, @Nullable String> changes, List<Retry> retries, Set<Offset> taken,
			List<FailedRecord> deadLetters, long seek, Outbox.Changes outbox) {
		this(number, offset, ahead, changes, retries, taken, deadLetters, seek, outbox, Map.of());
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

	private static <K, V> Map<K, @Nullable V> copy(Map<K, @Nullable V> changes) {
		return changes.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(changes));
	}

	/** Returns a commit of offset and state only. */
	public static Commit of(CommitNumber number, @Nullable Offset offset, Map<String, @Nullable String> changes) {
		return new Commit(number, offset, Set.of(), changes, List.of(), Set.of(), List.of());
	}

	/** Returns a copy under another number. */
	public Commit withNumber(CommitNumber other) {
		return new Commit(other, this.offset, this.ahead, this.changes, this.retries, this.taken, this.deadLetters,
				this.seek, this.outbox, this.timers, this.clearsState);
	}

	/** Returns a copy with changes of the outbox. */
	public Commit withOutbox(Outbox.Changes changed) {
		return new Commit(this.number, this.offset, this.ahead, this.changes, this.retries, this.taken,
				this.deadLetters, this.seek, changed, this.timers, this.clearsState);
	}

	/** Returns a copy with changes of the timers. */
	public Commit withTimers(Map<TimerId, @Nullable Instant> changed) {
		return new Commit(this.number, this.offset, this.ahead, this.changes, this.retries, this.taken,
				this.deadLetters, this.seek, this.outbox, changed, this.clearsState);
	}

	/**
	 * Builder of a commit, to which each {@link CommitPart} of a shard adds what is its.
	 * Confined to one thread.
	 */
	@Internal
	public static final class Builder {

		private final CommitNumber number;

		private final @Nullable Offset offset;

		private final Set<Offset> ahead;

		private Map<String, @Nullable String> changes = Map.of();

		private List<Retry> retries = List.of();

		private Set<Offset> taken = Set.of();

		private List<FailedRecord> deadLetters = List.of();

		private long seek;

		private Outbox.Changes outbox = Outbox.Changes.NONE;

		private Map<TimerId, @Nullable Instant> timers = Map.of();

		private boolean clearsState;

		/** Creates a builder of a commit that changes the position only. */
		public Builder(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead) {
			this.number = number;
			this.offset = offset;
			this.ahead = ahead;
		}

		/** Sets the changes of the state. */
		public Builder changes(Map<String, @Nullable String> entries) {
			this.changes = entries;
			return this;
		}

		/** Sets the records to put into the retry queue. */
		public Builder retries(List<Retry> records) {
			this.retries = records;
			return this;
		}

		/** Sets the offsets of the records to remove from the retry queue. */
		public Builder taken(Set<Offset> offsets) {
			this.taken = offsets;
			return this;
		}

		/** Sets the records to append to the dead letters. */
		public Builder deadLetters(List<FailedRecord> records) {
			this.deadLetters = records;
			return this;
		}

		/** Sets the number of the seek that it carries out. */
		public Builder seek(long carriedOut) {
			this.seek = carriedOut;
			return this;
		}

		/** Sets the changes of the outbox. */
		public Builder outbox(Outbox.Changes changed) {
			this.outbox = changed;
			return this;
		}

		/** Sets the changes of the timers. */
		public Builder timers(Map<TimerId, @Nullable Instant> changed) {
			this.timers = changed;
			return this;
		}

		/**
		 * Has all entries of the state and all timers removed before the others change.
		 */
		public Builder clearState() {
			this.clearsState = true;
			return this;
		}

		/** Returns the commit. */
		public Commit build() {
			return new Commit(this.number, this.offset, this.ahead, this.changes, this.retries, this.taken,
					this.deadLetters, this.seek, this.outbox, this.timers, this.clearsState);
		}

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
