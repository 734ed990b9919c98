package io.github.shardkeeper.benchmarks;

import java.lang.management.ManagementFactory;

/**
 * How much of the heap is in use. Has no state.
 */
public final class Heap {

	/**
	 * What is reachable only until a reference was cleared goes with a later collection.
	 */
	private static final int COLLECTIONS = 4;

	private Heap() {
	}

	/**
	 * Collects garbage.
	 * @return how many bytes are left
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
