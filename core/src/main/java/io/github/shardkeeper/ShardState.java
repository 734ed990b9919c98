package io.github.shardkeeper;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

import tools.jackson.core.type.TypeReference;

/**
 * State that a handler keeps for one shard: values by key, stored as JSON. The state
 * moves with the shard and is committed in one atomic write with the offset, under the
 * fencing token. The whole state of an owned shard is held in memory, unless
 * {@code shardkeeper.consumer.state.read} is {@code on-use}: then entries are read from
 * the store when a call first uses them, and a call that cannot read one because the
 * store is away is repeated, whatever it has made of the exception.
 * <p>
 * Reads see all changes by earlier calls and by this one, committed or not. If a call
 * throws, its changes are undone. With the orderings {@code key} and {@code none}, a call
 * does not see changes by concurrent calls; if one of those changes a value that it has
 * read, its own changes are dropped and it is repeated.
 * <p>
 * Confined to the call that received it and to that call's thread; on others, and later,
 * every method throws {@link IllegalStateException}. If the handler returns a result that
 * is complete later, other threads may use it until then: each use waits for the one
 * before. Values are copied through JSON: a change of an object that was read or put has
 * no effect until it is put again. A Java record that nobody can change, because all its
 * components are numbers, texts, times or such records, may be returned as it was put:
 * its constructor must not change what it gets.
 */
public interface ShardState {

	/**
	 * Returns a value. What an earlier class of the application has stored is converted
	 * by its {@link StateMigration}.
	 * @param key the key, not empty
	 * @param type the type to convert the JSON to
	 * @param <T> the type of the value
	 * @return the value, empty if there is none
	 * @throws UnreadableStateException if it cannot be converted; a retry does not help,
	 * and a call that ends with it halts the shard
	 */
	<T> Optional<T> get(String key, Class<T> type);

	/**
	 * Returns a value of a generic type.
	 * @param key the key, not empty
	 * @param type the type to convert the JSON to, such as
	 * {@code new TypeReference<List<Visit>>() }{@code {}}
	 * @param <T> the type of the value
	 * @return the value, empty if there is none
	 * @throws UnreadableStateException like {@link #get(String, Class)}
	 */
	<T> Optional<T> get(String key, TypeReference<T> type);

	/**
	 * Reads several entries at once that the call is going to use. With
	 * {@code shardkeeper.consumer.state.read: on-use} this is one request to the store
	 * for those that are not in memory, in place of one for each; otherwise all are in
	 * memory, and nothing happens.
	 * @param keys the keys, none empty; they need not have values
	 */
	void prefetch(Collection<String> keys);

	/**
	 * Stores a value until it is removed, or for the topic's
	 * {@code shardkeeper.consumer.state.ttl} if that is set.
	 * @param key the key, not empty
	 * @param value the value, writable as JSON and not {@code null}
	 * @throws IllegalArgumentException if the value cannot be written as JSON, has no
	 * properties (except a record without components), or has text that UTF-8 cannot
	 * represent, if its JSON exceeds 16 million characters, or if the changes of this
	 * call exceed 64 million; a retry does not help
	 */
	void put(String key, Object value);

	/**
	 * Stores a value for a time. When it has expired, it counts as missing: calls that
	 * begin later do not see it, and it is removed with a commit. The time is that of the
	 * clock of the instance that owns the shard, read once at the beginning of a call. A
	 * value never expires earlier than this by more than the clocks of two owners differ,
	 * or one of them is set.
	 * @param key the key, not empty
	 * @param value the value, like that of {@link #put(String, Object)}
	 * @param ttl the time to live, from 1 ms to 36500 days
	 * @throws IllegalArgumentException as {@link #put(String, Object)} does, and if the
	 * time to live is shorter or longer
	 */
	void put(String key, Object value, Duration ttl);

	/**
	 * Removes a value. Does nothing if there is none.
	 * @param key the key, not empty
	 */
	void remove(String key);

	/**
	 * Adds to a whole number. A missing value counts as 0. The sum expires when the value
	 * would have; a new one is stored like one that is {@link #put(String, Object) put}.
	 * @param key the key, not empty
	 * @param delta the number to add, negative to subtract
	 * @return the sum as this call sees it. With the orderings {@code key} and
	 * {@code none}, it lacks the additions of concurrent calls, but no addition is lost
	 * @throws UnreadableStateException if the stored value is not a whole number, like
	 * {@link #get}
	 * @throws ArithmeticException if the sum does not fit into a {@code long}
	 */
	long increment(String key, long delta);

	/**
	 * Returns the keys that have a value.
	 * @return an immutable copy, in their natural order
	 * @see #keys(String)
	 */
	default Set<String> keys() {
		return keys("");
	}

	/**
	 * Returns the keys that have a value and begin with a prefix. They are in memory
	 * then, so the call may change the state while it iterates over them. With
	 * {@code shardkeeper.consumer.state.read: on-use} the store passes over all entries
	 * for this, in small steps, and returns only these keys: the time that it takes grows
	 * with the whole state, a second or more for a million entries.
	 * @param prefix the prefix, empty for all keys
	 * @return an immutable copy, in their natural order
	 */
	Set<String> keys(String prefix);

}
