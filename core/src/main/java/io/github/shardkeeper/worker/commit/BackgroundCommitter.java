package io.github.shardkeeper.worker.commit;

import java.util.List;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Commits in the background: records that are handled meanwhile go into the next commit.
 * If the store has lost an accepted commit, everything is written back from memory.
 */
public final class BackgroundCommitter extends Committer {

	private final OwnedShard owned;

	private final CheckpointStore checkpoints;

	private final MonotonicClock clock;

	private final boolean commitsEachBatch;

	private boolean writeBackRequired;

	public BackgroundCommitter(CommitNumbers numbers, ShardProgress progress, OwnedShard owned, HandlerShape shape) {
		super(numbers, progress, owned);
		this.owned = owned;
		this.checkpoints = owned.context().checkpoints();
		this.clock = owned.context().clock();
		this.commitsEachBatch = shape == HandlerShape.BATCH && owned.settings().commits().mode() == CommitMode.BATCH;
	}

	@Override
	public CallCommit begin(List<TrackedRecord> records, CallWrites writes) {
		return CallCommit.LATER;
	}

	@Override
	public boolean commitsCalls() {
		return false;
	}

	@Override
	public void callProcessed() {
		if (this.commitsEachBatch) {
			progress().commitSoon();
		}
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
		progress().notCommitted(this.clock.now());
		this.owned.recordsSetAside();
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
		if (!this.owned.isHeld()) {
			return Outcome.CHECKPOINT_MISSING;
		}
		Acquisition reply = this.checkpoints.acquireToWriteBack(this.owned.shard(), this.owned.token());
		if (!(reply instanceof Acquisition.Acquired acquired)) {
			return Outcome.FENCED;
		}
		lost().reportOtherHistory(acquired);
		this.writeBackRequired = false;
		Commit.Builder commit = progress().commit(numbers().ofWhole(acquired));
		prepared(commit, progress().addAllTo(commit, acquired.checkpoint()), true);
		return Outcome.DONE;
	}

	@Override
	public boolean reportLostCommits() {
		return numbers().acknowledged() > 0 && lost().reportByStore();
	}

}
