package io.github.shardkeeper.worker.commit;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.Replies;
import io.github.shardkeeper.loop.MeterGuard;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.ConsumerMeters.TopicMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Commits with the calls, in transactions of the application. With the ordering
 * {@code shard}, nothing is uncommitted between two calls. Otherwise calls of several
 * keys have open transactions; they commit one after the other, each with the turn, and
 * each commits what the worker has published, too. The worker sends a commit of its own
 * only while no call runs.
 */
public final class TransactionalCommitter extends ResumingCommitter {

	private final CallTransactions transactions;

	private final CheckpointStore checkpoints;

	private final MeterGuard<TopicMeters> meters;

	private final boolean inOrder;

	private final CommitLock turn = new CommitLock();

	/** Call whose transaction has had no reply. It keeps the turn. */
	private @Nullable CallTransaction unsettled;

	/** Number of the last commit of a call that was reported to the reader. */
	private long reported;

	/** Whether a transaction was refused because of a newer owner. */
	private boolean stale;

	public TransactionalCommitter(CallTransactions transactions, CommitNumbers numbers, ShardProgress progress,
			OwnedShard owned) {
		super(numbers, progress, owned);
		this.transactions = transactions;
		this.checkpoints = owned.context().checkpoints();
		this.meters = owned.meters();
		this.inOrder = owned.settings().ordering() == Ordering.SHARD;
	}

	CallTransactions transactions() {
		return this.transactions;
	}

	CommitLock turn() {
		return this.turn;
	}

	@Override
	public CallCommit begin(List<TrackedRecord> records, CallWrites writes) {
		return new CallTransaction(this, records, writes);
	}

	/** Lets the call commit what is uncommitted. */
	@Override
	public void callBegins() {
		nextCommit().publish();
	}

	@Override
	public boolean commitsCalls() {
		return true;
	}

	@Override
	public boolean mayCall() {
		if (!super.mayCall() || this.unsettled != null) {
			return false;
		}
		if (this.inOrder && !nextCommit().hasOnlyForwarded() || nextCommit().isExclusive()) {
			nextCommit().commitSoon();
			return isIdle() && nextCommit().due() == null;
		}
		return isIdle();
	}

	@Override
	public boolean holdsBackCalls() {
		return nextCommit().due() != null;
	}

	/** While calls run, they commit what is uncommitted. */
	@Override
	public Outcome advance(MonotonicTime now, boolean callsRun) {
		if (this.stale) {
			return Outcome.FENCED;
		}
		if (!callsRun) {
			return super.advance(now, false);
		}
		progress().lookForExpired(now, true);
		progress().forward(now);
		if (nextCommit().due() != null && !nextCommit().isExclusive()) {
			nextCommit().publish();
		}
		return Outcome.DONE;
	}

	@Override
	public @Nullable MonotonicTime nextDue(MonotonicTime now, boolean callsRun) {
		return callsRun ? progress().nextForward() : super.nextDue(now, false);
	}

	/** Takes back what no call has committed. */
	@Override
	public void callsEnded() {
		nextCommit().withdraw();
	}

	/**
	 * Returns what became of the transaction of a call, {@code null} if it has not begun.
	 * @throws io.github.shardkeeper.StoreUnavailableException if it is not known yet
	 */
	public CallTransactions.@Nullable Result settle(CallTransaction call) {
		boolean answered = true;
		if (call.ended() instanceof CallTransactions.Result.Unknown unknown) {
			this.unsettled = call;
			answered = !owned().isLost();
			call.settled(answered ? find(call, unknown) : new CallTransactions.Result.Stale());
			this.unsettled = null;
		}
		if (call.ended() instanceof CallTransactions.Result.Stale) {
			this.stale = true;
			if (answered) {
				this.meters.count((meters) -> meters.committed(false));
			}
		}
		return call.ended();
	}

	/** Finds out in the store what became of a transaction without a reply. */
	private CallTransactions.Result find(CallTransaction call, CallTransactions.Result.Unknown unknown) {
		Acquisition reply = Replies.await(this.checkpoints.acquireWithoutState(owned().shard(), owned().token()));
		if (!(reply instanceof Acquisition.Acquired acquired)) {
			return new CallTransactions.Result.Stale();
		}
		if (acquired.lastCommit() == call.commit().number().attempt()) {
			return new CallTransactions.Result.Committed();
		}
		return unknown.connectionLost() ? new CallTransactions.Result.ConnectionLost(unknown.failure())
				: new CallTransactions.Result.Failed(unknown.failure());
	}

	/** Processes a call that has committed, perhaps after later ones. */
	public void processCommitted(CallTransaction call) {
		Commit commit = call.commit();
		this.meters.count((meters) -> meters.committed(true));
		written(commit, List.of(call.added()));
		if (commit.number().attempt() > this.reported) {
			this.reported = commit.number().attempt();
			reportToReader(commit);
		}
	}

	@Override
	public LastCommit acceptedByDatabase() {
		return new LastCommit(owned().token(), numbers().acknowledged());
	}

	/** Nothing is written back. */
	@Override
	public void requireWriteBack() {
	}

	@Override
	public boolean reportLostCommits() {
		return lost().reportByDatabase();
	}

}
