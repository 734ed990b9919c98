package io.github.shardkeeper.redis.stream;

import java.util.List;

import io.github.shardkeeper.source.SourceRecord;

/**
 * Number of records of each stream that a read asks for. Keeps a reply near a budget in
 * bytes, by the average size of the last records. Confined to its {@link StreamFetcher}.
 */
final class ReadSize {

	static final int MAX_RECORDS = 500;

	/** Records of all unread streams together, but at least one of each. */
	static final int FIRST_RECORDS = 16;

	private static final long BUDGET_BYTES = 8 * 1024 * 1024;

	/** Approximate bytes that Redis sends with each entry. */
	private static final int OVERHEAD_BYTES = 40;

	private final long budgetBytes;

	private long sumOfAverages;

	private int unread;

	/**
	 * Creates the size of a read.
	 * @param reads the number of reads that are in flight at the same time, and share the
	 * budget
	 */
	ReadSize(int reads) {
		this.budgetBytes = BUDGET_BYTES / reads;
	}

	/** Adds a stream; its average is 0 while it is not known. */
	void add(long averageBytes, boolean firstRead) {
		this.sumOfAverages += averageBytes;
		this.unread += firstRead ? 1 : 0;
	}

	int records() {
		long fitting = (this.sumOfAverages > 0) ? this.budgetBytes / this.sumOfAverages : MAX_RECORDS;
		return (int) Math.max(1, Math.min(fitting, (this.unread > 0) ? FIRST_RECORDS / this.unread : MAX_RECORDS));
	}

	/** Returns a smoothed average: one large record among many changes little. */
	static long average(long before, List<SourceRecord> records) {
		long bytes = 0;
		for (SourceRecord sourceRecord : records) {
			bytes += OVERHEAD_BYTES + sourceRecord.size();
		}
		long now = bytes / records.size();
		return (before > 0) ? (before + now) / 2 : now;
	}

}
