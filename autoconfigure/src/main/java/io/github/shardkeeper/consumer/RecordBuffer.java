package io.github.shardkeeper.consumer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.source.SourceRecord;

/**
 * Records of one shard that were read and not taken up yet. It bounds how many are read
 * ahead: the reader is told when there is no room, and goes on when half of it is free
 * again. What a single read brings is always taken, so the bounds are exceeded by at most
 * that. Records go in from the reader's thread, and out on the shard's worker.
 */
final class RecordBuffer {

	/** What a record takes beside its payload, roughly. */
	private static final int RECORD_OVERHEAD = 150;

	/** So many are accounted for at once: it takes a lock. */
	private static final int REMOVALS_PER_RELEASE = 50;

	private final ConsumerSettings.BufferLimits limits;

	private final BufferBudget budget;

	/** Guarded by this, as is all below but the batch being taken from. */
	private final Deque<List<SourceRecord>> batches = new ArrayDeque<>();

	private int records;

	private long bytes;

	private boolean full;

	private boolean ended;

	/** Being taken from; confined to the worker. */
	private List<SourceRecord> batch = List.of();

	/** Next one of the batch; confined to the worker. */
	private int next;

	/** Removed and not yet accounted for; confined to the worker. */
	private int removed;

	private long removedBytes;

	RecordBuffer(ConsumerSettings.BufferLimits limits, BufferBudget budget) {
		this.limits = limits;
		this.budget = budget;
	}

	/** Takes records; tells whether there is room for more. */
	boolean add(List<SourceRecord> more) {
		long size = size(more);
		this.budget.take(size);
		synchronized (this) {
			this.batches.add(more);
			this.records += more.size();
			this.bytes += size;
			this.full = this.records >= this.limits.records() || this.bytes >= this.limits.bytes()
					|| this.budget.isExceededBy(this.bytes);
			return !this.full;
		}
	}

	/** No further records will ever come. */
	synchronized void end() {
		this.ended = true;
	}

	/** Whether there is nothing left, and never will be. */
	synchronized boolean isAtEnd() {
		return this.ended && this.batches.isEmpty() && this.next == this.batch.size();
	}

	/** The next record, which stays; {@code null} if there is none. */
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

	/**
	 * Removes the record that {@link #peek} has returned; tells whether a full buffer has
	 * room again.
	 */
	boolean remove() {
		this.removedBytes += size(this.batch.get(this.next));
		this.removed++;
		this.next++;
		boolean atEnd = this.next == this.batch.size();
		if (atEnd) {
			this.batch = List.of();
			this.next = 0;
		}
		return (atEnd || this.removed == REMOVALS_PER_RELEASE) && release();
	}

	private boolean release() {
		this.budget.giveBack(this.removedBytes);
		synchronized (this) {
			this.records -= this.removed;
			this.bytes -= this.removedBytes;
			this.removed = 0;
			this.removedBytes = 0;
			boolean room = this.full && this.records <= this.limits.records() / 2
					&& this.bytes <= this.limits.bytes() / 2;
			this.full &= !room;
			return room;
		}
	}

	/** What is in it is not wanted any more. */
	void clear() {
		this.batch = List.of();
		this.next = 0;
		this.removed = 0;
		this.removedBytes = 0;
		synchronized (this) {
			this.budget.giveBack(this.bytes);
			this.batches.clear();
			this.records = 0;
			this.bytes = 0;
		}
	}

	private static long size(List<SourceRecord> records) {
		long size = 0;
		for (SourceRecord record : records) {
			size += size(record);
		}
		return size;
	}

	private static int size(SourceRecord record) {
		return record.payload().length + RECORD_OVERHEAD;
	}

}
