package io.github.shardkeeper;

import java.util.Optional;
import java.util.Set;

/**
 * The state that a handler keeps for one shard: typed values by key, stored as JSON. It
 * moves with the shard and is committed in one atomic write with the offset, under the
 * shard's fencing token.
 * <p>
 * Reads see everything that earlier calls and this one have written, committed or not.
 * What a handler call wrote before it threw is undone. With the orderings {@code key} and
 * {@code none} a call does not see what others write that run at the same time; if one of
 * them changes what it has read, its changes are dropped and it is made again. The whole
 * state of a shard is held in memory while the shard is owned.
 * <p>
 * Not thread-safe: to be used only inside the call that received it, on that call's
 * thread; afterwards every method throws {@link IllegalStateException}. Values are copied
 * through JSON: changing an object that was read or put changes nothing until it is put
 * again.
 */
public interface ShardState {

	/**
	 * Reads a value.
	 * @param key the key, not empty
	 * @param type the type to read the JSON as
	 * @param <T> the value's type
	 * @return the value, or empty when there is none
	 * @throws IllegalArgumentException when the stored JSON cannot be read as that type;
	 * a retry does not help
	 */
	<T> Optional<T> get(String key, Class<T> type);

	/**
	 * Writes a value.
	 * @param key the key, not empty
	 * @param value the value, anything that can be written as JSON; not {@code null}, for
	 * which there is {@link #remove(String)}
	 * @throws IllegalArgumentException when it cannot be written as JSON, or has more
	 * than 16 million characters then, or all that the call has written more than 64
	 * million; a retry does not help
	 */
	void put(String key, Object value);

	/**
	 * Removes a value; nothing happens when there is none.
	 * @param key the key, not empty
	 */
	void remove(String key);

	/**
	 * Adds to a whole number; a key without a value counts as 0.
	 * @param key the key, not empty
	 * @param delta what to add, negative to subtract
	 * @return the sum as this call sees it. With the orderings {@code key} and
	 * {@code none} calls at the same time may add to it, too, and none sees what the
	 * others add until they have returned; nothing is lost
	 * @throws IllegalArgumentException when the stored value is not a whole number
	 * @throws ArithmeticException when the sum does not fit a {@code long}
	 */
	long increment(String key, long delta);

	/**
	 * The keys that have a value now.
	 * @return an immutable copy
	 */
	Set<String> keys();

}
