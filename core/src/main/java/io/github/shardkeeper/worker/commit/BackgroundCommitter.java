package io.github.shardkeeper.worker.commit;

import java.util.List;

import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Commits in the background: records that are handled meanwhile go into the next commit.
 */
abstract sealed class BackgroundCommitter extends Committer permits WriteBackCommitter, ResumingCommitter {

	private final boolean commitsEachBatch;

	BackgroundCommitter(CommitNumbers numbers, ShardProgress progress, OwnedShard owned, HandlerShape shape) {
		super(numbers, progress, owned);
		this.commitsEachBatch = shape == HandlerShape.BATCH && owned.settings().commits().mode() == CommitMode.BATCH;
	}

	@Override
	public final CallCommit begin(List<TrackedRecord> records, CallWrites writes) {
		return CallCommit.LATER;
	}

	@Override
	public final boolean commitsCalls() {
		return false;
	}

	@Override
	public final void callProcessed() {
		if (this.commitsEachBatch) {
			progress().commitSoon();
		}
	}

}
