package io.github.shardkeeper.benchmarks.records;

import java.nio.ByteBuffer;
import java.util.Random;

/**
 * Keys of records at random, the same in every run. A record's payload has the number of
 * the records of its key so far, which a handler that counts them has to find. Not
 * thread-safe.
 */
final class CountedKeys {

	private static final long SEED = 42;

	/** Behind the shard and the number of the record. */
	private static final int COUNT_AT = 2 * Integer.BYTES;

	private final Random random = new Random(SEED);

	private final int[][] counts;

	CountedKeys(int shards, int perShard) {
		this.counts = new int[shards][perShard];
	}

	/** Chooses the key of a record, and writes the count into its payload. */
	String next(byte[] payload) {
		ByteBuffer buffer = ByteBuffer.wrap(payload);
		int[] ofShard = this.counts[buffer.getInt(0)];
		int key = this.random.nextInt(ofShard.length);
		buffer.putInt(COUNT_AT, ++ofShard[key]);
		return "visitor-" + key;
	}

	/** Returns how many records of its key there are, with this one. */
	static int expected(byte[] payload) {
		return ByteBuffer.wrap(payload).getInt(COUNT_AT);
	}

}
