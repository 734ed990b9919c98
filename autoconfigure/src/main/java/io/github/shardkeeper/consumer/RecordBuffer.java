package io.github.shardkeeper.consumer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.source.SourceRecord;

/**
 * The records of one shard that were read and not handled yet. Thread-safe.
 */
final class RecordBuffer {

	private static final int CAPACITY = 1000;

	private final Deque<SourceRecord> records = new ArrayDeque<>();

	private boolean full;

	/** Takes records; tells whether there is room for more. */
	synchronized boolean add(List<SourceRecord> more) {
		this.records.addAll(more);
		this.full = this.records.size() >= CAPACITY;
		return !this.full;
	}

	synchronized @Nullable SourceRecord peek() {
		return this.records.peek();
	}

	/** Removes the first record; tells whether a full buffer has room again. */
	synchronized boolean remove() {
		this.records.remove();
		if (this.full && this.records.size() <= CAPACITY / 2) {
			this.full = false;
			return true;
		}
		return false;
	}

	synchronized void clear() {
		this.records.clear();
	}

}
