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
 * Client of a shard's retry queue: asks the store for due records, and only when there
 * may be some. Confined to the shard's worker.
 */
final class RetryQueue {

	private static final int MAX_OPEN = 100;

	/** Limit, because one script blocks the store; a single record may be larger. */
	private static final int MAX_BYTES_PER_LOOK = 1_000_000;

	private final ShardId shard;

	private final CheckpointStore checkpoints;

	private final BufferBudget budget;

	private final Deque<FailedRecord> due = new ArrayDeque<>();

	private final Set<Offset> open = new HashSet<>();

	/** Whether others have added records, perhaps with the offsets of open ones. */
	private boolean lookAfterCommit;

	/** Time from which records may be due; {@code null} if the queue is empty. */
	private @Nullable MonotonicTime nextLook;

	RetryQueue(ShardId shard, CheckpointStore checkpoints, BufferBudget budget, @Nullable MonotonicTime nextLook) {
		this.shard = shard;
		this.checkpoints = checkpoints;
		this.budget = budget;
		this.nextLook = nextLook;
	}

	boolean isEmpty() {
		return this.nextLook == null && this.due.isEmpty() && this.open.isEmpty();
	}

	/**
	 * Returns the next due record, {@code null} if there is none.
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * answer
	 */
	@Nullable FailedRecord next(MonotonicTime now) {
		if (this.due.isEmpty() && this.nextLook != null && !now.isBefore(this.nextLook)
				&& this.open.size() < MAX_OPEN) {
			look(now);
		}
		return this.due.poll();
	}

	private void look(MonotonicTime now) {
		DueRecords found = this.checkpoints.due(this.shard, MAX_OPEN,
				Math.min(MAX_BYTES_PER_LOOK, this.budget.evenShare()), this.open);
		for (FailedRecord queued : found.records()) {
			this.open.add(queued.offset());
			this.due.add(queued);
		}
		Duration next = found.nextIn();
		this.nextLook = (next != null) ? now.plus(next) : null;
	}

	/**
	 * Returns the number of unfinished records if it is so large that no more are
	 * fetched, otherwise 0.
	 */
	int stalledAt() {
		return (this.due.isEmpty() && this.open.size() >= MAX_OPEN) ? this.open.size() : 0;
	}

	@Nullable MonotonicTime nextLook() {
		if (!this.due.isEmpty() || this.open.size() >= MAX_OPEN) {
			return null;
		}
		return this.nextLook;
	}

	void lookAt(MonotonicTime time) {
		if (this.nextLook == null || time.isBefore(this.nextLook)) {
			this.nextLook = time;
		}
	}

	/**
	 * Asks the store now, because others have added records, and again after the next
	 * commit: until its answer, a record that was sent back may count as open.
	 */
	void attend(MonotonicTime now) {
		lookAt(now);
		this.lookAfterCommit = !this.open.isEmpty();
	}

	/** Closes records that a commit has removed or put into the queue again. */
	void committed(Collection<Offset> changed, MonotonicTime now) {
		this.open.removeAll(changed);
		if (this.lookAfterCommit) {
			attend(now);
		}
	}

}
