package io.github.shardkeeper.redis.stream;

import java.util.List;

import io.github.shardkeeper.source.SourceRecord;

/**
 * How many records of each stream a read asks for, so that no answer is much larger than
 * a budget: by the average size of the records that came last. Confined to its lane.
 */
final class ReadSize {

	static final int MOST_RECORDS = 500;

	/** Of all the streams together of which nothing is known yet; but one of each. */
	static final int FIRST_RECORDS = 16;

	private static final long BUDGET_BYTES = 8 * 1024 * 1024;

	/** What Redis sends along with each entry, about. */
	private static final int OVERHEAD_BYTES = 40;

	private long sumOfAverages;

	private int unknown;

	/** One more stream is to be read; its average, 0 while it is not known. */
	void add(long averageBytes, boolean firstRead) {
		this.sumOfAverages += averageBytes;
		this.unknown += firstRead ? 1 : 0;
	}

	int records() {
		long fitting = (this.sumOfAverages > 0) ? BUDGET_BYTES / this.sumOfAverages : MOST_RECORDS;
		return (int) Math.max(1, Math.min(fitting, (this.unknown > 0) ? FIRST_RECORDS / this.unknown : MOST_RECORDS));
	}

	/** Half from before: one large record among many changes little. */
	static long average(long before, List<SourceRecord> records) {
		long bytes = 0;
		for (SourceRecord sourceRecord : records) {
			bytes += OVERHEAD_BYTES + sourceRecord.size();
		}
		long now = bytes / records.size();
		return (before > 0) ? (before + now) / 2 : now;
	}

}
