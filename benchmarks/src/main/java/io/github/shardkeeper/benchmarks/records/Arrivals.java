package io.github.shardkeeper.benchmarks.records;

import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;

import io.github.shardkeeper.benchmarks.Samples;

/**
 * The latencies of records, by their numbers. Never complete. Thread-safe.
 */
final class Arrivals implements HandledRecords {

	/** More than are sent in one run. */
	private static final int CAPACITY = 1 << 20;

	private static final long MISSING = 0;

	private final AtomicLongArray nanos = new AtomicLongArray(CAPACITY);

	/**
	 * Makes the payload of a record.
	 * @param intendedNanos when it was to be sent, by the monotonic clock, which all
	 * processes share on Linux
	 */
	static byte[] payload(int number, long intendedNanos) {
		return ByteBuffer.allocate(Records.PAYLOAD_BYTES).putInt(number).putLong(intendedNanos).array();
	}

	@Override
	public void handled(byte[] payload) {
		int number = ByteBuffer.wrap(payload).getInt();
		long latency = Math.max(1, System.nanoTime() - ByteBuffer.wrap(payload).getLong(Integer.BYTES));
		if (!this.nanos.compareAndSet(number, MISSING, latency)) {
			throw new IllegalStateException("Record " + number + " came twice");
		}
	}

	/** Returns the latencies of the records of a range that have come. */
	Samples micros(int from, int to) {
		Samples micros = new Samples();
		for (int number = from; number < to; number++) {
			if (this.nanos.get(number) != MISSING) {
				micros.add(this.nanos.get(number) / 1e3);
			}
		}
		return micros;
	}

	@Override
	public boolean isComplete() {
		return false;
	}

	@Override
	public void awaitCompletion() throws InterruptedException {
		new CountDownLatch(1).await();
	}

}
