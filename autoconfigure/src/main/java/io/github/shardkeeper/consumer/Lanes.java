package io.github.shardkeeper.consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.MonotonicTime;

/**
 * The deliveries of one shard that were taken up: which may be called next, beside those
 * that run. Confined to the shard's worker.
 */
interface Lanes {

	/** Whether one more may be taken up. */
	boolean hasRoom();

	/** Takes one up. */
	void add(Delivery delivery);

	/**
	 * The next one to call, which counts as running from now on; {@code null} if none can
	 * be now.
	 */
	@Nullable Delivery next(MonotonicTime now);

	/** One that ran is to be called again, in its place. */
	void again(Delivery delivery);

	/** One that ran is over. */
	void remove(Delivery delivery);

	/** Whether none runs. */
	boolean areQuiet();

	/** When the next one that waits may be called; {@code null} if none waits. */
	@Nullable MonotonicTime nextDue();

	/** One of those that wait because they have failed; {@code null} if none does. */
	@Nullable Delivery failing();

}
