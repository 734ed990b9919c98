package io.github.shardkeeper.benchmarks.latency;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The latencies of the records that one process has received, by their numbers.
 * Thread-safe.
 */
final class Arrivals {

	/** More than are sent in one run. */
	private static final int CAPACITY = 1 << 20;

	private static final long MISSING = 0;

	private final AtomicLongArray nanos = new AtomicLongArray(CAPACITY);

	/** A record has reached its handler. */
	void received(byte[] payload) {
		long latency = Math.max(1, System.nanoTime() - Payloads.intendedNanos(payload));
		int number = Payloads.number(payload);
		if (!this.nanos.compareAndSet(number, MISSING, latency)) {
			throw new IllegalStateException("Record " + number + " came twice");
		}
	}

	/** Returns how many records of a range are here. */
	int count(int from, int to) {
		int count = 0;
		for (int number = from; number < to; number++) {
			count += (this.nanos.get(number) != MISSING) ? 1 : 0;
		}
		return count;
	}

	/** Writes the latencies of a range; of records that did not come, 0. */
	void write(Path file, int from, int to) throws IOException {
		ByteBuffer bytes = ByteBuffer.allocate((to - from) * Long.BYTES);
		for (int number = from; number < to; number++) {
			bytes.putLong(this.nanos.get(number));
		}
		Files.write(file, bytes.array());
	}

	/**
	 * Reads what the processes have written of one range.
	 * @return the latencies in nanoseconds, sorted
	 * @throws IllegalStateException unless each record has come to exactly one of them
	 */
	static long[] read(List<Path> files) throws IOException {
		long[] all = new long[0];
		for (Path file : files) {
			LongBuffer written = ByteBuffer.wrap(Files.readAllBytes(file)).asLongBuffer();
			all = (all.length == 0) ? new long[written.remaining()] : all;
			for (int i = 0; i < all.length; i++) {
				long latency = written.get(i);
				if (latency != MISSING && all[i] != MISSING) {
					throw new IllegalStateException("Record " + i + " of the range came to two processes");
				}
				all[i] += latency;
			}
		}
		Arrays.sort(all);
		if (all.length == 0 || all[0] == MISSING) {
			throw new IllegalStateException("Records are missing");
		}
		return all;
	}

}
