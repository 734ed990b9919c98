package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.DueRecords;
import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * The retry queue of an owned shard, as its worker sees it: knows when to look for
 * records that are due, and looks only then. Confined to the worker.
 */
final class RetryQueue {

	/** So many may be fetched and not settled, and be asked for at once. */
	private static final int MOST_OPEN = 100;

	/** What one script copies keeps the store busy; a single record may be larger. */
	private static final int BYTES_PER_LOOK = 1_000_000;

	private final ShardId shard;

	private final CheckpointStore checkpoints;

	private final BufferBudget budget;

	private final Deque<FailedRecord> due = new ArrayDeque<>();

	/** Fetched, and as far as the store knows still in the queue. */
	private final Set<Offset> open = new HashSet<>();

	/** Somebody has put records in; perhaps some under the offsets of open ones. */
	private boolean lookAfterCommit;

	/** When there may be something due; {@code null} if the queue is empty. */
	private @Nullable MonotonicTime nextLook;

	/**
	 * Creates it.
	 * @param budget what is fetched at once comes to no more than an even share of it
	 * @param nextLook when the first record is due, {@code null} if there is none
	 */
	RetryQueue(ShardId shard, CheckpointStore checkpoints, BufferBudget budget, @Nullable MonotonicTime nextLook) {
		this.shard = shard;
		this.checkpoints = checkpoints;
		this.budget = budget;
		this.nextLook = nextLook;
	}

	/** Whether it holds nothing, as far as this instance knows. */
	boolean isEmpty() {
		return this.nextLook == null && this.due.isEmpty() && this.open.isEmpty();
	}

	/**
	 * The next record that is due, {@code null} if none is.
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
	 * How many are fetched and not settled, all of them taken up, if so many that it is
	 * not looked for more; otherwise 0.
	 */
	int stalledAt() {
		return (this.due.isEmpty() && this.open.size() >= MOST_OPEN) ? this.open.size() : 0;
	}

	/** When to look again, {@code null} for never. */
	@Nullable MonotonicTime nextLook() {
		if (!this.due.isEmpty() || this.open.size() >= MOST_OPEN) {
			return null;
		}
		return this.nextLook;
	}

	/** There is, or may be, a record that is due at a time. */
	void lookAt(MonotonicTime time) {
		if (this.nextLook == null || time.isBefore(this.nextLook)) {
			this.nextLook = time;
		}
	}

	/**
	 * Somebody else has put records in, to be handled now. One that died a moment ago may
	 * be back before the answer to the commit that has buried it: until then it is taken
	 * for the one that is handled already.
	 */
	void attend(MonotonicTime now) {
		lookAt(now);
		this.lookAfterCommit = !this.open.isEmpty();
	}

	/** The store knows that these are settled, or wait once more. */
	void committed(Collection<Offset> settled, MonotonicTime now) {
		this.open.removeAll(settled);
		if (this.lookAfterCommit) {
			attend(now);
		}
	}

}
