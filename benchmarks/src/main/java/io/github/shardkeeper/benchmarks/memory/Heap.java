package io.github.shardkeeper.benchmarks.memory;

import java.lang.management.ManagementFactory;

/**
 * How much of the heap is in use. Has no state.
 */
final class Heap {

	/**
	 * What is reachable only until a reference was cleared goes with a later collection.
	 */
	private static final int COLLECTIONS = 4;

	private Heap() {
	}

	/** Collects garbage, and returns how many bytes are left. */
	static long used() {
		long least = Long.MAX_VALUE;
		for (int i = 0; i < COLLECTIONS; i++) {
			System.gc();
			least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
		}
		return least;
	}

}
