package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitNumber;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.shard.Offset;

/**
 * Contents of the next commit beside state and offset: failed records, records that leave
 * the retry queue, and a seek. Confined to the shard's worker.
 */
final class PendingCommit {

	private final List<Commit.Retry> retries = new ArrayList<>();

	private final List<FailedRecord> deadLetters = new ArrayList<>();

	/** Records that leave the retry queue. */
	private final Set<Offset> removed = new LinkedHashSet<>();

	/** Records of the retry queue that wait in it once more. */
	private final Set<Offset> requeued = new LinkedHashSet<>();

	/** Approximate size of the failed records. */
	private long bytes;

	/** Number of the last seek that is carried out, 0 for none. */
	private long seek;

	/** Carries out a seek, and all before it. */
	void seek(long number) {
		this.seek = number;
	}

	/**
	 * Puts a record into the retry queue.
	 * @param ofQueue whether it came from there
	 */
	void addRetry(FailedRecord record, Duration delay, boolean ofQueue) {
		this.retries.add(new Commit.Retry(record, delay));
		this.bytes += record.size();
		if (ofQueue) {
			this.requeued.add(record.offset());
		}
	}

	void addDeadLetter(FailedRecord record) {
		this.deadLetters.add(record);
		this.bytes += record.size();
	}

	void removeFromQueue(Offset offset) {
		this.removed.add(offset);
	}

	List<Commit.Retry> retries() {
		return this.retries;
	}

	int failedRecords() {
		return this.retries.size() + this.deadLetters.size();
	}

	/** Returns the approximate size of the failed records. */
	long bytes() {
		return this.bytes;
	}

	/**
	 * Returns the records of the retry queue that this commit removes or puts back. Not
	 * those that it puts there for the first time: they may have been fetched before its
	 * answer.
	 */
	Set<Offset> changedInQueue() {
		Set<Offset> changed = new LinkedHashSet<>(this.removed);
		changed.addAll(this.requeued);
		return changed;
	}

	/** Returns this with the contents of an earlier one that could not be written. */
	PendingCommit after(PendingCommit earlier) {
		PendingCommit both = new PendingCommit();
		both.retries.addAll(earlier.retries);
		both.retries.addAll(this.retries);
		both.deadLetters.addAll(earlier.deadLetters);
		both.deadLetters.addAll(this.deadLetters);
		both.requeued.addAll(earlier.requeued);
		both.requeued.addAll(this.requeued);
		both.removed.addAll(earlier.removed);
		both.removed.addAll(this.removed);
		both.bytes = earlier.bytes + this.bytes;
		both.seek = Math.max(earlier.seek, this.seek);
		return both;
	}

	Commit commit(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead,
			Map<String, @Nullable String> changes) {
		return new Commit(number, offset, ahead, changes, List.copyOf(this.retries), Set.copyOf(this.removed),
				List.copyOf(this.deadLetters), this.seek);
	}

}
