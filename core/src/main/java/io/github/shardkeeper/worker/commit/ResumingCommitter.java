package io.github.shardkeeper.worker.commit;

import java.util.Set;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitBasis;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Commits in the background the progress of a shard whose state is read when it is used.
 * What the store says counts: if it has lost an accepted commit, the ownership ends, and
 * the next one resumes from what the store has.
 */
public final class ResumingCommitter extends BackgroundCommitter {

	private final OwnedShard owned;

	private final CheckpointStore checkpoints;

	/** Whether the store may have lost commits, so that it has to be asked. */
	private boolean comparisonRequired;

	/** Whether it has lost some. */
	private boolean gone;

	public ResumingCommitter(CommitNumbers numbers, ShardProgress progress, OwnedShard owned, HandlerShape shape) {
		super(numbers, progress, owned, shape);
		this.owned = owned;
		this.checkpoints = owned.context().checkpoints();
	}

	@Override
	public void requireWriteBack() {
		this.comparisonRequired = true;
	}

	@Override
	public void checkpointGone() {
		this.gone = true;
	}

	@Override
	Outcome checkpointGone(Sent lost) {
		this.gone = true;
		return Outcome.FENCED;
	}

	@Override
	Outcome checkBefore() {
		if (this.comparisonRequired) {
			CommitBasis basis = new CommitBasis(this.owned.token(), numbers().acknowledged(), numbers().acquisition());
			this.gone |= this.checkpoints.ownedEntries(this.owned.shard(), basis, Set.of()) == null;
			this.comparisonRequired = false;
		}
		return (this.gone || progress().state().isLost()) ? Outcome.FENCED : Outcome.DONE;
	}

	@Override
	public boolean resumesFromStore() {
		return true;
	}

	@Override
	public boolean reportLostCommits() {
		return lost().reportByStoreOfState();
	}

}
