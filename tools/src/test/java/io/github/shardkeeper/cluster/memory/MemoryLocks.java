package io.github.shardkeeper.cluster.memory;

import io.github.shardkeeper.coordination.memory.MemoryGroup;

/** What tests see of the locks in memory. */
public final class MemoryLocks {

	private MemoryLocks() {
	}

	/** Returns how many tickets wait for a lock. */
	public static int waiting(MemoryGroup group, String lock) {
		return MemoryLockStore.waiting(group, lock);
	}

	/** Returns who holds a lock and who waits, for messages. */
	public static String describe(MemoryGroup group, String lock) {
		return MemoryLockStore.describe(group, lock);
	}

}
