package io.github.shardkeeper.worker.commit;

import java.util.Set;

import io.github.shardkeeper.checkpoint.CheckpointStore.CommitBasis;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Commits in the background the progress of a shard whose state is read when it is used.
 */
public final class StateOnUseCommitter extends ResumingCommitter {

	/** Whether the store may have lost commits, so that it has to be asked. */
	private boolean comparisonRequired;

	public StateOnUseCommitter(CommitNumbers numbers, ShardProgress progress, OwnedShard owned) {
		super(numbers, progress, owned);
	}

	@Override
	public void requireWriteBack() {
		this.comparisonRequired = true;
	}

	@Override
	Outcome checkBefore() {
		if (this.comparisonRequired) {
			CommitBasis basis = new CommitBasis(owned().token(), numbers().acknowledged(), numbers().acquisition());
			if (owned().context().checkpoints().ownedEntries(owned().shard(), basis, Set.of()) == null) {
				checkpointGone();
			}
			this.comparisonRequired = false;
		}
		return super.checkBefore();
	}

	@Override
	public boolean reportLostCommits() {
		return lost().reportByStoreOfState();
	}

}
