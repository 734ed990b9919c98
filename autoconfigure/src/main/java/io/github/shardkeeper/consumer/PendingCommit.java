package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.Commit;
import io.github.shardkeeper.coordination.CommitNumber;
import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.shard.Offset;

/**
 * What comes together until the next commit, beside state and offset: records that were
 * put aside, records of the retry queue that are settled, and a seek. Confined to the
 * shard's worker.
 */
final class PendingCommit {

	private final List<Commit.Retry> retries = new ArrayList<>();

	private final List<FailedRecord> deadLetters = new ArrayList<>();

	private final Set<Offset> taken = new LinkedHashSet<>();

	/** Those of the queue that wait in it once more. */
	private final Set<Offset> again = new LinkedHashSet<>();

	/** What the records that were put aside take. */
	private long bytes;

	/** The number of the last seek that is carried out with it, 0 for none. */
	private long seek;

	/** Carries out a seek, and all before it. */
	void seek(long number) {
		this.seek = number;
	}

	/**
	 * A record is to be tried again.
	 * @param ofQueue whether it came from the retry queue
	 */
	void park(FailedRecord record, Duration delay, boolean ofQueue) {
		this.retries.add(new Commit.Retry(record, delay));
		this.bytes += record.size();
		if (ofQueue) {
			this.again.add(record.offset());
		}
	}

	void bury(FailedRecord record) {
		this.deadLetters.add(record);
		this.bytes += record.size();
	}

	void take(Offset ofQueue) {
		this.taken.add(ofQueue);
	}

	boolean isEmpty() {
		return this.retries.isEmpty() && this.deadLetters.isEmpty() && this.taken.isEmpty();
	}

	List<Commit.Retry> retries() {
		return this.retries;
	}

	/** How many records were put aside. */
	int putAside() {
		return this.retries.size() + this.deadLetters.size();
	}

	/** How much these records take, in bytes, about. */
	long bytes() {
		return this.bytes;
	}

	/**
	 * Records of the queue about which the store hears something new. Not those that it
	 * puts there for the first time: they may have been fetched before its answer.
	 */
	Set<Offset> settled() {
		Set<Offset> settled = new LinkedHashSet<>(this.taken);
		settled.addAll(this.again);
		return settled;
	}

	/** Adds what came together before it and could not be written. */
	PendingCommit after(PendingCommit earlier) {
		PendingCommit both = new PendingCommit();
		both.retries.addAll(earlier.retries);
		both.retries.addAll(this.retries);
		both.deadLetters.addAll(earlier.deadLetters);
		both.deadLetters.addAll(this.deadLetters);
		both.again.addAll(earlier.again);
		both.again.addAll(this.again);
		both.taken.addAll(earlier.taken);
		both.taken.addAll(this.taken);
		both.bytes = earlier.bytes + this.bytes;
		both.seek = Math.max(earlier.seek, this.seek);
		return both;
	}

	/** Makes the commit. */
	Commit commit(CommitNumber number, @Nullable Offset offset, Set<Offset> ahead,
			Map<String, @Nullable String> changes) {
		return new Commit(number, offset, ahead, changes, List.copyOf(this.retries), Set.copyOf(this.taken),
				List.copyOf(this.deadLetters), this.seek);
	}

}
