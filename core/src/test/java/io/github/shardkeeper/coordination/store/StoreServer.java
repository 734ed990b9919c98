package io.github.shardkeeper.coordination.store;

import java.time.Duration;

/**
 * The server of a store: its time and its failures. Confined to the test's thread.
 */
public interface StoreServer {

	/**
	 * Waits until a duration of the store's time has passed.
	 * @param duration the minimum duration
	 */
	void advance(Duration duration);

	/**
	 * Returns the server's current data.
	 * @return a copy for {@link #loseWritesSince}
	 */
	Object snapshot();

	/**
	 * Loses all writes since a snapshot, as in a failover.
	 * @param snapshot the data to return to
	 */
	void loseWritesSince(Object snapshot);

	/** Loses all data, as in a restart without persistence. */
	void empty();

}
