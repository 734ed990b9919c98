package io.github.shardkeeper.worker.retry;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.DueRecords;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.BufferBudget;

/**
 * Retry queue that hands out every due record. Asks the store only when there may be
 * some. Confined to the shard's worker.
 */
final class DueQueue implements RetryQueue {

	private static final int MAX_OPEN = 100;

	private final ShardId shard;

	private final CheckpointStore checkpoints;

	private final BufferBudget budget;

	private final Deque<FailedRecord> due = new ArrayDeque<>(1);

	private final Set<Offset> open = new HashSet<>();

	/** Whether others have added records, perhaps with the offsets of open ones. */
	private boolean lookAfterCommit;

	/** Time from which records may be due; {@code null} if the queue is empty. */
	private @Nullable MonotonicTime nextLook;

	DueQueue(ShardId shard, CheckpointStore checkpoints, BufferBudget budget, @Nullable MonotonicTime nextLook) {
		this.shard = shard;
		this.checkpoints = checkpoints;
		this.budget = budget;
		this.nextLook = nextLook;
	}

	@Override
	public boolean isEmpty() {
		return this.nextLook == null && this.due.isEmpty() && this.open.isEmpty();
	}

	@Override
	public @Nullable FailedRecord next(MonotonicTime now) {
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

	@Override
	public int stalledAt() {
		return (this.due.isEmpty() && this.open.size() >= MAX_OPEN) ? this.open.size() : 0;
	}

	@Override
	public @Nullable MonotonicTime nextLook() {
		if (!this.due.isEmpty() || this.open.size() >= MAX_OPEN) {
			return null;
		}
		return this.nextLook;
	}

	private void lookAt(MonotonicTime time) {
		if (this.nextLook == null || time.isBefore(this.nextLook)) {
			this.nextLook = time;
		}
	}

	/** Also after the next commit: a record that was sent back may count as open. */
	@Override
	public void attend(MonotonicTime now) {
		lookAt(now);
		this.lookAfterCommit = !this.open.isEmpty();
	}

	@Override
	public void committed(Collection<Offset> changed, List<Commit.Retry> added, MonotonicTime now) {
		this.open.removeAll(changed);
		added.forEach((retry) -> lookAt(now.plus(retry.delay())));
		if (this.lookAfterCommit) {
			attend(now);
		}
	}

}
