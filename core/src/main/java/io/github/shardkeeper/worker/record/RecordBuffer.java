package io.github.shardkeeper.worker.record;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Records of one shard that are read and not taken up yet. The reader pauses when the
 * buffer or the budget is full, and resumes when half of the buffer is free. One read can
 * exceed the limits: it is added whole. The reader's thread adds records, the shard's
 * worker removes them.
 */
public final class RecordBuffer {

	private static final int RECORD_OVERHEAD = 150;

	/** Number of removals that are released together: that takes a lock. */
	private static final int REMOVALS_PER_RELEASE = 50;

	private final int maxRecords;

	private final long maxBytes;

	private final BufferBudget.Share share;

	/** Guarded by this, as are the next four fields. */
	private final Deque<Read> reads = new ArrayDeque<>(1);

	private int records;

	private long bytes;

	private boolean full;

	private boolean ended;

	/** Records to remove next; confined to the worker, as are all fields below. */
	private List<SourceRecord> batch = List.of();

	private int next;

	/** Move that comes before the batch, {@code null} for none. */
	private @Nullable Move move;

	private int removed;

	private long removedBytes;

	private boolean halfFree;

	/** Whether the reader has to be resumed. */
	private boolean hasRoom;

	/** Creates an empty buffer; {@link #clear} closes the share. */
	public RecordBuffer(int maxRecords, long maxBytes, BufferBudget.Share share) {
		this.maxRecords = maxRecords;
		this.maxBytes = maxBytes;
		this.share = share;
	}

	/** Adds all records, or none if it throws; returns whether there is more room. */
	public boolean add(List<SourceRecord> more) {
		long size = size(more);
		synchronized (this) {
			this.reads.add(new Read(null, more));
			this.records += more.size();
			this.bytes += size;
			this.full = this.records >= this.maxRecords || this.bytes >= this.maxBytes;
			this.share.take(more.size(), size);
			return !this.full && !this.share.mustWait();
		}
	}

	/** Adds a move to another position, before the records that are added next. */
	public synchronized void add(Move to) {
		this.reads.add(new Read(to, List.of()));
	}

	public synchronized void end() {
		this.ended = true;
	}

	public synchronized boolean isAtEnd() {
		return this.ended && this.reads.isEmpty() && this.move == null && this.next == this.batch.size();
	}

	/**
	 * Returns the next record without removing it, {@code null} if there is none, or a
	 * move comes first.
	 */
	public @Nullable SourceRecord peek() {
		if (this.move == null && this.next == this.batch.size()) {
			synchronized (this) {
				Read following = this.reads.poll();
				if (following == null) {
					return null;
				}
				this.batch = following.records();
				this.next = 0;
				this.move = following.move();
			}
		}
		return (this.move == null) ? this.batch.get(this.next) : null;
	}

	/** Returns the move that comes before the next record, {@code null} for none. */
	public @Nullable Move peekMove() {
		return (peek() == null) ? this.move : null;
	}

	/** Removes the move that {@link #peekMove} has returned. */
	public void removeMove() {
		this.move = null;
	}

	/** Removes the record that {@link #peek} has returned. */
	public void remove() {
		this.removedBytes += size(this.batch.get(this.next));
		this.removed++;
		this.next++;
		boolean atEnd = this.next == this.batch.size();
		if (atEnd) {
			this.batch = List.of();
			this.next = 0;
		}
		if (atEnd || this.removed == REMOVALS_PER_RELEASE) {
			release();
		}
	}

	private void release() {
		int releasedRecords = this.removed;
		long released = this.removedBytes;
		synchronized (this) {
			this.records -= releasedRecords;
			this.bytes -= released;
			this.removed = 0;
			this.removedBytes = 0;
			if (this.full && this.records <= this.maxRecords / 2 && this.bytes <= this.maxBytes / 2) {
				this.full = false;
				this.halfFree = true;
			}
		}
		// Without the lock, because it may wake other workers.
		this.share.giveBack(releasedRecords, released);
	}

	/**
	 * Resumes the reader if it has paused and there is room again. If that throws, the
	 * next call repeats it.
	 */
	public void resume(Runnable reader) {
		if (this.halfFree) {
			this.halfFree = false;
			this.hasRoom = !this.share.mustWait();
		}
		// Does not check the budget again: a shard that waited again for each read of
		// others would be woken for nothing all the time.
		this.hasRoom |= this.share.takeResume();
		if (this.hasRoom) {
			reader.run();
			this.hasRoom = false;
		}
	}

	/** Removes all records, and the moves unless one comes first. */
	public void clear() {
		this.move = peekMove();
		this.batch = List.of();
		this.next = 0;
		this.removed = 0;
		this.removedBytes = 0;
		synchronized (this) {
			this.reads.clear();
			this.records = 0;
			this.bytes = 0;
		}
		this.share.close();
	}

	/** Result of a read: records, or a move with none. Immutable. */
	private record Read(@Nullable Move move, List<SourceRecord> records) {

	}

	/**
	 * Move of the shard by its source. Immutable.
	 *
	 * @param after the offset before the next record
	 * @param offsetsReused whether offsets may now denote other records than before
	 */
	public record Move(Offset after, boolean offsetsReused) {

	}

	private static long size(List<SourceRecord> records) {
		long size = 0;
		for (SourceRecord record : records) {
			size += size(record);
		}
		return size;
	}

	private static long size(SourceRecord record) {
		return record.size() + RECORD_OVERHEAD;
	}

}
