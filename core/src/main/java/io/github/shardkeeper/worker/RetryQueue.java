package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore.DueRecords;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The worker's view of its shard's retry queue: asks the store for due records, and only
 * when there may be some. Confined to the worker.
 */
final class RetryQueue {

	/** Maximum number of records that are fetched and not finished. */
	private static final int MOST_OPEN = 100;

	/** Limit because one script keeps the store busy; a single record may be larger. */
	private static final int BYTES_PER_LOOK = 1_000_000;

	private final ShardId shard;

	private final CheckpointStore checkpoints;

	private final BufferBudget budget;

	private final Deque<FailedRecord> due = new ArrayDeque<>();

	/** Records that are fetched and not committed as finished. */
	private final Set<Offset> open = new HashSet<>();

	/** Whether others have put records in, perhaps under the offsets of open ones. */
	private boolean lookAfterCommit;

	/** Time from which records may be due; {@code null} if the queue is empty. */
	private @Nullable MonotonicTime nextLook;

	/**
	 * Creates a view of which nothing is fetched.
	 * @param budget limits what is fetched at once to an even share
	 * @param nextLook when the first record is due, {@code null} if there is none
	 */
	RetryQueue(ShardId shard, CheckpointStore checkpoints, BufferBudget budget, @Nullable MonotonicTime nextLook) {
		this.shard = shard;
		this.checkpoints = checkpoints;
		this.budget = budget;
		this.nextLook = nextLook;
	}

	/** Returns whether it holds nothing, as far as this instance knows. */
	boolean isEmpty() {
		return this.nextLook == null && this.due.isEmpty() && this.open.isEmpty();
	}

	/**
	 * Returns the next record that is due, {@code null} if none is.
	 * @throws io.github.shardkeeper.StoreUnavailableException when the store must be
	 * asked, and does not answer
	 */
	@Nullable FailedRecord next(MonotonicTime now) {
		if (this.due.isEmpty() && this.nextLook != null && !now.isBefore(this.nextLook)
				&& this.open.size() < MOST_OPEN) {
			look(now);
		}
		return this.due.poll();
	}

	private void look(MonotonicTime now) {
		DueRecords found = this.checkpoints.due(this.shard, MOST_OPEN,
				Math.min(BYTES_PER_LOOK, this.budget.evenShare()), this.open);
		for (FailedRecord queued : found.records()) {
			this.open.add(queued.offset());
			this.due.add(queued);
		}
		Duration next = found.nextIn();
		this.nextLook = (next != null) ? now.plus(next) : null;
	}

	/**
	 * Returns how many fetched records are not finished, if they are so many that no more
	 * are fetched; otherwise 0.
	 */
	int stalledAt() {
		return (this.due.isEmpty() && this.open.size() >= MOST_OPEN) ? this.open.size() : 0;
	}

	/** Returns when to look again, {@code null} for never. */
	@Nullable MonotonicTime nextLook() {
		if (!this.due.isEmpty() || this.open.size() >= MOST_OPEN) {
			return null;
		}
		return this.nextLook;
	}

	/** Notes that a record may be due at a time. */
	void lookAt(MonotonicTime time) {
		if (this.nextLook == null || time.isBefore(this.nextLook)) {
			this.nextLook = time;
		}
	}

	/**
	 * Notes that others have put records in, to be handled now. A dead letter may be sent
	 * back before the answer to the commit that has stored it: until then it is taken for
	 * the record that is handled already. So the queue is asked again after that commit.
	 */
	void attend(MonotonicTime now) {
		lookAt(now);
		this.lookAfterCommit = !this.open.isEmpty();
	}

	/** Notes that the store has removed these records, or put them back. */
	void committed(Collection<Offset> changed, MonotonicTime now) {
		this.open.removeAll(changed);
		if (this.lookAfterCommit) {
			attend(now);
		}
	}

}
