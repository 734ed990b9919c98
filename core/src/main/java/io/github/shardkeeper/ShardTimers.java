package io.github.shardkeeper;

import java.time.Instant;

/**
 * Timers that a handler sets and cancels as a part of its call. They are committed in one
 * atomic write with offset and state of the shard: not at all if the call fails or is
 * repeated. When a timer is due, whichever instance owns the shard then calls the
 * {@link OnShardTimer} method of the handler's bean, and the commit of that call removes
 * the timer. So each has changed the state once, whatever has crashed.
 * <p>
 * A timer never fires before its time by the clock of the owner, and it may fire late: a
 * shard without an owner fires nothing, calls that run are waited for, and a clock that
 * is set back delays it. Timers that are due fire in the order of their times, as the
 * records of a shard are handled: with the ordering {@code shard} one call after the
 * other, with {@code key} one after the other for each key, together with the records of
 * that key.
 * <p>
 * <b>Not guaranteed.</b> A call for a timer may be repeated, as one for a record: what it
 * does outside the state happens at least once. One that has failed, and waits in the
 * retry queue or is a dead letter, is not cancelled any more. With the ordering
 * {@code key}, cancel timers of the key whose record is handled: a timer of another key
 * may be firing at the same time.
 * <p>
 * Confined to the call that received it and to that call's thread; on others, and later,
 * every method throws {@link IllegalStateException}. If the handler returns a result that
 * is complete later, other threads may use it until then: each use waits for the one
 * before.
 */
public interface ShardTimers {

	/**
	 * Sets a timer. One with the same key and name that has not fired is replaced.
	 * @param key the key with whose records it is ordered, not empty
	 * @param name its name among the timers of the key, not empty
	 * @param at the time at which it is due, at the latest in the year 9999; rounded up
	 * to whole milliseconds. One in the past is due at once
	 * @throws IllegalArgumentException if key, name or time are not valid, or if the call
	 * changes more than 10,000 timers; a retry does not help
	 */
	void set(String key, String name, Instant at);

	/**
	 * Cancels a timer. Does nothing if there is none.
	 * @param key the key for which it was set
	 * @param name its name
	 * @throws IllegalArgumentException like {@link #set}
	 */
	void cancel(String key, String name);

}
