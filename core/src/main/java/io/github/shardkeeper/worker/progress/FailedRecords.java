package io.github.shardkeeper.worker.progress;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.retry.RetryQueue;

/**
 * Records that are set aside, as dead letters or in the retry queue, and the records of
 * the queue that are done. Confined to the shard's worker.
 */
public final class FailedRecords implements CommitPart.Sized {

	/** Maximum number that wait in memory for one commit. */
	private static final int MAX_PER_COMMIT = 100;

	private final RetryQueue queue;

	private final MonotonicClock clock;

	private final InstantSource wallClock;

	/** For the next commit. */
	private Changes changes = new Changes();

	FailedRecords(RetryQueue queue, MonotonicClock clock, InstantSource wallClock) {
		this.queue = queue;
		this.clock = clock;
		this.wallClock = wallClock;
	}

	/** Returns whether a record that is not of the queue waits for others of its key. */
	boolean mustWait(TrackedRecord record) {
		return !record.isOfQueue() && this.queue.mustWait(record.source());
	}

	/** Returns whether a record may wait in the retry queue. */
	boolean mayWait(TrackedRecord record) {
		return record.isOfQueue() || this.queue.hasRoom(record.source());
	}

	/** Puts a record behind those of its key. */
	void waitBehind(TrackedRecord record, MonotonicTime now) {
		SourceRecord source = record.source();
		Commit.Retry waiting = this.queue.putBehind(new FailedRecord(source.offset(), source.key(), source.payload(),
				source.headers(), source.timestamp(), 0, 0, "", "", this.wallClock.instant(), 0), now);
		if (waiting != null) {
			this.changes.put(waiting.record(), waiting.delay(), false);
		}
	}

	/** Puts a failed record into the retry queue. */
	void retryLater(TrackedRecord record, FailedRecord failed, Duration delay, MonotonicTime now) {
		FailedRecord placed = placed(record, failed);
		this.queue.put(placed, now.plus(delay));
		this.changes.put(placed, delay, record.isOfQueue());
	}

	/** Stores a failed record as a dead letter. */
	void deadLetter(TrackedRecord record, FailedRecord failed) {
		this.changes.addDeadLetter(placed(record, failed));
		if (record.isOfQueue()) {
			remove(record);
		}
	}

	/** Returns a failed record with its place among those of its key. */
	private FailedRecord placed(TrackedRecord record, FailedRecord failed) {
		return record.isOfQueue() ? failed.at(record.place()) : this.queue.placed(failed);
	}

	/** Removes a record of the queue, which is done. */
	void remove(TrackedRecord record) {
		this.changes.remove(record.offset());
		removed(record);
	}

	/** Processes that the transaction of a call has removed a record of the queue. */
	void removed(TrackedRecord record) {
		this.queue.removed(record.offset());
	}

	@Override
	public boolean isEmpty() {
		return this.changes.isEmpty() && this.queue.isEmpty();
	}

	@Override
	public long bytes() {
		return this.changes.bytes;
	}

	@Override
	public boolean isLarge() {
		return this.changes.records() >= MAX_PER_COMMIT;
	}

	@Override
	public Added addTo(Commit.Builder commit) {
		return addTo(commit, take());
	}

	/**
	 * Adds what was published to the commit of a call, together with the records of the
	 * queue that the call has handled. On the thread of the call.
	 */
	public Added addTo(Commit.Builder commit, PublishedProgress.Contents published, List<TrackedRecord> handled) {
		Changes own = new Changes();
		for (TrackedRecord record : handled) {
			if (record.isOfQueue()) {
				own.remove(record.offset());
			}
		}
		return addTo(commit, own.isEmpty() ? published.failed() : own.after(published.failed()));
	}

	private Added addTo(Commit.Builder commit, Changes taken) {
		commit.retries(taken.retries).taken(taken.removed).deadLetters(taken.deadLetters);
		return new Added() {

			@Override
			public void committed() {
				FailedRecords.this.queue.committed(taken.changedInQueue(), taken.retries,
						FailedRecords.this.clock.now());
			}

			@Override
			public void notCommitted() {
				giveBack(taken);
			}

		};
	}

	/** Takes the changes so far, for a commit. */
	Changes take() {
		if (this.changes.isEmpty()) {
			return Changes.NONE;
		}
		Changes taken = this.changes;
		this.changes = new Changes();
		return taken;
	}

	/** Gives back what {@link #take} has returned: it is not committed. */
	void giveBack(Changes taken) {
		this.changes = this.changes.after(taken);
	}

	/** What a commit changes in the retry queue and in the dead letters. */
	static final class Changes {

		/** Never changed. */
		static final Changes NONE = new Changes();

		private final List<Commit.Retry> retries = new ArrayList<>();

		private final List<FailedRecord> deadLetters = new ArrayList<>();

		private final Set<Offset> removed = new LinkedHashSet<>();

		/** Records of the retry queue that are put there again. */
		private final Set<Offset> requeued = new LinkedHashSet<>();

		/** Approximate size of the failed records. */
		private long bytes;

		boolean isEmpty() {
			return this.retries.isEmpty() && this.deadLetters.isEmpty() && this.removed.isEmpty()
					&& this.requeued.isEmpty();
		}

		/**
		 * Puts a record into the retry queue.
		 * @param ofQueue whether it came from there
		 */
		void put(FailedRecord record, Duration delay, boolean ofQueue) {
			this.retries.add(new Commit.Retry(record, delay));
			this.bytes += record.size();
			if (ofQueue) {
				this.requeued.add(record.offset());
			}
		}

		private void addDeadLetter(FailedRecord record) {
			this.deadLetters.add(record);
			this.bytes += record.size();
		}

		void remove(Offset offset) {
			this.removed.add(offset);
		}

		/** Returns the number of failed records. */
		int records() {
			return this.retries.size() + this.deadLetters.size();
		}

		/**
		 * Returns the records of the retry queue that this commit removes or puts there
		 * again. Not new ones: they may have been fetched before its reply.
		 */
		Set<Offset> changedInQueue() {
			if (this.removed.isEmpty() && this.requeued.isEmpty()) {
				return Set.of();
			}
			Set<Offset> changed = new LinkedHashSet<>(this.removed);
			changed.addAll(this.requeued);
			return changed;
		}

		/** Returns these changes together with those of an earlier, failed commit. */
		Changes after(Changes earlier) {
			Changes both = new Changes();
			both.retries.addAll(earlier.retries);
			both.retries.addAll(this.retries);
			both.deadLetters.addAll(earlier.deadLetters);
			both.deadLetters.addAll(this.deadLetters);
			both.requeued.addAll(earlier.requeued);
			both.requeued.addAll(this.requeued);
			both.removed.addAll(earlier.removed);
			both.removed.addAll(this.removed);
			both.bytes = earlier.bytes + this.bytes;
			return both;
		}

	}

}
