package io.github.shardkeeper.worker.timer;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.handler.TimerRecord;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.retry.RetryQueue;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Timers of an owned shard. The owner is the only one that changes them, so it knows the
 * next ones without asking the store, which it reads by the page. A timer that is due is
 * handed out as a record, in the order of the times; it stays in the store until the
 * commit of its call removes it. One whose key waits in the retry queue stays here, so
 * that an earlier record of the key can still cancel it.
 * <p>
 * Due is what the wall clock of the owner says: a clock that is set back delays timers,
 * and repeats none. Confined to the shard's worker, except for {@link #writtenByCall},
 * which belongs to the call that has the turn to commit.
 */
public final class TimerQueue implements CommitPart.Sized, CommitPart.Gate {

	/** Number of timers that are read at once. */
	static final int PAGE = 1_000;

	/** Maximum number that are handed out and not done: the store has them, too. */
	private static final int MAX_HANDED_OUT = 1_000;

	/** Maximum number of changes in a commit, unless one call makes more. */
	private static final int MAX_PER_COMMIT = 10_000;

	/** Maximum wait before the wall clock is read again: it may have been set. */
	private static final Duration MAX_WAIT = Duration.ofMinutes(1);

	private final ShardId shard;

	private final CheckpointStore checkpoints;

	private final RetryQueue retries;

	private final InstantSource wallClock;

	/** Begin of the ids of what is handed out; no other ownership has it. */
	private final String ownership;

	private final int maxBehindKeys;

	private final TimerWindow window = new TimerWindow();

	private final TimerChanges changes = new TimerChanges();

	/** Due timers whose keys wait in the retry queue. */
	private final Map<TimerId, StoredTimer> behindKeys = new LinkedHashMap<>();

	/** Number of keys that had ceased to wait when these were looked at. */
	private long releasedKeys;

	/** Timers that are handed out, unless they were replaced since. */
	private final Map<TimerId, TrackedRecord> handedOut = new ConcurrentHashMap<>();

	/**
	 * What calls in transactions have committed, in the order of their commits;
	 * {@code null} before the first one.
	 */
	private volatile @Nullable Queue<Map<TimerId, @Nullable Instant>> written;

	private long handedOutEver;

	/** Number of calls that have changed timers and are not acknowledged. */
	private int unacknowledged;

	/** Whether the store has timers that the next commit removes. */
	private boolean clearing;

	/**
	 * Creates a queue.
	 * @param lastCommit the number of the last commit before this ownership
	 * @param kept whether the handler has timers; otherwise the queue is empty
	 */
	public TimerQueue(OwnedShard owned, RetryQueue retries, long lastCommit, boolean kept) {
		this.shard = owned.shard();
		this.checkpoints = owned.context().checkpoints();
		this.retries = retries;
		this.wallClock = owned.context().wallClock();
		this.ownership = owned.token().value() + "." + lastCommit + ".";
		this.maxBehindKeys = owned.settings().parking().maxRecords();
		if (!kept) {
			this.window.complete();
		}
	}

	/**
	 * Processes that the next commit carries out a seek that clears the state: with it
	 * the store removes all timers. Only before the first call, which waits for it.
	 */
	public void clear() {
		this.clearing = !this.window.isComplete();
	}

	/** Reads the store again: it may have timers that are not known here. */
	public void attend() {
		this.window.readAgain();
	}

	/**
	 * Hands out the next due timer; {@code null} if there is none.
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not reply
	 */
	public @Nullable TrackedRecord next(MonotonicTime now) {
		takeWritten();
		takeReleased();
		if (isStalled() || first() == null) {
			return null;
		}
		Instant time = this.wallClock.instant();
		for (StoredTimer first = first(); first != null && !first.due().isAfter(time); first = first()) {
			this.window.remove(first.id());
			TrackedRecord record = asRecord(first);
			if (this.retries.mustWait(record.source())) {
				this.behindKeys.put(first.id(), first);
				if (isStalled()) {
					return null;
				}
				continue;
			}
			this.handedOut.put(first.id(), record);
			// After that: a call that commits now finds it, or is found here.
			takeWritten();
			if (!record.isReplaced()) {
				return record;
			}
		}
		return null;
	}

	private TrackedRecord asRecord(StoredTimer timer) {
		return TrackedRecord.ofTimer(timer, TimerRecord.of(timer.id().key(), timer.id().name(), timer.due(),
				timer.due().toEpochMilli() + ":" + this.ownership + ++this.handedOutEver));
	}

	/** Returns the next timer, due or not, and reads the store if it is not known. */
	private @Nullable StoredTimer first() {
		if (this.window.needsReading()) {
			readStore();
		}
		return this.window.first();
	}

	private void readStore() {
		StoredTimer after = this.window.beginReading();
		while (this.window.needsReading()) {
			List<StoredTimer> page = this.checkpoints.timers(this.shard, after, PAGE);
			this.window.read(page, this::isNewer);
			this.changes.forEach((id, due) -> {
				if (due != null && !isTaken(id)) {
					this.window.putUncommitted(new StoredTimer(id, due));
				}
			});
			takeWritten();
			after = page.isEmpty() ? this.window.beginReading() : page.get(page.size() - 1);
		}
	}

	private boolean isNewer(TimerId id) {
		return isTaken(id) || this.changes.contains(id);
	}

	private boolean isTaken(TimerId id) {
		return this.handedOut.containsKey(id) || this.behindKeys.containsKey(id);
	}

	/** Returns whether none is handed out before others, or calls, are done. */
	private boolean isStalled() {
		return this.unacknowledged > 0 || this.handedOut.size() >= MAX_HANDED_OUT
				|| !this.behindKeys.isEmpty() && this.behindKeys.size() >= this.maxBehindKeys;
	}

	/** Looks again at those behind keys, once some of the keys do not wait any more. */
	private void takeReleased() {
		if (this.behindKeys.isEmpty() || this.retries.releasedKeys() == this.releasedKeys) {
			return;
		}
		this.releasedKeys = this.retries.releasedKeys();
		List<StoredTimer> waiting = List.copyOf(this.behindKeys.values());
		this.behindKeys.clear();
		waiting.forEach(this.window::put);
	}

	/** Returns when to ask for the next timer, {@code null} for not before an event. */
	public @Nullable MonotonicTime nextLook(MonotonicTime now) {
		takeWritten();
		if (isStalled()) {
			return null;
		}
		if (this.window.needsReading()) {
			return now;
		}
		StoredTimer first = this.window.first();
		if (first == null) {
			return null;
		}
		Duration wait = Duration.between(this.wallClock.instant(), first.due());
		return now.plus(wait.isNegative() ? Duration.ZERO : (wait.compareTo(MAX_WAIT) < 0) ? wait : MAX_WAIT);
	}

	/** Takes back a timer that was handed out: its key waits in the retry queue now. */
	public void giveBack(TrackedRecord record) {
		StoredTimer timer = record.timer();
		if (this.handedOut.remove(timer.id(), record)) {
			this.behindKeys.put(timer.id(), timer);
		}
	}

	/**
	 * Removes a timer that was handed out with the next commit: its call has succeeded,
	 * or it is set aside as a failed record.
	 */
	public void done(TrackedRecord record) {
		TimerId id = record.timer().id();
		if (this.handedOut.remove(id, record)) {
			this.changes.add(id, null);
		}
	}

	/**
	 * Hands out none until a call is acknowledged that has changed timers: the state has
	 * its changes already, and the timers get them only then.
	 */
	public void awaitAcknowledgment() {
		this.unacknowledged++;
	}

	/** Processes that such a call is acknowledged, and changes the timers next. */
	public void acknowledged() {
		this.unacknowledged--;
	}

	/** Sets and cancels timers with the next commit. */
	public void change(Map<TimerId, @Nullable Instant> changed) {
		takeWritten();
		changed.forEach((id, due) -> {
			know(id, due);
			this.changes.add(id, due);
		});
	}

	private void know(TimerId id, @Nullable Instant due) {
		TrackedRecord before = this.handedOut.remove(id);
		if (before != null) {
			before.replaced();
		}
		this.behindKeys.remove(id);
		this.window.remove(id);
		if (due != null) {
			this.window.put(new StoredTimer(id, due));
		}
	}

	/**
	 * Returns what the transaction of a call changes.
	 * @param records the records of the call, of which it removes those that are timers
	 * @param changed what the call has set and cancelled
	 */
	public static Map<TimerId, @Nullable Instant> changesOfCall(List<TrackedRecord> records,
			Map<TimerId, @Nullable Instant> changed) {
		if (!records.get(0).isTimer()) {
			return changed;
		}
		Map<TimerId, @Nullable Instant> all = new HashMap<>();
		all.put(records.get(0).timer().id(), null);
		all.putAll(changed);
		return all;
	}

	/**
	 * Processes what the transaction of a call has committed. With the turn to commit, on
	 * any thread.
	 */
	public void writtenByCall(List<TrackedRecord> records, Map<TimerId, @Nullable Instant> changed) {
		if (changed.isEmpty()) {
			return;
		}
		Queue<Map<TimerId, @Nullable Instant>> all = (this.written != null) ? this.written
				: new ConcurrentLinkedQueue<>();
		all.add(changed);
		this.written = all;
		for (TimerId id : changed.keySet()) {
			TrackedRecord other = this.handedOut.get(id);
			if (other != null && !records.contains(other)) {
				other.replaced();
			}
		}
	}

	private void takeWritten() {
		Queue<Map<TimerId, @Nullable Instant>> all = this.written;
		if (all == null) {
			return;
		}
		for (Map<TimerId, @Nullable Instant> next = all.poll(); next != null; next = all.poll()) {
			next.forEach(this::know);
		}
	}

	/** A shard is not at its end while timers wait. */
	@Override
	public boolean isEmpty() {
		return this.changes.isEmpty() && this.window.isComplete() && this.window.isEmpty() && this.behindKeys.isEmpty()
				&& this.handedOut.isEmpty() && (this.written == null || this.written.isEmpty());
	}

	@Override
	public long bytes() {
		return this.changes.bytes();
	}

	@Override
	public boolean isLarge() {
		return this.changes.size() >= MAX_PER_COMMIT;
	}

	/** Calls in transactions commit what they change themselves. */
	@Override
	public boolean isExclusive() {
		return !this.changes.isEmpty();
	}

	/** Before that is written, the store would return timers that are cleared. */
	@Override
	public boolean permitsCalls() {
		return !this.clearing;
	}

	@Override
	public Added addTo(Commit.Builder commit) {
		if (this.changes.isEmpty() && !this.clearing) {
			return Added.NOTHING;
		}
		commit.timers(this.changes.take());
		return new Taken(false);
	}

	/**
	 * Adds the latest changes and the timers that are known. Those that were committed
	 * long ago, and are due later, are not known here: they are in the store, or lost.
	 */
	@Override
	public Added addAllTo(Commit.Builder commit, Acquired stored) {
		Map<TimerId, @Nullable Instant> all = this.changes.takeAll();
		this.window.all().forEach((timer) -> all.put(timer.id(), timer.due()));
		all.putAll(dues(this.behindKeys));
		this.handedOut.forEach((id, record) -> all.put(id, record.timer().due()));
		commit.timers(all);
		return new Taken(true);
	}

	private static Map<TimerId, Instant> dues(Map<TimerId, StoredTimer> timers) {
		Map<TimerId, Instant> dues = new HashMap<>();
		timers.forEach((id, timer) -> dues.put(id, timer.due()));
		return dues;
	}

	private final class Taken implements Added {

		private final boolean whole;

		private Taken(boolean whole) {
			this.whole = whole;
		}

		@Override
		public void committed() {
			TimerQueue.this.changes.committed();
			TimerQueue.this.clearing = false;
			if (this.whole) {
				attend();
			}
		}

		@Override
		public void notCommitted() {
			TimerQueue.this.changes.notCommitted();
		}

	}

}
