package io.github.shardkeeper.worker.commit;

import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Commits to a store whose word counts: nothing is written back from memory. If it has
 * lost an accepted commit, the ownership ends, and the next one resumes from what the
 * store has.
 */
abstract non-sealed class ResumingCommitter extends Committer {

	/** Whether the store has lost what was committed. */
	private boolean gone;

	ResumingCommitter(CommitNumbers numbers, ShardProgress progress, OwnedShard owned) {
		super(numbers, progress, owned);
	}

	@Override
	public final void checkpointGone() {
		this.gone = true;
	}

	@Override
	final Outcome checkpointGone(Sent lost) {
		checkpointGone();
		return Outcome.FENCED;
	}

	@Override
	Outcome checkBefore() {
		return (this.gone || progress().state().isLost()) ? Outcome.FENCED : Outcome.DONE;
	}

	@Override
	public final boolean resumesFromStore() {
		return true;
	}

}
