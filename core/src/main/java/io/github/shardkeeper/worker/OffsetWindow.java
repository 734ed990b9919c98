package io.github.shardkeeper.worker;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Window of records that were taken up: all below it are done, its lowest record is not.
 * The offset to commit is that of the last record below it. Records inside it that are
 * done already are remembered, so that nobody handles them again. Confined to the shard's
 * worker.
 */
final class OffsetWindow {

	private final int limit;

	/** The first is not done. */
	private final Deque<TrackedRecord> records = new ArrayDeque<>();

	/** Done under an earlier owner and not read again yet; in the shard's order. */
	private final Set<Offset> doneBefore;

	private @Nullable Offset position;

	private int doneInside;

	/**
	 * Creates an empty window.
	 * @param limit the maximum number of records in it
	 * @param position the last record that is done, with all before it
	 * @param ahead records beyond it that are done too
	 */
	OffsetWindow(int limit, @Nullable Offset position, Set<Offset> ahead) {
		this.limit = limit;
		this.position = position;
		this.doneBefore = new LinkedHashSet<>(ahead);
	}

	/** Returns whether no more records may be taken up before the lowest is done. */
	boolean isFull() {
		return this.records.size() >= this.limit;
	}

	int size() {
		return this.records.size();
	}

	boolean isEmpty() {
		return this.records.isEmpty();
	}

	/**
	 * Takes up the next record of the shard; {@code null} if it is done already.
	 */
	@Nullable TrackedRecord take(SourceRecord source) {
		TrackedRecord taken = new TrackedRecord(source);
		this.records.add(taken);
		if (!this.doneBefore.isEmpty() && this.doneBefore.contains(source.offset())) {
			forgetUpTo(source.offset());
			done(taken);
			return null;
		}
		return taken;
	}

	/** Forgets those before it, too: they are not in the shard any more, or were met. */
	private void forgetUpTo(Offset met) {
		Iterator<Offset> each = this.doneBefore.iterator();
		boolean found = false;
		while (!found) {
			found = each.next().equals(met);
			each.remove();
		}
	}

	/** Marks a record of the window as done. */
	void done(TrackedRecord taken) {
		if (taken.isDone()) {
			return;
		}
		taken.done();
		if (this.records.peek() != taken) {
			this.doneInside++;
			return;
		}
		this.position = taken.offset();
		this.records.remove();
		for (TrackedRecord next = this.records.peek(); next != null && next.isDone(); next = this.records.peek()) {
			this.position = next.offset();
			this.records.remove();
			this.doneInside--;
		}
	}

	/** Returns the last record that is done with all before it, {@code null} for none. */
	@Nullable Offset position() {
		return this.position;
	}

	/** Returns the records beyond the position that are done, in the shard's order. */
	Set<Offset> ahead() {
		if (this.doneInside == 0 && this.doneBefore.isEmpty()) {
			return Set.of();
		}
		Set<Offset> ahead = new LinkedHashSet<>();
		Iterator<TrackedRecord> each = this.records.iterator();
		for (int left = this.doneInside; left > 0;) {
			TrackedRecord next = each.next();
			if (next.isDone()) {
				ahead.add(next.offset());
				left--;
			}
		}
		// Not read yet, so behind all that were taken up.
		ahead.addAll(this.doneBefore);
		return ahead;
	}

}
