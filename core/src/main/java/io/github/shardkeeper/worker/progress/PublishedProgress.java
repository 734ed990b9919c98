package io.github.shardkeeper.worker.progress;

import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.OffsetWindow;

/**
 * Progress that the next transaction of a call commits, too. A position and what belongs
 * to its failed records are published in one step, so that no commit has one without the
 * other. Thread-safe.
 */
public final class PublishedProgress {

	private final AtomicReference<Contents> contents = new AtomicReference<>(Contents.NOTHING);

	PublishedProgress() {
	}

	void publish(Contents now) {
		this.contents.updateAndGet((before) -> now.withContentsOf(before));
	}

	/**
	 * Takes what was published, for a transaction that has the turn to commit; its
	 * contents only once.
	 */
	public Contents take() {
		return this.contents.getAndUpdate(Contents::withoutContents);
	}

	/** Publishes again what a transaction has taken and not committed. */
	public void giveBack(Contents taken) {
		this.contents.updateAndGet((now) -> now.withContentsOf(taken));
	}

	/**
	 * Progress that is not committed. Immutable.
	 *
	 * @param failed the failed records that no transaction has taken
	 * @param due when a commit is due; {@code null} if there is nothing to commit
	 * @param records the number of records that are not committed; 0 if there are only
	 * records to remove from the outbox
	 */
	public record Contents(OffsetWindow.Snapshot window, FailedRecords.Changes failed, @Nullable MonotonicTime due,
			int records) {

		private static final Contents NOTHING = new Contents(OffsetWindow.Snapshot.EMPTY, FailedRecords.Changes.NONE,
				null, 0);

		private Contents withContentsOf(Contents earlier) {
			return (earlier.due == null) ? this : new Contents(this.window, this.failed.after(earlier.failed),
					earlier.due, this.records + earlier.records);
		}

		private Contents withoutContents() {
			return (this.due == null) ? this : new Contents(this.window, FailedRecords.Changes.NONE, null, 0);
		}

	}

}
