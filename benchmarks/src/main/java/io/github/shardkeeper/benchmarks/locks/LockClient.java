package io.github.shardkeeper.benchmarks.locks;

import java.util.concurrent.locks.Lock;

/**
 * A client of Redis that has locks. Thread-safe.
 */
interface LockClient {

	/**
	 * Returns a lock; the same for all clients of one contender.
	 * @param name its name
	 */
	Lock lock(String name);

}
