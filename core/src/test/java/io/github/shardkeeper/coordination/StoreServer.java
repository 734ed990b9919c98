package io.github.shardkeeper.coordination;

import java.time.Duration;

/**
 * What keeps the groups of a store: its time, and what can happen to it. Confined to the
 * test's thread.
 */
public interface StoreServer {

	/**
	 * Returns when at least that much of the store's time has passed.
	 * @param duration how much
	 */
	void advance(Duration duration);

	/**
	 * What the server would come back with, if it lost everything that is written from
	 * now on.
	 * @return everything as it is now, to be handed to {@link #loseWritesSince}
	 */
	Object snapshot();

	/**
	 * A failover loses what was written since.
	 * @param snapshot what is known then
	 */
	void loseWritesSince(Object snapshot);

	/** A restart without persistence loses everything. */
	void empty();

}
