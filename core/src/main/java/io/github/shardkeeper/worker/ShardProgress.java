package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitNumber;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.JournaledState;
import io.github.shardkeeper.checkpoint.LastCommit;
import io.github.shardkeeper.checkpoint.SeekRequest;
import io.github.shardkeeper.loop.Answers;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.ConsumerSettings.CommitMode;

/**
 * Progress of an acquired shard since its checkpoint, and its commits.
 * <p>
 * Commits are sent without waiting for their answers, one at a time: what is handled
 * meanwhile goes into the next one. A commit without an answer is sent again as it was,
 * under its number, so that it counts once whether it arrived or not. When the store has
 * lost a commit that it had accepted, everything is written back from memory. Confined to
 * the shard's worker.
 */
final class ShardProgress {

	private static final Logger logger = LoggerFactory.getLogger(ShardProgress.class);

	/** Explains two histories, for messages. */
	static final String TWO_MASTERS = "Redis had two masters in a partition: set 'min-replicas-to-write' and "
			+ "'min-replicas-max-lag'; or a failover lost writes, and another owner began before they were back";

	/** Maximum number of failed records that wait in memory for one commit. */
	private static final int MAX_FAILED_RECORDS = 100;

	/**
	 * Size from which on a commit is due: what one script copies keeps the store busy,
	 * and Redis closes the connection of a client that sends a gigabyte at once.
	 */
	private static final int MAX_BYTES_PER_COMMIT = 1_000_000;

	/**
	 * Distance to the commit numbers of an abandoned worker with the same token: some of
	 * its commits may be under way, and must not be taken for ours. There is one when a
	 * claim was not granted and the store named the shard nevertheless.
	 */
	private static final int COMMIT_NUMBER_GAP = 1000;

	private final OwnedShard owned;

	private final WorkerContext context;

	private final ConsumerSettings.Commits settings;

	private final Runnable wake;

	private final @Nullable Offset begin;

	/** Number of the last seek that is carried out, 0 for none. */
	private final long sought;

	private final OffsetWindow window;

	private final JournaledState state;

	private final RetryQueue queue;

	private PendingCommit pending = new PendingCommit();

	private int uncommittedRecords;

	/** Time of the next commit, {@code null} if there is nothing to commit. */
	private @Nullable MonotonicTime uncommittedDue;

	private boolean commitSoon;

	private long commitAttempts;

	private long acknowledgedCommit;

	/** Offset of the last commit that was answered. */
	private @Nullable Offset acknowledgedOffset;

	/**
	 * Last commit of others that is part of what is in memory; {@code null} if that is
	 * not known.
	 */
	private @Nullable LastCommit base;

	/** Number of the acquisition that commits rest on until one was answered. */
	private long acquisition;

	/** Commit under way, or to be sent again. */
	private @Nullable Sent sent;

	private boolean writeBackRequired;

	/**
	 * Begins at the checkpoint, or where a pending seek leads, which the first commit
	 * carries out.
	 * @param earlier progress under the same token before a seek, {@code null} if there
	 * is none
	 */
	ShardProgress(Acquisition.Acquired acquired, @Nullable ShardProgress earlier, ShardScope scope) {
		ConsumerSettings settings = scope.settings();
		this.owned = scope.owned();
		this.context = scope.context();
		this.settings = settings.commits();
		this.wake = scope.wake();
		Checkpoint checkpoint = acquired.checkpoint();
		SeekRequest seek = acquired.seeks().pending();
		this.begin = (seek != null) ? seek.after() : checkpoint.offset();
		this.window = new OffsetWindow(settings.maxAhead(), this.begin, (seek != null) ? Set.of() : checkpoint.ahead());
		this.state = new JournaledState(checkpoint.state(), this.context.mapper(),
				settings.ordering() != ConsumerSettings.Ordering.SHARD);
		Duration dueIn = checkpoint.retryDueIn();
		this.queue = new RetryQueue(this.owned.shard(), this.context.checkpoints(), this.context.budget(),
				(dueIn != null) ? this.context.clock().now().plus(dueIn) : null);
		this.acquisition = acquired.acquisition();
		this.sought = (seek != null) ? seek.number() : acquired.seeks().applied();
		if (seek != null) {
			carryOut(seek);
		}
		if (earlier != null) {
			// So that the store tells what comes late from what comes now.
			this.commitAttempts = earlier.commitAttempts;
			this.acknowledgedCommit = earlier.acknowledgedCommit;
			this.acknowledgedOffset = earlier.acknowledgedOffset;
			this.base = earlier.base;
		}
		else {
			this.base = acquired.before();
			this.acknowledgedOffset = checkpoint.offset();
			if (acquired.lastCommit() > 0) {
				this.commitAttempts = acquired.lastCommit() + COMMIT_NUMBER_GAP;
				this.acknowledgedCommit = acquired.lastCommit();
			}
		}
	}

	private void carryOut(SeekRequest seek) {
		if (seek.clearsState()) {
			this.state.clear();
		}
		recordSeek(this.context.clock().now());
	}

	/** Tells the store with the next commit which seek is carried out. */
	void recordSeek(MonotonicTime now) {
		this.pending.seek(this.sought);
		changed(1, now);
		commitSoon();
	}

	/**
	 * Returns the offset after which reading begins, {@code null} for the first record.
	 */
	@Nullable Offset begin() {
		return this.begin;
	}

	/** Returns the number of the last seek that is carried out, 0 for none. */
	long sought() {
		return this.sought;
	}

	JournaledState state() {
		return this.state;
	}

	OffsetWindow window() {
		return this.window;
	}

	RetryQueue queue() {
		return this.queue;
	}

	/**
	 * Takes up the next record of the shard; {@code null} if an earlier owner has done
	 * it.
	 */
	@Nullable TrackedRecord take(SourceRecord source, MonotonicTime now) {
		TrackedRecord taken = this.window.take(source);
		if (taken == null) {
			changed(1, now);
		}
		return taken;
	}

	/** Returns the number of the acquisition that commits rest on. */
	long acquisition() {
		return this.acquisition;
	}

	/** Returns the number of the last commit that was answered. */
	long acknowledgedCommit() {
		return this.acknowledgedCommit;
	}

	/** Returns the offset of that commit. */
	@Nullable Offset acknowledgedOffset() {
		return this.acknowledgedOffset;
	}

	/** Returns whether nothing that was taken up is left to be done or committed. */
	boolean isAtEnd() {
		return this.window.isEmpty() && this.queue.isEmpty() && this.sent == null && this.uncommittedDue == null;
	}

	/**
	 * Finishes a record: what it wrote to the state, and its offset, go into the next
	 * commit.
	 */
	void done(TrackedRecord record, MonotonicTime since) {
		this.state.makeCommittable(record.takeChanges());
		if (record.isOfQueue()) {
			record.done();
			this.pending.removeFromQueue(record.offset());
		}
		else {
			this.window.done(record);
		}
		changed(1, since);
	}

	/** Puts a record into the retry queue. */
	void retryLater(TrackedRecord record, FailedRecord failed, Duration delay, MonotonicTime now) {
		this.pending.addRetry(failed, delay, record.isOfQueue());
		failed(record, now);
	}

	/** Stores a record as a dead letter. */
	void deadLetter(TrackedRecord record, FailedRecord failed, MonotonicTime now) {
		this.pending.addDeadLetter(failed);
		if (record.isOfQueue()) {
			this.pending.removeFromQueue(record.offset());
		}
		failed(record, now);
	}

	private void failed(TrackedRecord record, MonotonicTime now) {
		if (record.isOfQueue()) {
			record.done();
		}
		else {
			this.window.done(record);
		}
		changed(1, now);
		// Its payload stays in memory until then.
		commitSoon();
	}

	/** Commits changes of the state that belong to no record. */
	void stateChanged(JournaledState.Changes changes, MonotonicTime now) {
		if (changes != JournaledState.Changes.NONE) {
			this.state.makeCommittable(changes);
			changed(1, now);
		}
	}

	private void changed(int records, MonotonicTime since) {
		this.uncommittedRecords += records;
		if (this.uncommittedDue == null) {
			this.uncommittedDue = since.plus(this.settings.interval());
		}
	}

	/** Makes what there is to commit now due at once. */
	void commitSoon() {
		this.commitSoon = this.uncommittedDue != null;
	}

	/**
	 * Returns whether a commit that has failed is being sent again, and may fail again.
	 */
	boolean isRepeating() {
		return this.sent != null && this.sent.failed;
	}

	/**
	 * Returns when the next commit is due by time, {@code null} if there is nothing to
	 * commit.
	 */
	@Nullable MonotonicTime commitDue() {
		return (this.sent == null) ? this.uncommittedDue : null;
	}

	/** Returns whether nothing may be handed out before a commit is answered. */
	boolean mustWait() {
		return this.sent != null && (this.settings.mode() == CommitMode.BATCH
				|| this.uncommittedRecords >= this.settings.records()
				|| this.pending.failedRecords() >= MAX_FAILED_RECORDS || uncommittedBytes() >= MAX_BYTES_PER_COMMIT);
	}

	private long uncommittedBytes() {
		return this.state.uncommittedBytes() + this.pending.bytes();
	}

	/**
	 * Has the next commit write everything, because the store may have lost some of it.
	 */
	void requireWriteBack() {
		this.writeBackRequired = true;
	}

	/**
	 * Processes the answer to the last commit, and sends the next one if it is due.
	 * @throws StoreUnavailableException when there was no answer; to be called again
	 */
	Outcome advance(MonotonicTime now) {
		return advance(now, false);
	}

	/** Does the same, but sends whatever there is. */
	Outcome flush() {
		return advance(this.context.clock().now(), true);
	}

	private Outcome advance(MonotonicTime now, boolean send) {
		while (true) {
			Sent underWay = this.sent;
			if (underWay != null) {
				CompletableFuture<CommitReply> reply = (underWay.reply != null) ? underWay.reply : send(underWay);
				if (!reply.isDone()) {
					return Outcome.SENT;
				}
				Outcome outcome = answered(underWay, reply);
				if (outcome != Outcome.DONE) {
					return outcome;
				}
			}
			if (!this.writeBackRequired && (this.uncommittedDue == null || !send && !isCommitDue(now))) {
				return Outcome.DONE;
			}
			Outcome prepared = this.writeBackRequired ? writeBack() : prepare();
			if (prepared != Outcome.DONE) {
				return prepared;
			}
		}
	}

	private boolean isCommitDue(MonotonicTime now) {
		MonotonicTime due = commitDue();
		return this.commitSoon || this.uncommittedRecords >= this.settings.records()
				|| uncommittedBytes() >= MAX_BYTES_PER_COMMIT || due != null && !now.isBefore(due);
	}

	private Outcome prepare() {
		CommitNumber number = new CommitNumber(++this.commitAttempts, this.acknowledgedCommit, this.acquisition);
		prepared(this.pending,
				this.pending.commit(number, this.window.position(), this.window.ahead(), this.state.takeUncommitted()),
				false);
		return Outcome.DONE;
	}

	private void prepared(PendingCommit contents, Commit commit, boolean whole) {
		this.sent = new Sent(commit, contents, whole);
		this.pending = new PendingCommit();
		this.uncommittedRecords = 0;
		this.uncommittedDue = null;
		this.commitSoon = false;
	}

	/**
	 * Writes a whole checkpoint from memory. Only while the shard is held: otherwise a
	 * newer owner may have begun without one. A pending seek stays pending: what is in
	 * memory has not carried it out.
	 */
	private Outcome writeBack() {
		if (!this.owned.isHeld()) {
			return Outcome.CHECKPOINT_MISSING;
		}
		Acquisition reply = this.context.checkpoints().acquireNow(this.owned.shard(), this.owned.token());
		if (!(reply instanceof Acquisition.Acquired acquired)) {
			return Outcome.FENCED;
		}
		reportOtherHistory(acquired);
		this.acquisition = acquired.acquisition();
		Map<String, @Nullable String> whole = new HashMap<>(this.state.committableEntries());
		acquired.checkpoint().state().keySet().forEach((key) -> whole.putIfAbsent(key, null));
		this.state.takeUncommitted();
		this.pending.seek(this.sought);
		this.writeBackRequired = false;
		prepared(this.pending, this.pending.commit(CommitNumber.ofWhole(++this.commitAttempts), this.window.position(),
				this.window.ahead(), whole), true);
		return Outcome.DONE;
	}

	/**
	 * Reports two histories. A store that has only lost writes has no commits of others
	 * but those that are the base of what is in memory.
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
						this.owned.token(), this.state.committableEntries().size(), this.window.position(),
						TWO_MASTERS);
		}
	}

	private CompletableFuture<CommitReply> send(Sent commit) {
		CompletableFuture<CommitReply> reply = this.context.checkpoints()
			.commit(this.owned.shard(), this.owned.token(), commit.commit);
		commit.reply = reply;
		if (!reply.isDone()) {
			reply.whenComplete((answer, failure) -> this.wake.run());
		}
		return reply;
	}

	private Outcome answered(Sent answered, CompletableFuture<CommitReply> future) {
		CommitReply reply;
		try {
			reply = Answers.await(future);
		}
		catch (RuntimeException ex) {
			// Whether it was written is unknown: it is sent again as it is.
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
		this.context.meters().committed(this.owned.shard().topic(), accepted);
		if (!accepted) {
			return Outcome.FENCED;
		}
		committed(answered);
		return Outcome.DONE;
	}

	private void committed(Sent answered) {
		this.acknowledgedCommit = answered.commit.number().attempt();
		this.acknowledgedOffset = answered.commit.offset();
		MonotonicTime now = this.context.clock().now();
		this.queue.committed(answered.contents.changedInQueue(), now);
		answered.contents.retries().forEach((retry) -> this.queue.lookAt(now.plus(retry.delay())));
		if (answered.whole) {
			logger.info("The store has lost writes: {} was written back at offset {}, with {} entries of state",
					this.owned, answered.commit.offset(), answered.commit.changes().size());
		}
	}

	/**
	 * Has everything go into the next commit: the store has lost what this one rests on.
	 */
	private Outcome gone(Sent lost) {
		this.sent = null;
		this.pending = this.pending.after(lost.contents);
		if (this.uncommittedDue == null) {
			this.uncommittedDue = this.context.clock().now();
		}
		this.writeBackRequired = true;
		return lost.whole ? Outcome.CHECKPOINT_MISSING : Outcome.DONE;
	}

	/** A commit under way. */
	private static final class Sent {

		private final Commit commit;

		private final PendingCommit contents;

		/** Whether it writes the whole checkpoint. */
		private final boolean whole;

		/** {@code null} when it is to be sent. */
		private @Nullable CompletableFuture<CommitReply> reply;

		/** Whether it was sent before, without success. */
		private boolean failed;

		Sent(Commit commit, PendingCommit contents, boolean whole) {
			this.commit = commit;
			this.contents = contents;
			this.whole = whole;
		}

	}

	/** State of the commits. */
	enum Outcome {

		/** There is nothing to do for them now. */
		DONE,
		/** One is on its way; its answer wakes the worker. */
		SENT,
		/** A newer owner has acquired the shard; nothing was written. */
		FENCED,
		/**
		 * The store has no checkpoint, and none may be written while the shard is not
		 * held.
		 */
		CHECKPOINT_MISSING

	}

}
