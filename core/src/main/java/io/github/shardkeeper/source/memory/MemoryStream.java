package io.github.shardkeeper.source.memory;

import java.util.ArrayList;
import java.util.List;

import io.github.shardkeeper.source.SourceRecord;

/**
 * The records of one shard. Confined to the lock of its source.
 */
final class MemoryStream {

	private final List<SourceRecord> records = new ArrayList<>();

	private boolean closed;

	List<SourceRecord> records() {
		return this.records;
	}

	void close() {
		this.closed = true;
	}

	boolean isClosed() {
		return this.closed;
	}

}
