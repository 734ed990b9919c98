package io.github.shardkeeper.benchmarks;

import java.lang.management.ManagementFactory;

/**
 * Use of the heap. Has no state.
 */
public final class Heap {

	/**
	 * Objects behind cleared references go with a later collection.
	 */
	private static final int COLLECTIONS = 4;

	private Heap() {
	}

	/**
	 * Collects garbage.
	 * @return the bytes in use
	 */
	public static long used() {
		long least = Long.MAX_VALUE;
		for (int i = 0; i < COLLECTIONS; i++) {
			System.gc();
			least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
		}
		return least;
	}

}
