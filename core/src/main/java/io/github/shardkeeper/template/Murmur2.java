package io.github.shardkeeper.template;

/**
 * MurmurHash2 by Austin Appleby (public domain), 32 bit, with the seed of Kafka's default
 * partitioner, so that a key has the same hash in both.
 */
final class Murmur2 {

	private static final int SEED = 0x9747b28c;

	private static final int MULTIPLIER = 0x5bd1e995;

	private static final int SHIFT = 24;

	private Murmur2() {
	}

	static int hash(byte[] data) {
		int hash = SEED ^ data.length;
		int words = data.length / 4;
		for (int i = 0; i < words; i++) {
			int word = (data[4 * i] & 0xff) | (data[4 * i + 1] & 0xff) << 8 | (data[4 * i + 2] & 0xff) << 16
					| (data[4 * i + 3] & 0xff) << 24;
			word *= MULTIPLIER;
			word ^= word >>> SHIFT;
			word *= MULTIPLIER;
			hash = hash * MULTIPLIER ^ word;
		}
		int tail = data.length % 4;
		for (int i = tail - 1; i >= 0; i--) {
			hash ^= (data[4 * words + i] & 0xff) << 8 * i;
		}
		if (tail > 0) {
			hash *= MULTIPLIER;
		}
		hash ^= hash >>> 13;
		hash *= MULTIPLIER;
		return hash ^ hash >>> 15;
	}

}
