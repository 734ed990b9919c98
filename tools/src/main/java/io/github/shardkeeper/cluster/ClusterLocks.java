package io.github.shardkeeper.cluster;

import java.time.Duration;

/** The locks of the group. Thread-safe. */
public interface ClusterLocks {

	/**
	 * Returns a lock. It is held until it is unlocked, or the session ends.
	 * @param name 1 to 100 letters, digits, dots, dashes or underscores
	 * @return the lock. All objects of one name are the same lock
	 * @throws IllegalArgumentException if the name is not valid
	 */
	default ClusterLock get(String name) {
		return get(name, Duration.ZERO, Duration.ZERO);
	}

	/**
	 * Returns a lock that is held for a limited time.
	 * @param name 1 to 100 letters, digits, dots, dashes or underscores
	 * @param atLeast the time from its acquisition in which no other thread gets it, also
	 * if it is unlocked or its holder dies; zero for none
	 * @param atMost the time from its acquisition after which its holder loses it; zero
	 * for no limit
	 * @return the lock
	 * @throws IllegalArgumentException if the name is not valid, a time is negative, or
	 * {@code atLeast} is longer than {@code atMost}
	 */
	ClusterLock get(String name, Duration atLeast, Duration atMost);

}
