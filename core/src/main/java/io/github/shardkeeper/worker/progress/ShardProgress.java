package io.github.shardkeeper.worker.progress;

import java.time.Duration;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.output.ShardOutbox;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.state.StateSource;
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
 * Progress of an acquired shard since its checkpoint: what was done with its records, as
 * the {@linkplain #nextCommit next commit} stores it. Confined to the shard's worker.
 */
public final class ShardProgress {

	private final @Nullable Offset begin;

	private final OffsetWindow window;

	private final JournaledState state;

	private final ExpiredEntries expired;

	private final Repositioning repositioning;

	private final RetryQueue queue;

	private final FailedRecords failed;

	private final TimerQueue timers;

	private final ShardOutbox outbox;

	private final NextCommit nextCommit;

	/**
	 * Creates the progress at the checkpoint, or at the position of a pending seek.
	 * @param source the state in the store, if it is read on use
	 * @param hasTimers whether the handler has timers
	 */
	public ShardProgress(Acquisition.Acquired acquired, OwnedShard owned, ShardOutbox outbox, StateSource source,
			boolean hasTimers) {
		ConsumerSettings consumer = owned.settings();
		WorkerContext context = owned.context();
		MonotonicTime now = context.clock().now();
		Checkpoint checkpoint = acquired.checkpoint();
		SeekRequest seek = acquired.seeks().pending();
		this.outbox = outbox;
		this.begin = (seek != null) ? seek.after() : checkpoint.offset();
		this.window = new OffsetWindow(consumer.maxAhead(), this.begin, (seek != null) ? Set.of() : checkpoint.ahead());
		this.state = state(checkpoint, owned, source);
		this.expired = new ExpiredEntries(this.state, context.wallClock(), now);
		Duration dueIn = checkpoint.retryDueIn();
		this.queue = RetryQueue.of(owned, (dueIn != null) ? now.plus(dueIn) : null);
		this.failed = new FailedRecords(this.queue, context.clock(), context.wallClock());
		this.repositioning = new Repositioning(acquired.seeks());
		this.timers = new TimerQueue(owned, this.queue, acquired.lastCommit(), hasTimers);
		this.nextCommit = new NextCommit(consumer.commits(), this.window, this.failed, this.repositioning, this.expired,
				this.state, this.failed, this.timers, this.outbox);
		if (seek != null) {
			if (seek.clearsState()) {
				this.state.clear();
				this.timers.clear();
			}
			recordSeek(now);
		}
	}

	private static JournaledState state(Checkpoint checkpoint, OwnedShard owned, StateSource source) {
		ConsumerSettings settings = owned.settings();
		WorkerContext context = owned.context();
		boolean shared = settings.ordering() != ConsumerSettings.Ordering.SHARD;
		if (settings.stateRead() == StateRead.ON_ACQUISITION) {
			return new JournaledState(checkpoint.state(), context.stateValues(), settings.stateTtl(), shared);
		}
		return JournaledState.onUse(context.stateCache(), source, context.stateValues(), settings.stateTtl(), shared);
	}

	public void recordSeek(MonotonicTime now) {
		this.repositioning.recordSeek();
		this.nextCommit.changed(1, now);
		this.nextCommit.commitSoon();
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

	public ShardOutbox outbox() {
		return this.outbox;
	}

	/** Returns the records that are set aside, and those of the queue that are done. */
	public FailedRecords failed() {
		return this.failed;
	}

	public NextCommit nextCommit() {
		return this.nextCommit;
	}

	public @Nullable TrackedRecord take(SourceRecord source, MonotonicTime now) {
		TrackedRecord taken = this.window.take(source);
		if (taken == null) {
			this.nextCommit.changed(1, now);
		}
		return taken;
	}

	/** Returns whether every record is done, and there is nothing to commit. */
	public boolean isAtEnd() {
		return this.window.isEmpty() && this.nextCommit.isEmpty();
	}

	/** Marks a record as done: offset and changes of state go into the next commit. */
	public void done(TrackedRecord record, MonotonicTime since) {
		this.state.makeCommittable(record.takeChanges());
		if (record.isOfQueue()) {
			this.failed.remove(record);
		}
		leave(record);
		this.nextCommit.changed(1, since);
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
	 * Adds what a call has done besides to the next commit. That becomes due if the call
	 * has sent records: calls that return until the reply to the last one share it.
	 */
	public void add(CallEffects effects, MonotonicTime since) {
		if (!effects.timers().isEmpty()) {
			this.timers.change(effects.timers());
			this.nextCommit.changed(0, since);
		}
		if (!effects.sends().isEmpty()) {
			this.outbox.add(effects.sends());
			this.nextCommit.changed(0, since);
			this.nextCommit.commitSoon();
		}
	}

	/** Forwards what may be forwarded. The next commit removes it. */
	public void forward(MonotonicTime now) {
		if (this.outbox.forward(now)) {
			this.nextCommit.changed(0, now);
			if (this.outbox.isExclusive()) {
				this.nextCommit.commitSoon();
			}
		}
	}

	/** Returns when to forward again what was not taken, {@code null} for not at all. */
	public @Nullable MonotonicTime nextForward() {
		return this.outbox.nextAttempt();
	}

	/**
	 * Makes a commit due if there are entries of the state to remove.
	 * @param callsWait whether calls have to wait for that commit
	 */
	public void lookForExpired(MonotonicTime now, boolean callsWait) {
		if (this.expired.look(now, callsWait)) {
			this.nextCommit.changed(0, now);
			if (this.expired.isBacklog()) {
				this.nextCommit.commitSoon();
			}
		}
	}

	/** Returns when to look again, {@code null} for not at all. */
	public @Nullable MonotonicTime nextExpiry(MonotonicTime now) {
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
		this.nextCommit.changed(1, now);
		// Its payload stays in memory until the commit.
		this.nextCommit.commitSoon();
	}

	/** Adds changes of the state that belong to no record to the next commit. */
	public void stateChanged(JournaledState.Changes changes, MonotonicTime now) {
		if (changes != JournaledState.Changes.NONE) {
			this.state.makeCommittable(changes);
			this.nextCommit.changed(1, now);
		}
	}

	/** Moves a shard without records with the next commit, which becomes due. */
	public void moveTo(Offset offset, MonotonicTime now) {
		this.window.moveTo(offset);
		this.nextCommit.changed(1, now);
	}

	/**
	 * Moves the shard to where its source reads on. No record may be handled before that
	 * is committed.
	 */
	public void moveTo(RecordBuffer.Move move, MonotonicTime now) {
		this.window.moveTo(move.after(), move.offsetsReused());
		this.repositioning.moveOfSource();
		this.nextCommit.changed(1, now);
		this.nextCommit.commitSoon();
	}

	/** Returns whether a move of the source is not committed yet. */
	public boolean isMoving() {
		return this.repositioning.isMoving();
	}

}
