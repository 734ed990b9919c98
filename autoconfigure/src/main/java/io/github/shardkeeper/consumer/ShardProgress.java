package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.consumer.ConsumerSettings.CommitMode;
import io.github.shardkeeper.coordination.Answers;
import io.github.shardkeeper.coordination.CheckpointStore.Acquisition;
import io.github.shardkeeper.coordination.CheckpointStore.Checkpoint;
import io.github.shardkeeper.coordination.CheckpointStore.CommitReply;
import io.github.shardkeeper.coordination.Commit;
import io.github.shardkeeper.coordination.CommitNumber;
import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.coordination.LastCommit;
import io.github.shardkeeper.coordination.SeekRequest;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

/**
 * How far an acquired shard has come since its checkpoint, and what of it is committed.
 * <p>
 * Commits are sent without waiting for their answers, one at a time: what is handled
 * meanwhile goes into the next one. A commit without an answer is sent again as it was,
 * under its number, so that it counts once whether it arrived or not. When the store has
 * forgotten what it had answered, everything is written anew from memory. Confined to the
 * shard's worker.
 */
final class ShardProgress {

	private static final Logger logger = LoggerFactory.getLogger(ShardProgress.class);

	/** How a shard gets two histories. */
	static final String TWO_MASTERS = "Redis had two masters in a partition: set 'min-replicas-to-write' and "
			+ "'min-replicas-max-lag'; or a failover lost writes, and another owner began before they were back";

	/** Of those whose payloads go into one commit, and wait for it in memory. */
	private static final int MOST_PUT_ASIDE = 100;

	/**
	 * From so much on a commit is due: what one script copies keeps the store busy, and
	 * Redis cuts the connection of whoever sends a gigabyte at once.
	 */
	private static final int BYTES_PER_COMMIT = 1_000_000;

	/**
	 * The token may have been in use by a worker that was abandoned, when a claim was not
	 * granted and the store told of the shard nevertheless. The numbers of its last
	 * commits, of which some may be under way, must not be taken for ours.
	 */
	private static final int AFTER_ANOTHER = 1000;

	private final OwnedShard owned;

	private final WorkerContext context;

	private final ConsumerSettings.Commits settings;

	private final Runnable wake;

	private final @Nullable Offset begin;

	/** The number of the last seek that it knows as carried out, 0 for none. */
	private final long sought;

	private final OffsetWindow window;

	private final JournaledState state;

	private final RetryQueue queue;

	private PendingCommit pending = new PendingCommit();

	private int uncommittedRecords;

	/** When what there is to commit is due, {@code null} if there is nothing. */
	private @Nullable MonotonicTime uncommittedDue;

	private boolean commitSoon;

	private long commitAttempts;

	private long acknowledgedCommit;

	/** With the last commit that was answered. */
	private @Nullable Offset acknowledgedOffset;

	/**
	 * The last commit of others that is known to be part of what is here; {@code null} if
	 * that is not known.
	 */
	private @Nullable LastCommit base;

	/** What commits rest on, until one was acknowledged. */
	private long acquisition;

	/** Sent, or to be sent again. */
	private @Nullable Sent sent;

	private boolean storeDistrusted;

	/**
	 * Begins with a checkpoint, or where a pending seek leads: it is carried out with the
	 * first commit.
	 * @param earlier how far the shard had come under the same token before; {@code null}
	 * for the first time
	 * @param wake wakes the worker when a commit was answered
	 */
	ShardProgress(Acquisition.Acquired acquired, @Nullable ShardProgress earlier, OwnedShard owned,
			ConsumerSettings settings, WorkerContext context, Runnable wake) {
		this.owned = owned;
		this.context = context;
		this.settings = settings.commits();
		this.wake = wake;
		Checkpoint checkpoint = acquired.checkpoint();
		SeekRequest seek = acquired.seeks().pending();
		this.begin = (seek != null) ? seek.after() : checkpoint.offset();
		this.window = new OffsetWindow(settings.maxAhead(), this.begin, (seek != null) ? Set.of() : checkpoint.ahead());
		this.state = new JournaledState(checkpoint.state(), context.mapper(),
				settings.ordering() != ConsumerSettings.Ordering.SHARD);
		Duration dueIn = checkpoint.retryDueIn();
		this.queue = new RetryQueue(owned.shard(), context.checkpoints(), context.budget(),
				(dueIn != null) ? context.clock().now().plus(dueIn) : null);
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
				this.commitAttempts = acquired.lastCommit() + AFTER_ANOTHER;
				this.acknowledgedCommit = acquired.lastCommit();
			}
		}
	}

	private void carryOut(SeekRequest seek) {
		if (seek.clearsState()) {
			this.state.clear();
		}
		sayWhatWasSought(this.context.clock().now());
	}

	/** The store shall know which seek is carried out, with the next commit. */
	void sayWhatWasSought(MonotonicTime now) {
		this.pending.seek(this.sought);
		changed(1, now);
		commitSoon();
	}

	/** The offset to read on after, {@code null} for the beginning. */
	@Nullable Offset begin() {
		return this.begin;
	}

	/** The number of the last seek that is carried out, or is with the next commit. */
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
	 * Takes the next record of the shard up; {@code null} if an earlier owner has done
	 * it.
	 */
	@Nullable TrackedRecord take(SourceRecord source, MonotonicTime now) {
		TrackedRecord taken = this.window.take(source);
		if (taken == null) {
			changed(1, now);
		}
		return taken;
	}

	/** Which acquisition it rests on. */
	long acquisition() {
		return this.acquisition;
	}

	/** The number of the last commit that was answered. */
	long acknowledgedCommit() {
		return this.acknowledgedCommit;
	}

	/** The offset that was committed with it. */
	@Nullable Offset acknowledgedOffset() {
		return this.acknowledgedOffset;
	}

	/** Whether nothing that was taken up is left to be done, or to be committed. */
	boolean isAtEnd() {
		return this.window.isEmpty() && this.queue.isEmpty() && this.sent == null && this.uncommittedDue == null;
	}

	/**
	 * A record counts: what it wrote to the state, and its offset, are to be committed.
	 */
	void done(TrackedRecord record, MonotonicTime since) {
		this.state.settle(record.takeChanges());
		if (record.isOfQueue()) {
			record.done();
			this.pending.take(record.offset());
		}
		else {
			this.window.done(record);
		}
		changed(1, since);
	}

	/** A record is put into the retry queue, and the shard goes on. */
	void park(TrackedRecord record, FailedRecord failed, Duration delay, MonotonicTime now) {
		this.pending.park(failed, delay, record.isOfQueue());
		putAside(record, now);
	}

	/** A record is stored as a dead letter, and the shard goes on. */
	void bury(TrackedRecord record, FailedRecord failed, MonotonicTime now) {
		this.pending.bury(failed);
		if (record.isOfQueue()) {
			this.pending.take(record.offset());
		}
		putAside(record, now);
	}

	private void putAside(TrackedRecord record, MonotonicTime now) {
		if (record.isOfQueue()) {
			record.done();
		}
		else {
			this.window.done(record);
		}
		changed(1, now);
		// Its payload is kept in memory until then.
		commitSoon();
	}

	/** What was written to the state without a record is to be committed. */
	void settled(JournaledState.Changes changes, MonotonicTime now) {
		if (changes != JournaledState.Changes.NONE) {
			this.state.settle(changes);
			changed(1, now);
		}
	}

	private void changed(int records, MonotonicTime since) {
		this.uncommittedRecords += records;
		if (this.uncommittedDue == null) {
			this.uncommittedDue = since.plus(this.settings.interval());
		}
	}

	/** What there is to commit now, if anything, shall not wait for its time. */
	void commitSoon() {
		this.commitSoon = this.uncommittedDue != null;
	}

	/**
	 * Whether a commit is sent again that the store has not accepted before: what kept it
	 * from that may still do so.
	 */
	boolean isRepeating() {
		return this.sent != null && this.sent.failed;
	}

	/**
	 * When the next commit is due by time; {@code null} if there is nothing to commit.
	 */
	@Nullable MonotonicTime commitDue() {
		return (this.sent == null) ? this.uncommittedDue : null;
	}

	/** Whether nothing more is to be handed out before a commit was answered. */
	boolean mustWait() {
		return this.sent != null
				&& (this.settings.mode() == CommitMode.BATCH || this.uncommittedRecords >= this.settings.records()
						|| this.pending.putAside() >= MOST_PUT_ASIDE || uncommittedBytes() >= BYTES_PER_COMMIT);
	}

	private long uncommittedBytes() {
		return this.state.uncommittedBytes() + this.pending.bytes();
	}

	/**
	 * What the store has of it may be lost or out of date: the next commit writes all of
	 * it.
	 */
	void distrustStore() {
		this.storeDistrusted = true;
	}

	/**
	 * Takes in the answer to the last commit, and sends the next one if it is due.
	 * @throws StoreUnavailableException when there was no answer; to be called again
	 */
	Outcome advance(MonotonicTime now) {
		return advance(now, false);
	}

	/** The same, but sends whatever there is. */
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
			if (!this.storeDistrusted && (this.uncommittedDue == null || !send && !isCommitDue(now))) {
				return Outcome.DONE;
			}
			Outcome prepared = this.storeDistrusted ? writeBack() : prepare();
			if (prepared != Outcome.DONE) {
				return prepared;
			}
		}
	}

	private boolean isCommitDue(MonotonicTime now) {
		MonotonicTime due = commitDue();
		return this.commitSoon || this.uncommittedRecords >= this.settings.records()
				|| uncommittedBytes() >= BYTES_PER_COMMIT || due != null && !now.isBefore(due);
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
	 * Makes a checkpoint anew, from memory. Only while the shard is held: otherwise a
	 * newer owner may have begun without one. A seek that is pending stays so: it was not
	 * carried out yet by what is in memory.
	 */
	private Outcome writeBack() {
		if (!this.owned.isHeld()) {
			return Outcome.NOT_YET;
		}
		Acquisition reply = this.context.checkpoints().acquireNow(this.owned.shard(), this.owned.token());
		if (!(reply instanceof Acquisition.Acquired acquired)) {
			return Outcome.FENCED;
		}
		tellOtherHistory(acquired);
		this.acquisition = acquired.acquisition();
		Map<String, @Nullable String> whole = new HashMap<>(this.state.settledEntries());
		acquired.checkpoint().state().keySet().forEach((key) -> whole.putIfAbsent(key, null));
		this.state.takeUncommitted();
		this.pending.seek(this.sought);
		this.storeDistrusted = false;
		prepared(this.pending, this.pending.commit(CommitNumber.ofWhole(++this.commitAttempts), this.window.position(),
				this.window.ahead(), whole), true);
		return Outcome.DONE;
	}

	/**
	 * A store that was only set back has no commits of others but those that are the base
	 * of what is here. One that has more has another past.
	 */
	private void tellOtherHistory(Acquisition.Acquired acquired) {
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
						this.owned.token(), this.state.settledEntries().size(), this.window.position(), TWO_MASTERS);
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
		this.queue.committed(answered.contents.settled(), now);
		answered.contents.retries().forEach((retry) -> this.queue.lookAt(now.plus(retry.delay())));
		if (answered.whole) {
			logger.info("The store has lost writes: {} was written back at offset {}, with {} entries of state",
					this.owned, answered.commit.offset(), answered.commit.changes().size());
		}
	}

	/**
	 * The store does not know what the commit rests on: everything goes into the next.
	 */
	private Outcome gone(Sent lost) {
		this.sent = null;
		this.pending = this.pending.after(lost.contents);
		if (this.uncommittedDue == null) {
			this.uncommittedDue = this.context.clock().now();
		}
		this.storeDistrusted = true;
		return lost.whole ? Outcome.NOT_YET : Outcome.DONE;
	}

	/** A commit under way. */
	private static final class Sent {

		private final Commit commit;

		private final PendingCommit contents;

		/** Whether it writes everything. */
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

	/** How the commits stand. */
	enum Outcome {

		/** There is nothing to do for them now. */
		DONE,
		/** One is on its way; its answer wakes the worker. */
		SENT,
		/** A newer owner has acquired the shard; nothing was written. */
		FENCED,
		/**
		 * The store has no checkpoint to write to, and none may be made while the shard
		 * is not held.
		 */
		NOT_YET

	}

}
