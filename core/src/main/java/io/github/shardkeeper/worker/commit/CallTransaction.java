package io.github.shardkeeper.worker.commit;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.state.StateView;
import io.github.shardkeeper.worker.progress.PublishedProgress;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.record.CallEffects;
import io.github.shardkeeper.worker.record.OffsetWindow;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.timer.TimerQueue;

/**
 * A call in a transaction of the application, which contains the commit of its records.
 * Confined to the thread of the call, and then to the worker.
 */
public final class CallTransaction implements CallCommit {

	private final TransactionalCommitter committer;

	private final ShardProgress progress;

	private final PublishedProgress published;

	private final List<TrackedRecord> records;

	private final CallWrites writes;

	private boolean hasTurn;

	/** What it has taken to commit it, {@code null} for nothing. */
	private PublishedProgress.@Nullable Contents taken;

	/** What it adds to the outbox of the shard, and removes from it. */
	private Outbox.Changes sent = Outbox.Changes.NONE;

	private CommitPart.Added added = CommitPart.Added.NOTHING;

	private @Nullable Commit commit;

	/** Why it could not commit, though it may be repeated. */
	private @Nullable StoreUnavailableException refused;

	private boolean outdated;

	private CallTransactions.@Nullable Result ended;

	CallTransaction(TransactionalCommitter committer, List<TrackedRecord> records, CallWrites writes) {
		this.committer = committer;
		this.progress = committer.progress();
		this.published = this.progress.nextCommit().published();
		this.records = records;
		this.writes = writes;
	}

	/** Returns what became of the transaction, {@code null} if it has not begun. */
	CallTransactions.@Nullable Result ended() {
		return this.ended;
	}

	/** Returns whether its state was changed by another call before its commit. */
	public boolean isOutdated() {
		return this.outdated;
	}

	Commit commit() {
		return Objects.requireNonNull(this.commit);
	}

	/** Returns what its commit has of the failed records, for the worker. */
	CommitPart.Added added() {
		return this.added;
	}

	@Override
	public Code around(Code code) {
		return (view) -> run(view, code);
	}

	private void run(@Nullable StateView view, Code code) throws Throwable {
		CallTransactions.Result result = null;
		try {
			result = this.committer.transactions()
				.call(this.committer.owned().shard(), this.committer.owned().token(), new CallTransactions.Call() {

					@Override
					public void run() throws Throwable {
						code.run(view);
						if (Thread.currentThread().isInterrupted()) {
							throw new InterruptedException("The call returned with its thread interrupted");
						}
					}

					@Override
					public Commit commit() throws InterruptedException {
						return prepare(view);
					}

					@Override
					public Runnable savepoint() {
						return CallTransaction.this.writes.savepoint(view);
					}

				});
		}
		finally {
			settled((this.refused != null) ? new CallTransactions.Result.Unavailable(this.refused) : result);
		}
		if (this.ended instanceof CallTransactions.Result.Failed failed) {
			throw failed.failure();
		}
	}

	/** Returns nothing: it has committed what it has done. */
	@Override
	public CallEffects uncommitted(CallWrites writes) {
		return CallEffects.NONE;
	}

	/** Takes the turn, and returns what it is to write. */
	private Commit prepare(@Nullable StateView view) throws InterruptedException {
		takeTurn();
		Map<String, @Nullable String> changes = (view != null) ? this.progress.state().changes(view) : Map.of();
		if (changes == null || this.records.get(0).isReplaced()) {
			this.outdated = true;
			throw new IllegalStateException("Another call has changed the state that this one has read, or its timer");
		}
		// What is done later, by listeners of the transaction, would be lost.
		this.writes.close();
		CallEffects effects = this.writes.effects();
		PublishedProgress.Contents published = this.published.take();
		this.taken = published;
		this.sent = this.progress.outbox().prepareForCall(effects.sends());
		OffsetWindow.Position position = published.window().positionAfter(this.records);
		Commit.Builder prepared = new Commit.Builder(this.committer.numbers().next(), position.offset(),
				position.ahead());
		this.added = this.progress.failed().addTo(prepared, published, this.records);
		Commit last = prepared.changes(changes)
			.outbox(this.sent)
			.timers(TimerQueue.changesOfCall(this.records, effects.timers()))
			.build();
		this.commit = last;
		return last;
	}

	private void takeTurn() throws InterruptedException {
		this.hasTurn = this.committer.turn().take(this.committer.transactions().lockWait());
		if (!this.hasTurn) {
			this.refused = new StoreUnavailableException(
					"Another call for this shard has not committed within %d s, or it is not known whether it has; the call is repeated"
						.formatted(this.committer.transactions().lockWait().toSeconds()),
					null);
			throw this.refused;
		}
	}

	/** Processes what became of the transaction; keeps the turn if unknown. */
	void settled(CallTransactions.@Nullable Result result) {
		this.ended = result;
		if (!this.hasTurn) {
			return;
		}
		if (result instanceof CallTransactions.Result.Unknown) {
			this.committer.turn().keep();
			return;
		}
		if (result instanceof CallTransactions.Result.Committed) {
			this.committer.numbers().acknowledged(commit());
			this.progress.state().committed(commit().changes());
			this.progress.outbox().writtenByCall(this.sent);
			this.progress.timers().writtenByCall(this.records, commit().timers());
			this.records.forEach(TrackedRecord::written);
		}
		else if (this.taken != null) {
			this.published.giveBack(this.taken);
			this.progress.outbox().notWrittenByCall(this.sent);
		}
		this.hasTurn = false;
		this.committer.turn().giveBack();
	}

}
