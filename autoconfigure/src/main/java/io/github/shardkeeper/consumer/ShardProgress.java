package io.github.shardkeeper.consumer;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.CheckpointStore.Checkpoint;
import io.github.shardkeeper.coordination.CheckpointStore.CommitReply;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.Offset;

/**
 * How far the handling of an acquired shard has come: its state, the offset of the last
 * record that counts as handled, and what of both is not committed yet. Confined to the
 * shard's worker.
 */
final class ShardProgress {

	private static final int RECORDS_PER_COMMIT = 500;

	private static final Duration LONGEST_UNCOMMITTED = Duration.ofSeconds(1);

	private final OwnedShard owned;

	private final WorkerContext context;

	private final @Nullable Offset begin;

	private final JournaledState state;

	private @Nullable Offset uncommittedOffset;

	private int uncommittedRecords;

	private MonotonicTime uncommittedSince;

	private long commitAttempts;

	ShardProgress(Checkpoint checkpoint, OwnedShard owned, WorkerContext context) {
		this.owned = owned;
		this.context = context;
		this.begin = checkpoint.offset();
		this.state = new JournaledState(checkpoint.state(), context.mapper());
		this.uncommittedSince = context.clock().now();
	}

	/** The offset to read on after, {@code null} for a shard that nobody has read. */
	@Nullable Offset begin() {
		return this.begin;
	}

	JournaledState state() {
		return this.state;
	}

	/** A record was handled, and what it wrote to the state was kept. */
	void handled(Offset offset, MonotonicTime begun) {
		if (this.uncommittedRecords++ == 0) {
			this.uncommittedSince = begun;
		}
		this.uncommittedOffset = offset;
	}

	/** Whether enough has come together, or waited long enough. */
	boolean isCommitDue(MonotonicTime now) {
		return this.uncommittedRecords >= RECORDS_PER_COMMIT
				|| this.uncommittedRecords > 0 && this.uncommittedSince.until(now).compareTo(LONGEST_UNCOMMITTED) > 0;
	}

	/**
	 * Commits what is not committed; tells whether the shard is still ours. When the
	 * store does not answer, the next commit takes all of it along.
	 */
	boolean commit() {
		if (this.uncommittedOffset == null && this.state.uncommitted().isEmpty()) {
			return true;
		}
		CommitReply reply = this.context.checkpoints()
			.commit(this.owned.shard(), this.owned.token(), ++this.commitAttempts, this.uncommittedOffset,
					this.state.uncommitted());
		boolean accepted = reply == CommitReply.COMMITTED;
		if (accepted) {
			this.state.committed();
			this.uncommittedOffset = null;
			this.uncommittedRecords = 0;
		}
		this.context.meters().committed(this.owned.shard().topic(), accepted);
		return accepted;
	}

}
