package io.github.shardkeeper.worker.commit;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Commits in the background the progress of a shard whose state is in memory. If the
 * store has lost an accepted commit, everything is written back.
 */
public final class WriteBackCommitter extends Committer {

	private final CheckpointStore checkpoints;

	private final MonotonicClock clock;

	private boolean writeBackRequired;

	public WriteBackCommitter(CommitNumbers numbers, ShardProgress progress, OwnedShard owned) {
		super(numbers, progress, owned);
		this.checkpoints = owned.context().checkpoints();
		this.clock = owned.context().clock();
	}

	@Override
	public void requireWriteBack() {
		this.writeBackRequired = true;
	}

	@Override
	public void checkpointGone() {
		requireWriteBack();
	}

	/** Adds the commit to the next one, which writes everything. */
	@Override
	Outcome checkpointGone(Sent lost) {
		lost.notCommitted();
		nextCommit().notCommitted(this.clock.now());
		owned().recordsSetAside();
		// It may have lost records of the retry queue, too.
		progress().queue().attend(this.clock.now());
		this.writeBackRequired = true;
		return lost.isWhole() ? Outcome.CHECKPOINT_MISSING : Outcome.DONE;
	}

	/**
	 * Prepares a whole checkpoint, only while the shard is held: otherwise a newer owner
	 * may have started without one.
	 */
	@Override
	Outcome prepareOther() {
		if (!this.writeBackRequired) {
			return Outcome.DONE;
		}
		if (!owned().isHeld()) {
			return Outcome.CHECKPOINT_MISSING;
		}
		Acquisition reply = this.checkpoints.acquireToWriteBack(owned().shard(), owned().token());
		if (!(reply instanceof Acquisition.Acquired acquired)) {
			return Outcome.FENCED;
		}
		lost().reportOtherHistory(acquired);
		this.writeBackRequired = false;
		Commit.Builder commit = nextCommit().begin(numbers().ofWhole(acquired));
		prepared(commit, nextCommit().addAllTo(commit, acquired), true);
		return Outcome.DONE;
	}

	@Override
	public boolean reportLostCommits() {
		return numbers().acknowledged() > 0 && lost().reportByStore();
	}

}
