package io.github.shardkeeper.benchmarks.locks;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * A file in memory in which the holders of one lock, in all processes, write down their
 * acquisitions. Only the lock keeps them apart, so that a lock that two have at once
 * shows. Times are from the monotonic clock, which all processes share on Linux.
 */
final class Trace implements AutoCloseable {

	private static final int CAPACITY = 1_000_000;

	private static final int FIELDS = 4;

	private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private final FileChannel file;

	private final MappedByteBuffer memory;

	private Trace(FileChannel file, MappedByteBuffer memory) {
		this.file = file;
		this.memory = memory;
	}

	/** Opens a file, which may be empty. */
	static Trace open(Path path) throws IOException {
		FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
		MappedByteBuffer memory = file.map(FileChannel.MapMode.READ_WRITE, 0,
				(1L + (long) CAPACITY * FIELDS) * Long.BYTES);
		memory.order(ByteOrder.nativeOrder());
		return new Trace(file, memory);
	}

	/** Creates an empty file; the caller deletes it. */
	static Path create() throws IOException {
		Path memory = Path.of("/dev/shm");
		return Files.isWritable(memory) ? Files.createTempFile(memory, "shardkeeper-benchmark-locks", "")
				: Files.createTempFile("shardkeeper-benchmark-locks", "");
	}

	/** Writes an acquisition; its thread holds the lock. */
	void add(int thread, long askedAt, long acquiredAt, long unlockAt) {
		long index = (long) LONGS.getVolatile(this.memory, 0);
		if (index == CAPACITY) {
			throw new IllegalStateException("More than " + CAPACITY + " acquisitions: measure for a shorter time");
		}
		int at = (int) (1 + index * FIELDS) * Long.BYTES;
		write(at, thread);
		write(at + Long.BYTES, askedAt);
		write(at + 2 * Long.BYTES, acquiredAt);
		write(at + 3 * Long.BYTES, unlockAt);
		LONGS.setVolatile(this.memory, 0, index + 1);
	}

	private void write(int at, long value) {
		LONGS.setVolatile((ByteBuffer) this.memory, at, value);
	}

	/** Returns all acquisitions in their order. */
	List<Acquisition> read() {
		List<Acquisition> all = new ArrayList<>();
		long size = (long) LONGS.getVolatile(this.memory, 0);
		for (long i = 0; i < size; i++) {
			int at = (int) (1 + i * FIELDS) * Long.BYTES;
			all.add(new Acquisition((int) this.memory.getLong(at), this.memory.getLong(at + Long.BYTES),
					this.memory.getLong(at + 2 * Long.BYTES), this.memory.getLong(at + 3 * Long.BYTES)));
		}
		return all;
	}

	@Override
	public void close() throws IOException {
		this.file.close();
	}

	/**
	 * A time for which a thread had the lock.
	 *
	 * @param thread the number of the thread
	 * @param askedAt when it called {@code lock()}
	 * @param acquiredAt when that returned
	 * @param unlockAt when it called {@code unlock()}
	 */
	record Acquisition(int thread, long askedAt, long acquiredAt, long unlockAt) {

	}

}
