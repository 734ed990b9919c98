package io.github.shardkeeper.worker.record;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Window of records that are taken up. All records below it are done, its first one is
 * not; the last one below it is the position to commit. Done records inside it are
 * committed too, so that no owner handles them again. Confined to the shard's worker.
 */
public final class OffsetWindow {

	private final int limit;

	/** Begins small, as all queues of a shard: in a large group most are idle. */
	private final Deque<TrackedRecord> records = new ArrayDeque<>(1);

	/**
	 * Identities of records done by an earlier owner and not read again yet, in order.
	 */
	private final Set<Offset> doneBefore;

	private @Nullable Offset position;

	private int doneInside;

	/** Creates an empty window after a position; the records {@code ahead} are done. */
	public OffsetWindow(int limit, @Nullable Offset position, Set<Offset> ahead) {
		this.limit = limit;
		this.position = position;
		this.doneBefore = new LinkedHashSet<>(ahead);
	}

	public boolean isFull() {
		return this.records.size() >= this.limit;
	}

	public int size() {
		return this.records.size();
	}

	public boolean isEmpty() {
		return this.records.isEmpty();
	}

	/** Takes up the next record; returns {@code null} if an earlier owner has done it. */
	public @Nullable TrackedRecord take(SourceRecord source) {
		TrackedRecord taken = new TrackedRecord(source);
		this.records.add(taken);
		if (!this.doneBefore.isEmpty() && this.doneBefore.contains(source.identity())) {
			forgetUpTo(source.identity());
			done(taken);
			return null;
		}
		return taken;
	}

	/** Removes those before it, too: the shard does not contain them any more. */
	private void forgetUpTo(Offset met) {
		Iterator<Offset> each = this.doneBefore.iterator();
		boolean found = false;
		while (!found) {
			found = each.next().equals(met);
			each.remove();
		}
	}

	public void done(TrackedRecord taken) {
		if (taken.isDone()) {
			return;
		}
		taken.done();
		if (this.records.peek() != taken) {
			this.doneInside++;
			return;
		}
		this.position = taken.position();
		this.records.remove();
		for (TrackedRecord next = this.records.peek(); next != null && next.isDone(); next = this.records.peek()) {
			this.position = next.position();
			this.records.remove();
			this.doneInside--;
		}
	}

	/** Moves the position of a shard without records. */
	public void moveTo(Offset offset) {
		this.position = offset;
	}

	/**
	 * Moves an empty window. If offsets are reused, those that an earlier owner has done
	 * denote other records now.
	 */
	public void moveTo(Offset offset, boolean offsetsReused) {
		this.position = offset;
		if (offsetsReused) {
			this.doneBefore.clear();
		}
	}

	/** Returns the last position below the window, {@code null} for none. */
	public @Nullable Offset position() {
		return this.position;
	}

	/** Returns the window as it is now. */
	public Snapshot snapshot() {
		BitSet done = new BitSet();
		int index = 0;
		for (TrackedRecord each : this.records) {
			done.set(index++, each.isDone());
		}
		return new Snapshot(this.position, this.records.toArray(TrackedRecord[]::new), done,
				this.doneBefore.isEmpty() ? Set.of() : new LinkedHashSet<>(this.doneBefore));
	}

	/** Returns the identities of the done records after the position, in order. */
	public Set<Offset> ahead() {
		if (this.doneInside == 0 && this.doneBefore.isEmpty()) {
			return Set.of();
		}
		Set<Offset> ahead = new LinkedHashSet<>();
		Iterator<TrackedRecord> each = this.records.iterator();
		for (int left = this.doneInside; left > 0;) {
			TrackedRecord next = each.next();
			if (next.isDone()) {
				ahead.add(next.identity());
				left--;
			}
		}
		// Not read yet, so after all records of the window.
		ahead.addAll(this.doneBefore);
		return ahead;
	}

	/**
	 * Window as it was, for calls that commit their records themselves. Reads only what
	 * does not change in records, and whether they are written.
	 */
	public static final class Snapshot {

		public static final Snapshot EMPTY = new Snapshot(null, new TrackedRecord[0], new BitSet(), Set.of());

		private final @Nullable Offset position;

		private final TrackedRecord[] records;

		private final BitSet done;

		private final Set<Offset> doneBefore;

		private Snapshot(@Nullable Offset position, TrackedRecord[] records, BitSet done, Set<Offset> doneBefore) {
			this.position = position;
			this.records = records;
			this.done = done;
			this.doneBefore = doneBefore;
		}

		/**
		 * Returns where the window is once some more of its records are done, and those
		 * that were written since.
		 * @param more the records of a call, in the order of the window
		 */
		public Position positionAfter(List<TrackedRecord> more) {
			Offset after = this.position;
			Set<Offset> ahead = new LinkedHashSet<>();
			boolean first = true;
			int met = 0;
			for (int i = 0; i < this.records.length; i++) {
				TrackedRecord next = this.records[i];
				boolean isOfCall = met < more.size() && more.get(met) == next;
				met += isOfCall ? 1 : 0;
				boolean isDone = isOfCall || this.done.get(i) || next.isWritten();
				first &= isDone;
				if (first) {
					after = next.position();
				}
				else if (isDone) {
					ahead.add(next.identity());
				}
			}
			ahead.addAll(this.doneBefore);
			return new Position(after, ahead);
		}

	}

	/**
	 * Position of a window.
	 *
	 * @param ahead the identities of the done records after the offset, in order
	 */
	public record Position(@Nullable Offset offset, Set<Offset> ahead) {

	}

}
