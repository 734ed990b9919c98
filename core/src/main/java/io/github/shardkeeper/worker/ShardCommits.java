package io.github.shardkeeper.worker;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.Answers;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.loop.MeterGuard;
import io.github.shardkeeper.protocol.HoldingAction.Forfeit;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.ConsumerMeters.TopicMeters;
import io.github.shardkeeper.worker.ConsumerSettings.CommitMode;

/**
 * Commits the progress of an acquired shard, one commit at a time, without waiting for
 * the answer; records that are handled meanwhile go into the next one. A commit without
 * an answer is sent again, unchanged and under the same number, so that it counts once.
 * If the store has lost an accepted commit, everything is written back from memory.
 * Confined to the shard's worker.
 */
final class ShardCommits {

	private static final Logger logger = PrintableLogger.of(ShardCommits.class);

	private static final String TWO_MASTERS = "Redis had two masters in a partition: set 'min-replicas-to-write' and "
			+ "'min-replicas-max-lag'; or a failover lost writes, and another owner began before they were back";

	private static final String LOST_BY_DATABASE = "as after a failover to a replica that lacked them, or after an older "
			+ "state was restored. Their rows are lost with them, and the records after that offset are handled again; what "
			+ "their calls have sent may be in its targets twice. Have the database acknowledge a commit once a replica has "
			+ "it, in PostgreSQL with 'synchronous_standby_names'";

	/**
	 * Distance between the commit numbers of workers with the same token, which may have
	 * read the same last commit: a pending one of an abandoned worker must not be taken
	 * for ours. There is such a worker if a claim was not granted and the store named the
	 * shard nevertheless.
	 */
	private static final int COMMIT_NUMBER_GAP = 1000;

	private final OwnedShard owned;

	private final WorkerContext context;

	private final CheckpointStore checkpoints;

	private final boolean waitsForEach;

	/** Whether commits are also parts of transactions: see {@link #inTransaction}. */
	private final boolean transacted;

	private final Runnable wake;

	private final MeterGuard<TopicMeters> meters;

	private final ShardProgress progress;

	/** Only with the turn to commit, as the next two, while calls commit themselves. */
	private long attempts;

	/** Read by other threads, too. */
	private volatile long acknowledgedCommit;

	private @Nullable Offset acknowledgedOffset;

	/** Number of the last commit of a call that was reported to the reader. */
	private long reported;

	/** Last commit of others that this progress contains, {@code null} if not known. */
	private @Nullable LastCommit base;

	/** Number of the acquisition that the first commit is based on. */
	private long acquisition;

	private @Nullable Sent sent;

	private boolean writeBackRequired;

	/** Whether the store has lost what a transacted shard has committed. */
	private boolean gone;

	/** Creates commits; {@code earlier} are those before a seek, if any. */
	ShardCommits(Acquisition.Acquired acquired, @Nullable ShardCommits earlier, ShardProgress progress,
			ShardScope scope) {
		this.owned = scope.owned();
		this.context = scope.context();
		this.checkpoints = this.context.checkpoints();
		this.waitsForEach = scope.settings().commits().mode() == CommitMode.BATCH;
		this.transacted = this.checkpoints.transactions(scope.topic()) != null;
		this.wake = scope.wake();
		this.meters = scope.meters();
		this.progress = progress;
		this.acquisition = acquired.acquisition();
		if (earlier != null) {
			// So that the store detects late commits of the earlier ownership.
			this.attempts = earlier.attempts;
			this.acknowledgedCommit = earlier.acknowledgedCommit;
			this.acknowledgedOffset = earlier.acknowledgedOffset;
			this.base = earlier.base;
			return;
		}
		this.base = acquired.before();
		this.acknowledgedOffset = acquired.checkpoint().offset();
		this.attempts = acquired.lastCommit() + this.context.nextOwnership() * COMMIT_NUMBER_GAP;
		this.acknowledgedCommit = acquired.lastCommit();
	}

	long acquisition() {
		return this.acquisition;
	}

	long acknowledged() {
		return this.acknowledgedCommit;
	}

	/** Returns the number of the commit that will contain what is uncommitted now. */
	long next() {
		return this.attempts + 1;
	}

	/**
	 * Returns the last commit that the database with the rows of handlers has accepted;
	 * {@code null} if commits are not in one. Thread-safe.
	 */
	@Nullable LastCommit acceptedByDatabase() {
		return this.transacted ? new LastCommit(this.owned.token(), this.acknowledgedCommit) : null;
	}

	boolean isIdle() {
		return this.sent == null;
	}

	boolean isRepeating() {
		return this.sent != null && this.sent.failed;
	}

	/**
	 * Returns when a commit is due, or records that were sent are to be forwarded again;
	 * {@code null} for neither. While a commit is unanswered, no other one is due.
	 */
	@Nullable MonotonicTime nextDue() {
		return MonotonicTime.earliestOf((this.sent == null) ? this.progress.commitDue() : null,
				this.progress.outbox().nextAttempt());
	}

	/** Returns whether no record may be handled before a commit is answered. */
	boolean mustWait() {
		return this.sent != null && (this.waitsForEach || this.progress.isCommitFull());
	}

	/**
	 * Writes everything with the next commit, because the store may have lost some. Not
	 * if it is a database with what handlers have written: what that says counts.
	 */
	void requireWriteBack() {
		this.writeBackRequired = !this.transacted;
	}

	/** Processes that the store has lost the checkpoint. */
	void checkpointGone() {
		this.gone = this.transacted;
		requireWriteBack();
	}

	/**
	 * Processes the answer to the last commit, and sends the next one if it is due.
	 * @throws StoreUnavailableException if there was no answer; the next call repeats it
	 */
	Outcome advance(MonotonicTime now) {
		return advance(now, false);
	}

	/** Does the same as {@link #advance}, but does not wait until a commit is due. */
	Outcome flush() {
		return advance(this.context.clock().now(), true);
	}

	/** Forwards before, so that the commit removes it, and after it what it has added. */
	private Outcome advance(MonotonicTime now, boolean flush) {
		this.progress.forward(now);
		Outcome outcome = advanceCommits(now, flush);
		if (outcome == Outcome.DONE || outcome == Outcome.SENT) {
			this.progress.forward(now);
		}
		return outcome;
	}

	private Outcome advanceCommits(MonotonicTime now, boolean flush) {
		while (true) {
			if (this.gone) {
				return Outcome.FENCED;
			}
			Sent underWay = this.sent;
			if (underWay != null) {
				CompletableFuture<CommitReply> reply = (underWay.reply != null) ? underWay.reply : send(underWay);
				if (!reply.isDone()) {
					return Outcome.SENT;
				}
				Outcome outcome = processAnswer(underWay, reply);
				if (outcome != Outcome.DONE) {
					return outcome;
				}
			}
			if (this.writeBackRequired) {
				Outcome prepared = prepareWriteBack();
				if (prepared != Outcome.DONE) {
					return prepared;
				}
			}
			else if (flush ? this.progress.commitDue() != null : this.progress.isCommitDue(now)) {
				prepare();
			}
			else {
				return Outcome.DONE;
			}
		}
	}

	private CommitNumber nextNumber() {
		return new CommitNumber(++this.attempts, this.acknowledgedCommit, this.acquisition);
	}

	/**
	 * Begins the commit that is the last part of the transaction of a call. On the thread
	 * of a call that has the turn to commit, while the worker sends none.
	 */
	Commit.Builder inTransaction(OffsetWindow.Position position) {
		return new Commit.Builder(nextNumber(), position.offset(), position.ahead());
	}

	/** Processes that a transaction is over, as long as its call has the turn. */
	void writtenInTransaction(Commit commit) {
		this.acknowledgedCommit = commit.number().attempt();
		this.acknowledgedOffset = commit.offset();
	}

	/** Processes the same on the worker, perhaps after later ones. */
	void processWritten(Commit commit, CommitPart.Added added) {
		this.meters.count((meters) -> meters.committed(true));
		written(commit, List.of(added));
		if (commit.number().attempt() > this.reported) {
			this.reported = commit.number().attempt();
			reportToReader(commit);
		}
	}

	private void written(Commit commit, List<CommitPart.Added> added) {
		added.forEach(CommitPart.Added::committed);
		if (!commit.retries().isEmpty() || !commit.deadLetters().isEmpty()) {
			this.owned.recordsSetAside();
		}
	}

	private void reportToReader(Commit commit) {
		Offset offset = commit.offset();
		if (offset != null) {
			this.context.reader().committed(this.owned.shard(), offset);
		}
	}

	private void prepare() {
		Commit.Builder commit = builder(nextNumber());
		List<CommitPart.Added> added = this.progress.addTo(commit);
		this.sent = new Sent(commit.build(), added, false);
	}

	private Commit.Builder builder(CommitNumber number) {
		OffsetWindow window = this.progress.window();
		return new Commit.Builder(number, window.position(), window.ahead());
	}

	/**
	 * Prepares a whole checkpoint, only while the shard is held: otherwise a newer owner
	 * may have started without one. A seek that is not carried out stays pending.
	 */
	private Outcome prepareWriteBack() {
		if (!this.owned.isHeld()) {
			return Outcome.CHECKPOINT_MISSING;
		}
		Acquisition reply = this.checkpoints.acquireToWriteBack(this.owned.shard(), this.owned.token());
		if (!(reply instanceof Acquisition.Acquired acquired)) {
			return Outcome.FENCED;
		}
		reportOtherHistory(acquired);
		this.acquisition = acquired.acquisition();
		this.writeBackRequired = false;
		Commit.Builder commit = builder(CommitNumber.ofWhole(++this.attempts));
		List<CommitPart.Added> added = this.progress.addAllTo(commit, acquired.checkpoint());
		this.sent = new Sent(commit.build(), added, true);
		return Outcome.DONE;
	}

	/**
	 * Reports commits of other owners that this progress does not contain. A store that
	 * has only lost writes has none.
	 */
	private void reportOtherHistory(Acquisition.Acquired acquired) {
		LastCommit others = acquired.before();
		if (this.base == null || others == null || others.compareTo(this.base) <= 0) {
			return;
		}
		this.base = others;
		if (others.number() > 0) {
			logger
				.error("{} has two histories: another instance has committed it up to offset {} under token {}, and this one, "
						+ "which has not seen that, up to offset {} under token {}. The latter token is higher, so the state of "
						+ "this instance, {} entries at offset {}, overwrites the other one; nothing is merged. {}",
						this.owned, acquired.checkpoint().offset(), others.token(), this.acknowledgedOffset,
						this.owned.token(), this.progress.state().committableEntries().size(),
						this.progress.window().position(), TWO_MASTERS);
		}
	}

	private CompletableFuture<CommitReply> send(Sent commit) {
		MonotonicTime sentAt = this.context.clock().now();
		CompletableFuture<CommitReply> reply = this.checkpoints.commit(this.owned.shard(), this.owned.token(),
				commit.commit);
		commit.reply = reply;
		if (!reply.isDone()) {
			reply.whenComplete((answer, failure) -> {
				if (failure == null) {
					count(sentAt);
				}
				this.wake.run();
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

	private Outcome processAnswer(Sent answered, CompletableFuture<CommitReply> future) {
		CommitReply reply;
		try {
			reply = Answers.await(future);
		}
		catch (RuntimeException ex) {
			// It may have been written: it is sent again unchanged.
			answered.reply = null;
			answered.failed = true;
			throw (ex instanceof StoreUnavailableException unavailable) ? unavailable
					: new StoreUnavailableException("The commit has failed: " + ex, ex);
		}
		if (reply == CommitReply.GONE) {
			return gone(answered);
		}
		this.sent = null;
		boolean accepted = reply == CommitReply.COMMITTED;
		this.meters.count((meters) -> meters.committed(accepted));
		if (!accepted) {
			return Outcome.FENCED;
		}
		committed(answered);
		return Outcome.DONE;
	}

	private void committed(Sent answered) {
		acknowledged(answered.commit, answered.added);
		if (answered.whole) {
			logger.info("The store has lost writes: {} was written back at offset {}, with {} entries of state",
					this.owned, answered.commit.offset(), answered.commit.changes().size());
		}
	}

	private void acknowledged(Commit commit, List<CommitPart.Added> added) {
		this.acknowledgedCommit = commit.number().attempt();
		this.acknowledgedOffset = commit.offset();
		written(commit, added);
		reportToReader(commit);
	}

	/** Adds a commit to the next one, because the store has lost the checkpoint. */
	private Outcome gone(Sent lost) {
		this.sent = null;
		if (this.transacted) {
			return Outcome.FENCED;
		}
		lost.added.forEach(CommitPart.Added::notCommitted);
		this.progress.notCommitted(this.context.clock().now());
		this.owned.recordsSetAside();
		// It may have lost records of the retry queue, too.
		this.progress.queue().attend(this.context.clock().now());
		this.writeBackRequired = true;
		return lost.whole ? Outcome.CHECKPOINT_MISSING : Outcome.DONE;
	}

	void reportLoss(Forfeit.Cause cause) {
		Offset position = this.progress.window().position();
		int entries = this.progress.state().committableEntries().size();
		switch (cause) {
			case TAKEN_OVER -> reportLostCommits();
			case STOPPED -> logger.warn(
					"{} stops while the store does not answer, at offset {} with {} entries of state under token {}: "
							+ "what the store has not stored, or loses in this outage, is lost",
					this.owned, position, entries, this.owned.token());
			default -> logger.error(
					"Offset and state of {} are lost: the store had lost them, and another instance acquired the shard "
							+ "before this one was back. They were offset {} and {} entries of state under token {}; {}",
					this.owned, position, entries, this.owned.token(), storedOffset());
		}
	}

	/**
	 * Reports accepted commits that the store does not have, and returns whether there
	 * are any. If it has them, a newer owner has resumed from them, and nothing is lost.
	 */
	boolean reportLostCommits() {
		LastCommit accepted = new LastCommit(this.owned.token(), this.acknowledgedCommit);
		if (accepted.number() == 0 && !this.transacted) {
			return false;
		}
		try {
			CommitHistory stored = this.checkpoints.commits(this.owned.shard());
			if (stored == null || !stored.lacks(accepted)) {
				return false;
			}
			if (this.transacted) {
				logger.error(
						"The database has lost commits of {}: this instance has committed it up to offset {} under token {}, and "
								+ "the database is at offset {} under token {}, {}",
						this.owned, this.acknowledgedOffset, this.owned.token(), stored.offset(), stored.last().token(),
						LOST_BY_DATABASE);
			}
			else {
				logger.error(
						"{} has two histories: the commits of this instance, up to offset {} under token {}, are not in the "
								+ "store, which is at offset {} under token {}. They are lost; nothing is merged. {}",
						this.owned, this.acknowledgedOffset, this.owned.token(), stored.offset(), stored.last().token(),
						TWO_MASTERS);
			}
			return true;
		}
		catch (StoreUnavailableException ex) {
			logger.warn("Cannot check whether the store still has the commits of {} under token {}: {}", this.owned,
					this.owned.token(), ex.getMessage());
			return false;
		}
	}

	private String storedOffset() {
		ShardId shard = this.owned.shard();
		try {
			CommitHistory stored = this.checkpoints.commits(shard);
			if (stored != null && stored.offset() != null) {
				return "the store is at offset %s under token %s".formatted(stored.offset(), stored.last().token());
			}
			Offset offset = this.checkpoints.offsets(List.of(shard)).get(shard);
			return (offset != null) ? "the store is at offset " + offset : "the store has no offset yet";
		}
		catch (StoreUnavailableException ex) {
			return "the offset in the store cannot be read: " + ex.getMessage();
		}
	}

	/** Commit that waits for its answer. */
	private static final class Sent {

		private final Commit commit;

		private final List<CommitPart.Added> added;

		private final boolean whole;

		/** {@code null} if it has to be sent. */
		private @Nullable CompletableFuture<CommitReply> reply;

		private boolean failed;

		Sent(Commit commit, List<CommitPart.Added> added, boolean whole) {
			this.commit = commit;
			this.added = added;
			this.whole = whole;
		}

	}

	enum Outcome {

		/** There is no commit to send now. */
		DONE,
		/** A commit is sent; its answer wakes the worker. */
		SENT,
		/** A newer owner has acquired the shard; nothing was written. */
		FENCED,
		/**
		 * The store has no checkpoint, and none may be written: the shard is not held.
		 */
		CHECKPOINT_MISSING

	}

}
