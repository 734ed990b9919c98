package io.github.shardkeeper.worker;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.source.SourceRecord;

/**
 * Records of one shard that were read and not taken up yet. The reader pauses when the
 * buffer is full or the budget of all shards is used up, and resumes when half of the
 * buffer is free. What a single read brings is always taken, so the bounds are exceeded
 * by at most that. Records go in from the reader's thread, and out on the shard's worker.
 */
final class RecordBuffer {

	/** Approximate size of a record beside its contents. */
	private static final int RECORD_OVERHEAD = 150;

	/** Number of removals accounted for together: that takes a lock. */
	private static final int REMOVALS_PER_RELEASE = 50;

	private final ConsumerSettings.BufferLimits limits;

	private final BufferBudget.Share share;

	/** Guarded by this, as is all below but the batch being taken from. */
	private final Deque<List<SourceRecord>> batches = new ArrayDeque<>();

	private int records;

	private long bytes;

	/** By its own limits. */
	private boolean full;

	private boolean ended;

	/** Being taken from; confined to the worker. */
	private List<SourceRecord> batch = List.of();

	/** Next one of the batch; confined to the worker. */
	private int next;

	/** Removed and not yet accounted for; confined to the worker. */
	private int removed;

	private long removedBytes;

	/** Half of it has become free; confined to the worker. */
	private boolean halfFree;

	/** Whether the reader is to be resumed; confined to the worker. */
	private boolean hasRoom;

	/**
	 * Creates an empty buffer.
	 * @param share what the shard has of the budget of all; closed with what is in it
	 */
	RecordBuffer(ConsumerSettings.BufferLimits limits, BufferBudget.Share share) {
		this.limits = limits;
		this.share = share;
	}

	/**
	 * Takes records, all or, if it throws, none; tells whether there is room for more.
	 */
	boolean add(List<SourceRecord> more) {
		long size = size(more);
		synchronized (this) {
			this.batches.add(more);
			this.records += more.size();
			this.bytes += size;
			this.full = this.records >= this.limits.records() || this.bytes >= this.limits.bytes();
			this.share.take(size);
			return !this.full && !this.share.mustWait();
		}
	}

	/** Marks the buffer as one that gets no further records. */
	synchronized void end() {
		this.ended = true;
	}

	/** Returns whether there is nothing left, and never will be. */
	synchronized boolean isAtEnd() {
		return this.ended && this.batches.isEmpty() && this.next == this.batch.size();
	}

	/** Returns the next record, which stays; {@code null} if there is none. */
	@Nullable SourceRecord peek() {
		if (this.next == this.batch.size()) {
			synchronized (this) {
				List<SourceRecord> following = this.batches.poll();
				if (following == null) {
					return null;
				}
				this.batch = following;
				this.next = 0;
			}
		}
		return this.batch.get(this.next);
	}

	/** Removes the record that {@link #peek} has returned. */
	void remove() {
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
		long released = this.removedBytes;
		synchronized (this) {
			this.records -= this.removed;
			this.bytes -= released;
			this.removed = 0;
			this.removedBytes = 0;
			if (this.full && this.records <= this.limits.records() / 2 && this.bytes <= this.limits.bytes() / 2) {
				this.full = false;
				this.halfFree = true;
			}
		}
		// Without the lock: it may wake others.
		this.share.giveBack(released);
	}

	/**
	 * Has the reader go on, if it was told that there is no room, and there is some
	 * again. Confined to the worker, which is woken when others have given back what this
	 * shard waits for.
	 * @param reader has the reader go on; when it throws it is called again the next time
	 */
	void resume(Runnable reader) {
		if (this.halfFree) {
			this.halfFree = false;
			this.hasRoom = !this.share.mustWait();
		}
		// Not asked again: what was given back may be used up by now, but who has to wait
		// once more for every read of others would be woken for nothing all the time.
		this.hasRoom |= this.share.takeResume();
		if (this.hasRoom) {
			reader.run();
			this.hasRoom = false;
		}
	}

	/** Drops all records; nothing more will come. */
	void clear() {
		this.batch = List.of();
		this.next = 0;
		this.removed = 0;
		this.removedBytes = 0;
		synchronized (this) {
			this.batches.clear();
			this.records = 0;
			this.bytes = 0;
		}
		this.share.close();
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
