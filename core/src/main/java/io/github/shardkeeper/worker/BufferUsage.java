package io.github.shardkeeper.worker;

import java.util.concurrent.atomic.LongAdder;

/**
 * What the shards of a topic on this instance have read ahead: records in their buffers,
 * and those that are taken up and not done. Thread-safe.
 */
public final class BufferUsage {

	private final LongAdder records = new LongAdder();

	private final LongAdder bytes = new LongAdder();

	BufferUsage() {
	}

	void change(int moreRecords, long moreBytes) {
		this.records.add(moreRecords);
		this.bytes.add(moreBytes);
	}

	/** Returns the number of records. */
	public long records() {
		return this.records.sum();
	}

	/** Returns the size of the records in bytes, with what they take in memory. */
	public long bytes() {
		return this.bytes.sum();
	}

}
