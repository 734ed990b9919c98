package io.github.shardkeeper.worker.progress;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.OffsetWindow;
import io.github.shardkeeper.worker.shard.ConsumerSettings;

/**
 * Next commit of a shard: the position, its parts, and when it is due. Confined to the
 * shard's worker, except for what is {@linkplain #publish published}.
 */
public final class NextCommit {

	/**
	 * Size from which a commit is due: large commits block the store, and Redis closes
	 * the connection of a client that sends a gigabyte at once.
	 */
	private static final int MAX_BYTES = 1_000_000;

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

	private final OffsetWindow window;

	private final FailedRecords failed;

	/** All parts of a commit. What removes entries of the state is before it. */
	private final CommitPart[] parts;

	/** Those of the parts that calls may have to wait for. */
	private final CommitPart.Gate[] gates;

	/** Those of the parts that have a size. */
	private final CommitPart.Sized[] sized;

	/** What calls in transactions commit besides their records. */
	private final PublishedProgress published = new PublishedProgress();

	/** Number of records that are not committed. */
	private int records;

	private @Nullable MonotonicTime due;

	/** When it is due if nothing changes, {@code null} while the shard is busy. */
	private @Nullable MonotonicTime idleDue;

	private boolean soon;

	NextCommit(ConsumerSettings.Commits settings, OffsetWindow window, FailedRecords failed, CommitPart... parts) {
		this.settings = settings;
		this.window = window;
		this.failed = failed;
		this.parts = parts;
		this.gates = Stream.of(parts).filter(CommitPart.Gate.class::isInstance).toArray(CommitPart.Gate[]::new);
		this.sized = Stream.of(parts).filter(CommitPart.Sized.class::isInstance).toArray(CommitPart.Sized[]::new);
	}

	void changed(int records, MonotonicTime since) {
		this.records += records;
		this.idleDue = null;
		if (this.due == null) {
			this.due = since.plus(this.settings.interval());
		}
	}

	/**
	 * Makes what is uncommitted due sooner, because the shard has handled everything that
	 * it was given: nobody should have to wait for the interval to see where it is. Not
	 * at once, because its next record may be under way. A change begins the time again,
	 * so that a shard whose records come in quick succession commits as rarely as one
	 * that is never idle.
	 */
	public void idle(MonotonicTime now) {
		if (this.due != null && this.idleDue == null) {
			Duration part = this.settings.interval().dividedBy(IDLE_COMMITS_PER_INTERVAL);
			this.idleDue = now.plus((part.compareTo(MIN_IDLE_TIME) > 0) ? part : MIN_IDLE_TIME);
		}
	}

	/** Takes back {@link #idle}, because a call begins. */
	public void busy() {
		this.idleDue = null;
	}

	/** Makes everything that is uncommitted now due at once. */
	public void commitSoon() {
		this.soon = this.due != null;
	}

	/** Makes a commit due: one was not written. */
	public void notCommitted(MonotonicTime now) {
		if (this.due == null) {
			this.due = now;
		}
	}

	/** Returns whether there is nothing to commit, and nothing to do after that. */
	boolean isEmpty() {
		for (CommitPart part : this.parts) {
			if (!part.isEmpty()) {
				return false;
			}
		}
		return this.due == null;
	}

	/**
	 * Returns when it is due by time: at the interval, counted from the first uncommitted
	 * change, or sooner if the shard is idle; {@code null} if there is nothing to commit.
	 */
	public @Nullable MonotonicTime due() {
		MonotonicTime idle = this.idleDue;
		return (this.due != null && idle != null && idle.isBefore(this.due)) ? idle : this.due;
	}

	public boolean isDue(MonotonicTime now) {
		MonotonicTime time = due();
		return time != null && (this.soon || this.records >= this.settings.records() || bytes() >= MAX_BYTES
				|| !now.isBefore(time));
	}

	/** Returns whether it should not become larger. */
	public boolean isFull() {
		for (CommitPart.Sized part : this.sized) {
			if (part.isLarge()) {
				return true;
			}
		}
		return this.records >= this.settings.records() || bytes() >= MAX_BYTES;
	}

	private long bytes() {
		long bytes = 0;
		for (CommitPart.Sized part : this.sized) {
			bytes += part.bytes();
		}
		return bytes;
	}

	/** Returns whether records may be handled before it is answered. */
	public boolean permitsCalls() {
		for (CommitPart.Gate gate : this.gates) {
			if (!gate.permitsCalls()) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Returns whether it must be one of the worker's own, while no call runs: calls begin
	 * with what it changes.
	 */
	public boolean isExclusive() {
		for (CommitPart part : this.parts) {
			if (part.isExclusive()) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Returns whether it does nothing but remove records from the outbox that were
	 * forwarded: the next call can do that, too.
	 */
	public boolean hasOnlyForwarded() {
		return this.due != null && this.records == 0 && !isExclusive();
	}

	/** Returns a commit of the position, for {@link #addTo} or {@link #addAllTo}. */
	public Commit.Builder begin(Commit.CommitNumber number) {
		return new Commit.Builder(number, this.window.position(), this.window.ahead());
	}

	/** Moves everything that is uncommitted into a commit. */
	public List<CommitPart.Added> addTo(Commit.Builder commit) {
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
	public List<CommitPart.Added> addAllTo(Commit.Builder commit, Acquisition.Acquired stored) {
		List<CommitPart.Added> added = new ArrayList<>(this.parts.length);
		for (CommitPart part : this.parts) {
			added.add(part.addAllTo(commit, stored));
		}
		nothingDue();
		return added;
	}

	private void nothingDue() {
		this.records = 0;
		this.due = null;
		this.idleDue = null;
		this.soon = false;
	}

	/** Returns what the next transaction of a call commits, too. Thread-safe. */
	public PublishedProgress published() {
		return this.published;
	}

	/**
	 * Lets the next transaction of a call commit the progress, too. Not if it
	 * {@linkplain #isExclusive() must be committed alone}.
	 */
	public void publish() {
		this.published.publish(
				new PublishedProgress.Contents(this.window.snapshot(), this.failed.take(), this.due, this.records));
		nothingDue();
	}

	/** Takes back what was published and no call has committed. While no call runs. */
	public void withdraw() {
		PublishedProgress.Contents left = this.published.take();
		MonotonicTime leftDue = left.due();
		if (leftDue != null) {
			this.failed.giveBack(left.failed());
			this.records += left.records();
			this.due = MonotonicTime.earliestOf(this.due, leftDue);
			if (left.failed().records() > 0) {
				commitSoon();
			}
		}
	}

}
