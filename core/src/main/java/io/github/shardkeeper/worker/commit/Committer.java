package io.github.shardkeeper.worker.commit;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.Replies;
import io.github.shardkeeper.loop.MeterGuard;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.progress.NextCommit;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.ConsumerMeters.TopicMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Commits the progress of an acquired shard, one commit at a time, without waiting for
 * the reply. A commit without a reply is sent again, unchanged and under the same number,
 * so that it counts once. Confined to the shard's worker.
 */
public abstract sealed class Committer permits WriteBackCommitter, ResumingCommitter {

	private final OwnedShard owned;

	private final WorkerContext context;

	private final CheckpointStore checkpoints;

	private final boolean waitsForEach;

	private final MeterGuard<TopicMeters> meters;

	private final ShardProgress progress;

	private final NextCommit next;

	private final CommitNumbers numbers;

	private final LostCommits lost;

	private @Nullable Sent sent;

	Committer(CommitNumbers numbers, ShardProgress progress, OwnedShard owned) {
		this.owned = owned;
		this.context = owned.context();
		this.checkpoints = this.context.checkpoints();
		this.waitsForEach = owned.settings().commits().mode() == CommitMode.BATCH;
		this.meters = owned.meters();
		this.progress = progress;
		this.next = progress.nextCommit();
		this.numbers = numbers;
		this.lost = new LostCommits(this.owned, this.checkpoints, numbers, progress);
	}

	public final CommitNumbers numbers() {
		return this.numbers;
	}

	public final ShardProgress progress() {
		return this.progress;
	}

	final NextCommit nextCommit() {
		return this.next;
	}

	final OwnedShard owned() {
		return this.owned;
	}

	final LostCommits lost() {
		return this.lost;
	}

	public final boolean isIdle() {
		return this.sent == null;
	}

	public final boolean isRepeating() {
		return this.sent != null && this.sent.failed;
	}

	/**
	 * Returns when a commit is due, or something else of its parts; {@code null} for
	 * neither. While a commit is unanswered, no other one is due.
	 * @param callsRun whether calls run
	 */
	public @Nullable MonotonicTime nextDue(MonotonicTime now, boolean callsRun) {
		MonotonicTime commit = null;
		if (this.sent == null) {
			commit = MonotonicTime.earliestOf(this.next.due(), this.progress.nextExpiry(now));
		}
		return MonotonicTime.earliestOf(commit, this.progress.nextForward());
	}

	/**
	 * Returns whether a call may begin; what has to be committed before becomes due.
	 */
	public boolean mayCall() {
		return this.sent == null || !this.waitsForEach && !this.next.isFull();
	}

	/** Returns whether calls wait for a commit that is due. */
	public boolean holdsBackCalls() {
		return false;
	}

	/**
	 * Returns the last commit that the database with the rows of handlers has accepted;
	 * {@code null} if commits are not in one. Thread-safe.
	 */
	public @Nullable LastCommit acceptedByDatabase() {
		return null;
	}

	/**
	 * Processes that the store may have lost commits: what is in memory is written with
	 * the next commit, or the store is asked.
	 */
	public abstract void requireWriteBack();

	/** Processes that the store has lost the checkpoint. */
	public abstract void checkpointGone();

	/** Processes the same for the reply to a commit, which was not written. */
	abstract Outcome checkpointGone(Sent lost);

	/**
	 * Returns how a call commits what it does: in the background, unless
	 * {@linkplain #commitsCalls() calls commit}. On the thread of the call.
	 */
	public CallCommit begin(List<TrackedRecord> records, CallWrites writes) {
		return CallCommit.LATER;
	}

	/** Returns whether calls commit what they do, so that it is done when they return. */
	public boolean commitsCalls() {
		return false;
	}

	/** Processes that a call is about to begin. */
	public void callBegins() {
	}

	/** Processes that no call runs any more. */
	public void callsEnded() {
	}

	/**
	 * Returns whether nothing is written back after lost commits: the next owner resumes
	 * from what the store has.
	 */
	public boolean resumesFromStore() {
		return false;
	}

	/**
	 * Reports accepted commits that the store does not have, and returns whether there
	 * are any. If it has them, a newer owner has resumed from them, and nothing is lost.
	 */
	public abstract boolean reportLostCommits();

	/** Reports what a forfeited shard has lost. */
	public final void reportLoss(Forfeit.Cause cause) {
		switch (cause) {
			case TAKEN_OVER -> reportLostCommits();
			case STOPPED -> this.lost.reportStop();
			default -> this.lost.reportForfeit();
		}
	}

	/**
	 * Processes the reply to the last commit, and sends the next one if it is due.
	 * @param callsRun whether calls run
	 * @throws StoreUnavailableException if there was no reply; the next call repeats it
	 */
	public Outcome advance(MonotonicTime now, boolean callsRun) {
		return advanceCommits(now, false);
	}

	/** Does the same, but does not wait until a commit is due. While no call runs. */
	public final Outcome flush() {
		return advanceCommits(this.context.clock().now(), true);
	}

	/** Forwards before, so that the commit removes it, and after it what it has added. */
	private Outcome advanceCommits(MonotonicTime now, boolean flush) {
		this.progress.lookForExpired(now, false);
		this.progress.forward(now);
		Outcome outcome = commit(now, flush);
		if (outcome == Outcome.DONE || outcome == Outcome.SENT) {
			this.progress.forward(now);
		}
		return outcome;
	}

	private Outcome commit(MonotonicTime now, boolean flush) {
		while (true) {
			Outcome stop = checkBefore();
			if (stop != Outcome.DONE) {
				return stop;
			}
			Sent underWay = this.sent;
			if (underWay != null) {
				CompletableFuture<CommitReply> reply = (underWay.reply != null) ? underWay.reply : send(underWay);
				if (!reply.isDone()) {
					return Outcome.SENT;
				}
				Outcome outcome = processReply(underWay, reply);
				if (outcome != Outcome.DONE) {
					return outcome;
				}
			}
			Outcome prepared = prepareOther();
			if (prepared != Outcome.DONE) {
				return prepared;
			}
			if (this.sent == null && (flush ? this.next.due() != null : this.next.isDue(now))) {
				Commit.Builder commit = this.next.begin(this.numbers.next());
				prepared(commit, this.next.addTo(commit), false);
			}
			if (this.sent == null) {
				return Outcome.DONE;
			}
		}
	}

	/** Returns whether nothing may be committed any more. */
	Outcome checkBefore() {
		return Outcome.DONE;
	}

	/** Prepares a commit of another kind, if one is necessary. */
	Outcome prepareOther() {
		return Outcome.DONE;
	}

	final void prepared(Commit.Builder commit, List<CommitPart.Added> added, boolean whole) {
		this.sent = new Sent(commit.build(), added, whole);
	}

	private CompletableFuture<CommitReply> send(Sent commit) {
		MonotonicTime sentAt = this.context.clock().now();
		CompletableFuture<CommitReply> reply = this.checkpoints.commit(this.owned.shard(), this.owned.token(),
				commit.commit);
		commit.reply = reply;
		if (!reply.isDone()) {
			reply.whenComplete((committed, failure) -> {
				if (failure == null) {
					count(sentAt);
				}
				this.owned.wake();
			});
		}
		else if (!reply.isCompletedExceptionally()) {
			count(sentAt);
		}
		return reply;
	}

	private void count(MonotonicTime sentAt) {
		this.meters.count((meters) -> meters.commitAnswered(sentAt.until(this.context.clock().now())));
	}

	private Outcome processReply(Sent answered, CompletableFuture<CommitReply> future) {
		CommitReply reply;
		try {
			reply = Replies.await(future);
		}
		catch (RuntimeException ex) {
			// It may have been written: it is sent again unchanged.
			answered.reply = null;
			answered.failed = true;
			throw (ex instanceof StoreUnavailableException unavailable) ? unavailable
					: new StoreUnavailableException("The commit has failed: " + ex, ex);
		}
		this.sent = null;
		if (reply == CommitReply.GONE) {
			return checkpointGone(answered);
		}
		boolean accepted = reply == CommitReply.COMMITTED;
		this.meters.count((meters) -> meters.committed(accepted));
		if (!accepted) {
			return Outcome.FENCED;
		}
		this.numbers.acknowledged(answered.commit);
		written(answered.commit, answered.added);
		reportToReader(answered.commit);
		if (answered.whole) {
			this.lost.reportWriteBack(answered.commit);
		}
		return Outcome.DONE;
	}

	/** Processes on the worker that a commit was written. */
	final void written(Commit commit, List<CommitPart.Added> added) {
		added.forEach(CommitPart.Added::committed);
		if (!commit.retries().isEmpty() || !commit.deadLetters().isEmpty()) {
			this.owned.recordsSetAside();
		}
	}

	final void reportToReader(Commit commit) {
		Offset offset = commit.offset();
		if (offset != null) {
			this.context.reader().committed(this.owned.shard(), offset);
		}
	}

	/** Commit that waits for its reply. */
	static final class Sent {

		private final Commit commit;

		private final List<CommitPart.Added> added;

		private final boolean whole;

		/** {@code null} if it has to be sent. */
		private @Nullable CompletableFuture<CommitReply> reply;

		private boolean failed;

		private Sent(Commit commit, List<CommitPart.Added> added, boolean whole) {
			this.commit = commit;
			this.added = added;
			this.whole = whole;
		}

		/** Returns whether it has written everything. */
		boolean isWhole() {
			return this.whole;
		}

		void notCommitted() {
			this.added.forEach(CommitPart.Added::notCommitted);
		}

	}

	public enum Outcome {

		/** There is no commit to send now. */
		DONE,
		/** A commit is sent; its reply wakes the worker. */
		SENT,
		/** A newer owner has acquired the shard; nothing was written. */
		FENCED,
		/**
		 * The store has no checkpoint, and none may be written: the shard is not held.
		 */
		CHECKPOINT_MISSING

	}

}
