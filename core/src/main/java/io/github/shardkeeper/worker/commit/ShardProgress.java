package io.github.shardkeeper.worker.commit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.JournaledState;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.output.ShardOutbox;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.CallEffects;
import io.github.shardkeeper.worker.record.OffsetWindow;
import io.github.shardkeeper.worker.record.RecordBuffer;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.retry.RetryQueue;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.StateRead;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;
import io.github.shardkeeper.worker.timer.TimerQueue;

/**
 * Progress of an acquired shard since its checkpoint, and the contents of the next
 * commit, which a {@link Committer} sends. Confined to the shard's worker, except for
 * what is {@linkplain #publish published}.
 */
public final class ShardProgress {

	/**
	 * Size from which a commit is due: large commits block the store, and Redis closes
	 * the connection of a client that sends a gigabyte at once.
	 */
	private static final int MAX_BYTES_PER_COMMIT = 1_000_000;

	/**
	 * Part of the commit interval for which an idle shard waits: so many times more often
	 * than at the interval it commits at most, if its records come one by one.
	 */
	private static final int IDLE_COMMITS_PER_INTERVAL = 5;

	/**
	 * Time for which an idle shard waits at least; a shorter interval is not shortened.
	 */
	private static final Duration MIN_IDLE_TIME = Duration.ofSeconds(1);

	private final ConsumerSettings.Commits settings;

	private final @Nullable Offset begin;

	private final OffsetWindow window;

	private final JournaledState state;

	private final ExpiredEntries expired;

	private final Repositioning repositioning;

	private final RetryQueue queue;

	private final FailedRecords failed;

	private final TimerQueue timers;

	/** All parts of a commit. What removes entries of the state is before it. */
	private final CommitPart[] parts;

	private final ShardOutbox outbox;

	/** What calls in transactions commit beside their records; taken by them. */
	private final AtomicReference<Published> published = new AtomicReference<>(Published.NOTHING);

	private int uncommittedRecords;

	private @Nullable MonotonicTime commitDue;

	/** When a commit is due if nothing changes, {@code null} while the shard is busy. */
	private @Nullable MonotonicTime idleCommitDue;

	private boolean commitSoon;

	/**
	 * Creates the progress at the checkpoint, or at the position of a pending seek.
	 * @param hasTimers whether the handler has timers
	 */
	public ShardProgress(Acquisition.Acquired acquired, OwnedShard owned, ShardOutbox outbox, CommitNumbers numbers,
			boolean hasTimers) {
		ConsumerSettings consumer = owned.settings();
		WorkerContext context = owned.context();
		MonotonicTime now = context.clock().now();
		Checkpoint checkpoint = acquired.checkpoint();
		SeekRequest seek = acquired.seeks().pending();
		this.settings = consumer.commits();
		this.outbox = outbox;
		this.begin = (seek != null) ? seek.after() : checkpoint.offset();
		this.window = new OffsetWindow(consumer.maxAhead(), this.begin, (seek != null) ? Set.of() : checkpoint.ahead());
		this.state = state(checkpoint, owned, numbers);
		this.expired = new ExpiredEntries(this.state, context.wallClock(), now);
		Duration dueIn = checkpoint.retryDueIn();
		this.queue = RetryQueue.of(owned, (dueIn != null) ? now.plus(dueIn) : null);
		this.failed = new FailedRecords(this.queue, context.clock(), context.wallClock());
		this.repositioning = new Repositioning(acquired.seeks());
		this.timers = new TimerQueue(owned, this.queue, acquired.lastCommit(), hasTimers);
		this.parts = new CommitPart[] { this.repositioning, this.expired, this.state, this.failed, this.timers,
				this.outbox };
		if (seek != null) {
			if (seek.clearsState()) {
				this.state.clear();
				this.timers.clear();
			}
			recordSeek(now);
		}
	}

	private static JournaledState state(Checkpoint checkpoint, OwnedShard owned, CommitNumbers numbers) {
		ConsumerSettings settings = owned.settings();
		WorkerContext context = owned.context();
		boolean shared = settings.ordering() != ConsumerSettings.Ordering.SHARD;
		if (settings.stateRead() == StateRead.ON_ACQUISITION) {
			return new JournaledState(checkpoint.state(), context.stateValues(), settings.stateTtl(), shared);
		}
		boolean inTransactions = context.checkpoints().transactions(owned.shard().topic()) != null;
		return JournaledState.onUse(context.stateCache(), new OwnedStateSource(owned, numbers), inTransactions,
				context.stateValues(), settings.stateTtl(), shared);
	}

	public void recordSeek(MonotonicTime now) {
		this.repositioning.recordSeek();
		changed(1, now);
		commitSoon();
	}

	/** Returns the offset after which to read, {@code null} for the first record. */
	public @Nullable Offset begin() {
		return this.begin;
	}

	public long sought() {
		return this.repositioning.sought();
	}

	public JournaledState state() {
		return this.state;
	}

	public OffsetWindow window() {
		return this.window;
	}

	public RetryQueue queue() {
		return this.queue;
	}

	public TimerQueue timers() {
		return this.timers;
	}

	ShardOutbox outbox() {
		return this.outbox;
	}

	public @Nullable TrackedRecord take(SourceRecord source, MonotonicTime now) {
		TrackedRecord taken = this.window.take(source);
		if (taken == null) {
			changed(1, now);
		}
		return taken;
	}

	/** Returns whether every record is done, and there is nothing to commit. */
	public boolean isAtEnd() {
		for (CommitPart part : this.parts) {
			if (!part.isEmpty()) {
				return false;
			}
		}
		return this.window.isEmpty() && this.commitDue == null;
	}

	/** Marks a record as done: offset and changes of state go into the next commit. */
	public void done(TrackedRecord record, MonotonicTime since) {
		this.state.makeCommittable(record.takeChanges());
		if (record.isOfQueue()) {
			this.failed.remove(record);
		}
		leave(record);
		changed(1, since);
		add(record.takeEffects(), since);
	}

	/** A timer is removed before what its call has set. */
	private void leave(TrackedRecord record) {
		if (record.isTimer()) {
			this.timers.done(record);
		}
		if (record.isTimer() || record.isOfQueue()) {
			record.done();
		}
		else {
			this.window.done(record);
		}
	}

	/** Marks a record as done that the transaction of its call has written. */
	public void written(TrackedRecord record) {
		if (record.isTimer()) {
			record.done();
			return;
		}
		if (record.isOfQueue()) {
			this.failed.removed(record);
		}
		leave(record);
	}

	/**
	 * Returns whether the next commit must be one of the worker's own, while no call
	 * runs: calls begin with what it changes.
	 */
	boolean mustCommitAlone() {
		for (CommitPart part : this.parts) {
			if (part.isExclusive()) {
				return true;
			}
		}
		return false;
	}

	/** Returns whether records may be handled before the next commit is answered. */
	public boolean permitsCalls() {
		for (CommitPart part : this.parts) {
			if (!part.permitsCalls()) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Returns whether the next commit does nothing but remove records from the outbox
	 * that were forwarded: the next call can do that, too.
	 */
	boolean hasOnlyForwarded() {
		return this.commitDue != null && this.uncommittedRecords == 0 && !mustCommitAlone();
	}

	/**
	 * Lets the next transaction of a call commit the progress, too. A position and what
	 * belongs to its failed records are published in one step, so that no commit has one
	 * without the other. Not if it {@linkplain #mustCommitAlone() must be committed
	 * alone}.
	 */
	void publish() {
		Published now = new Published(this.window.snapshot(), this.failed.take(), this.commitDue,
				this.uncommittedRecords);
		this.published.updateAndGet((before) -> now.withContentsOf(before));
		nothingDue();
	}

	/** Takes back what was published and no call has committed. While no call runs. */
	void withdraw() {
		Published left = takePublished();
		if (left.due != null) {
			this.failed.giveBack(left.failed);
			this.uncommittedRecords += left.records;
			if (this.commitDue == null || left.due.isBefore(this.commitDue)) {
				this.commitDue = left.due;
			}
			if (left.failed.records() > 0) {
				commitSoon();
			}
		}
	}

	/**
	 * Takes what was published, for a transaction that has the turn to commit; its
	 * contents only once. On any thread.
	 */
	Published takePublished() {
		return this.published.getAndUpdate(Published::withoutContents);
	}

	/** Publishes again what a transaction has taken and not committed. On any thread. */
	void giveBack(Published taken) {
		this.published.updateAndGet((now) -> now.withContentsOf(taken));
	}

	/**
	 * Adds what a call has done besides to the next commit. That becomes due if the call
	 * has sent records: calls that return until the reply to the last one share it.
	 */
	public void add(CallEffects effects, MonotonicTime since) {
		if (!effects.timers().isEmpty()) {
			this.timers.change(effects.timers());
			changed(0, since);
		}
		if (!effects.sends().isEmpty()) {
			this.outbox.add(effects.sends());
			changed(0, since);
			commitSoon();
		}
	}

	/** Forwards what may be forwarded. The next commit removes it. */
	void forward(MonotonicTime now) {
		if (this.outbox.forward(now)) {
			changed(0, now);
			if (this.outbox.isExclusive()) {
				commitSoon();
			}
		}
	}

	/** Returns when to forward again what was not taken, {@code null} for not at all. */
	@Nullable MonotonicTime nextForward() {
		return this.outbox.nextAttempt();
	}

	/**
	 * Makes a commit due if there are entries of the state to remove.
	 * @param callsWait whether calls have to wait for that commit
	 */
	void lookForExpired(MonotonicTime now, boolean callsWait) {
		if (this.expired.look(now, callsWait)) {
			changed(0, now);
			if (this.expired.isBacklog()) {
				commitSoon();
			}
		}
	}

	/** Returns when to look again, {@code null} for not at all. */
	@Nullable MonotonicTime nextExpiry(MonotonicTime now) {
		return this.expired.nextLook(now);
	}

	/** Returns whether a record that is not of the queue waits for others of its key. */
	public boolean mustWait(TrackedRecord record) {
		return this.failed.mustWait(record);
	}

	/** Returns whether a record may wait in the retry queue. */
	public boolean mayWait(TrackedRecord record) {
		return this.failed.mayWait(record);
	}

	/** Puts a record behind those of its key with the next commit. */
	public void waitBehind(TrackedRecord record, MonotonicTime now) {
		this.failed.waitBehind(record, now);
		setAside(record, now);
	}

	/** Puts a failed record into the retry queue with the next commit. */
	public void retryLater(TrackedRecord record, FailedRecord failure, Duration delay, MonotonicTime now) {
		this.failed.retryLater(record, failure, delay, now);
		setAside(record, now);
	}

	/** Stores a failed record as a dead letter with the next commit. */
	public void deadLetter(TrackedRecord record, FailedRecord failure, MonotonicTime now) {
		this.failed.deadLetter(record, failure);
		setAside(record, now);
	}

	private void setAside(TrackedRecord record, MonotonicTime now) {
		leave(record);
		changed(1, now);
		// Its payload stays in memory until the commit.
		commitSoon();
	}

	/** Adds changes of the state that belong to no record to the next commit. */
	public void stateChanged(JournaledState.Changes changes, MonotonicTime now) {
		if (changes != JournaledState.Changes.NONE) {
			this.state.makeCommittable(changes);
			changed(1, now);
		}
	}

	/** Moves a shard without records with the next commit, which becomes due. */
	public void moveTo(Offset offset, MonotonicTime now) {
		this.window.moveTo(offset);
		changed(1, now);
	}

	/**
	 * Moves the shard to where its source reads on. No record may be handled before that
	 * is committed.
	 */
	public void moveTo(RecordBuffer.Move move, MonotonicTime now) {
		this.window.moveTo(move.after(), move.offsetsReused());
		this.repositioning.moveOfSource();
		changed(1, now);
		commitSoon();
	}

	/** Returns whether a move of the source is not committed yet. */
	public boolean isMoving() {
		return this.repositioning.isMoving();
	}

	private void changed(int records, MonotonicTime since) {
		this.uncommittedRecords += records;
		this.idleCommitDue = null;
		if (this.commitDue == null) {
			this.commitDue = since.plus(this.settings.interval());
		}
	}

	/**
	 * Makes what is uncommitted due sooner, because the shard has handled everything that
	 * it was given: nobody should have to wait for the interval to see where it is. Not
	 * at once, because its next record may be under way. A change begins the time anew,
	 * so that a shard whose records come in quick succession commits as rarely as one
	 * that is never idle.
	 */
	public void idle(MonotonicTime now) {
		if (this.commitDue != null && this.idleCommitDue == null) {
			Duration part = this.settings.interval().dividedBy(IDLE_COMMITS_PER_INTERVAL);
			this.idleCommitDue = now.plus((part.compareTo(MIN_IDLE_TIME) > 0) ? part : MIN_IDLE_TIME);
		}
	}

	/** Takes back {@link #idle}, because a call begins. */
	public void busy() {
		this.idleCommitDue = null;
	}

	/** Makes everything that is uncommitted now due at once. */
	public void commitSoon() {
		this.commitSoon = this.commitDue != null;
	}

	/**
	 * Returns when a commit is due by time: at the interval, counted from the first
	 * uncommitted change, or sooner if the shard is idle; {@code null} if there is
	 * nothing to commit.
	 */
	@Nullable MonotonicTime commitDue() {
		MonotonicTime idle = this.idleCommitDue;
		return (this.commitDue != null && idle != null && idle.isBefore(this.commitDue)) ? idle : this.commitDue;
	}

	boolean isCommitDue(MonotonicTime now) {
		MonotonicTime due = commitDue();
		return due != null && (this.commitSoon || this.uncommittedRecords >= this.settings.records()
				|| uncommittedBytes() >= MAX_BYTES_PER_COMMIT || !now.isBefore(due));
	}

	/** Returns whether the next commit should not become larger. */
	boolean isCommitFull() {
		for (CommitPart part : this.parts) {
			if (part.isLarge()) {
				return true;
			}
		}
		return this.uncommittedRecords >= this.settings.records() || uncommittedBytes() >= MAX_BYTES_PER_COMMIT;
	}

	private long uncommittedBytes() {
		long bytes = 0;
		for (CommitPart part : this.parts) {
			bytes += part.bytes();
		}
		return bytes;
	}

	FailedRecords failed() {
		return this.failed;
	}

	/** Returns a commit of the position, for {@link #addTo} or {@link #addAllTo}. */
	Commit.Builder commit(Commit.CommitNumber number) {
		return new Commit.Builder(number, this.window.position(), this.window.ahead());
	}

	/** Moves everything that is uncommitted into a commit. */
	List<CommitPart.Added> addTo(Commit.Builder commit) {
		List<CommitPart.Added> added = new ArrayList<>(this.parts.length);
		for (CommitPart part : this.parts) {
			added.add(part.addTo(commit));
		}
		nothingDue();
		return added;
	}

	/**
	 * Moves everything that is known into a commit, because the store has lost it.
	 * @param stored what the store has
	 */
	List<CommitPart.Added> addAllTo(Commit.Builder commit, Acquisition.Acquired stored) {
		List<CommitPart.Added> added = new ArrayList<>(this.parts.length);
		for (CommitPart part : this.parts) {
			added.add(part.addAllTo(commit, stored));
		}
		nothingDue();
		return added;
	}

	private void nothingDue() {
		this.uncommittedRecords = 0;
		this.commitDue = null;
		this.idleCommitDue = null;
		this.commitSoon = false;
	}

	/** Makes a commit due: one was not written. */
	void notCommitted(MonotonicTime now) {
		if (this.commitDue == null) {
			this.commitDue = now;
		}
	}

	/**
	 * Progress that is not committed. Immutable.
	 *
	 * @param failed the failed records that no transaction has taken
	 * @param due when a commit is due; {@code null} if there is nothing to commit
	 * @param records the number of records that are not committed; 0 if there are only
	 * records to remove from the outbox
	 */
	record Published(OffsetWindow.Snapshot window, FailedRecords.Changes failed, @Nullable MonotonicTime due,
			int records) {

		private static final Published NOTHING = new Published(OffsetWindow.Snapshot.EMPTY, FailedRecords.Changes.NONE,
				null, 0);

		private Published withContentsOf(Published earlier) {
			return (earlier.due == null) ? this : new Published(this.window, this.failed.after(earlier.failed),
					earlier.due, this.records + earlier.records);
		}

		private Published withoutContents() {
			return (this.due == null) ? this : new Published(this.window, FailedRecords.Changes.NONE, null, 0);
		}

	}

}
