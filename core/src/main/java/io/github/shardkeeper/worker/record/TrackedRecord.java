package io.github.shardkeeper.worker.record;

import java.time.Instant;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.state.JournaledState;

/**
 * Record on its way from the source or the retry queue to the checkpoint, or a timer that
 * is due. Confined to the shard's worker, but for what a call in a transaction reads and
 * writes.
 */
public final class TrackedRecord {

	private final Offset offset;

	private final Offset identity;

	private final Offset position;

	/** {@code null} once it is handled. */
	private @Nullable SourceRecord source;

	/** Entry of the retry queue, {@code null} for what is not from there. */
	private final @Nullable FailedRecord queued;

	/** Timer that it stands for, {@code null} for a record. */
	private final @Nullable StoredTimer timer;

	/** Whether another call has set or cancelled the timer since. */
	private volatile boolean replaced;

	private JournaledState.@Nullable Changes changes;

	/** What its call has done besides, to be committed with it. */
	private CallEffects effects = CallEffects.NONE;

	private boolean handled;

	private boolean acknowledged;

	private boolean done;

	/** Guarded by the turn to commit the shard. */
	private boolean written;

	TrackedRecord(SourceRecord source) {
		this(source, null, null);
	}

	private TrackedRecord(SourceRecord source, @Nullable FailedRecord queued, @Nullable StoredTimer timer) {
		this.source = source;
		this.offset = source.offset();
		this.identity = source.identity();
		this.position = source.position();
		this.queued = queued;
		this.timer = timer;
	}

	public static TrackedRecord ofQueue(FailedRecord queued) {
		return new TrackedRecord(new SourceRecord(queued.offset(), queued.key(), queued.payload(), queued.headers(),
				queued.timestamp().toEpochMilli()), queued, null);
	}

	/** Returns a timer that is due, in the form of a record. */
	public static TrackedRecord ofTimer(StoredTimer timer, SourceRecord source) {
		return new TrackedRecord(source, null, timer);
	}

	public Offset offset() {
		return this.offset;
	}

	/** Returns what identifies it in every read of the shard. */
	Offset identity() {
		return this.identity;
	}

	/** Returns what the checkpoint keeps once it and all before it are done. */
	Offset position() {
		return this.position;
	}

	public SourceRecord source() {
		SourceRecord read = this.source;
		if (read == null) {
			throw new IllegalStateException("The record at " + this.offset + " was handled already");
		}
		return read;
	}

	public boolean isOfQueue() {
		return this.queued != null;
	}

	/** Returns whether it is a timer that comes from the timers of the shard. */
	public boolean isTimer() {
		return this.timer != null;
	}

	public StoredTimer timer() {
		return Objects.requireNonNull(this.timer, "not a timer");
	}

	/** Marks a timer as set or cancelled by another call. On any thread. */
	public void replaced() {
		this.replaced = true;
	}

	/** Returns whether it is a timer that must not fire any more. */
	public boolean isReplaced() {
		return this.replaced;
	}

	/** Returns the number of times that it was put into the retry queue. */
	public int rounds() {
		return (this.queued != null) ? this.queued.rounds() : 0;
	}

	/** Returns the number of calls before it was put into the retry queue. */
	public int earlierCalls() {
		return (this.queued != null) ? this.queued.attempts() : 0;
	}

	/** Returns its place in the order of its key, 0 if it has none. */
	public long place() {
		return (this.queued != null) ? this.queued.place() : 0;
	}

	/** Returns the time of its last failure; {@code null} if it is not of the queue. */
	public @Nullable Instant failedAt() {
		return (this.queued != null) ? this.queued.failedAt() : null;
	}

	/** Returns its last failure as text, empty if it is not of the queue. */
	public String lastException() {
		return (this.queued != null) ? this.queued.exception() : "";
	}

	/** Marks it as handled; its changes of the state wait until it is done. */
	public void handled(JournaledState.Changes written) {
		this.handled = true;
		this.changes = written;
		this.source = null;
	}

	public boolean isHandled() {
		return this.handled;
	}

	public boolean isAcknowledged() {
		return this.acknowledged;
	}

	public void acknowledged() {
		this.acknowledged = true;
	}

	/** Returns the changes of the state once, {@code NONE} after that. */
	public JournaledState.Changes takeChanges() {
		JournaledState.Changes taken = this.changes;
		this.changes = null;
		return (taken != null) ? taken : JournaledState.Changes.NONE;
	}

	/** Sets what its call has done besides; that waits until it is done. */
	public void effects(CallEffects done) {
		this.effects = done;
	}

	/** Returns whether its call has set or cancelled timers, and that waits. */
	public boolean changesTimers() {
		return !this.effects.timers().isEmpty();
	}

	/** Returns what its call has done besides once, nothing after that. */
	public CallEffects takeEffects() {
		CallEffects taken = this.effects;
		this.effects = CallEffects.NONE;
		return taken;
	}

	/**
	 * Marks it as written by the transaction of its call, whose result the worker has
	 * still to process. Only with the turn to commit.
	 */
	public void written() {
		this.written = true;
	}

	boolean isWritten() {
		return this.written;
	}

	public void done() {
		this.done = true;
		this.source = null;
	}

	public boolean isDone() {
		return this.done;
	}

}
