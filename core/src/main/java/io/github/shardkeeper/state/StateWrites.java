package io.github.shardkeeper.state;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.state.value.ValueConversion;

/**
 * Writes of one handler call to the state: the last one of each key, and the increments
 * of numbers that the call has not read. They can be taken back to a savepoint. Confined
 * to the thread of the call until it has returned.
 */
final class StateWrites {

	/** Maximum length of an entry: its key and its value as JSON, in characters. */
	static final int MAX_ENTRY_LENGTH = 16 * 1024 * 1024;

	/** The writes of one call are in one commit. */
	static final int MAX_LENGTH = 4 * MAX_ENTRY_LENGTH;

	private static final int MAX_NUMBER_LENGTH = 20;

	/** With more, a map finds them faster. Most calls write one or two entries. */
	private static final int MAX_LINKED = 8;

	/** Last key that was written first, linked to those before it. */
	private @Nullable Write last;

	private int size;

	/** All writes by key, once there are many. */
	private @Nullable Map<String, Write> byKey;

	/** Increments of numbers that were not written otherwise. */
	private @Nullable Map<String, Long> increments;

	/** Length of the changes, keys and new values, in characters. */
	private long length;

	/** What takes back each write, the last one first; only after a savepoint. */
	private @Nullable Deque<Runnable> takesBack;

	boolean isEmpty() {
		return this.last == null && this.increments == null;
	}

	/** Returns the write of a key, {@code null} for none. */
	@Nullable Write find(String key) {
		if (this.byKey != null) {
			return this.byKey.get(key);
		}
		for (Write write = this.last; write != null; write = write.before) {
			if (write.key.equals(key)) {
				return write;
			}
		}
		return null;
	}

	/** Writes what is to be stored of a value, {@code null} to remove the entry. */
	void put(String key, @Nullable String stored) {
		remember(key);
		Write write = withRoom(key, length(stored));
		write.stored = stored;
		write.isNumber = false;
		if (this.increments != null) {
			this.increments.remove(key);
		}
	}

	/** Writes a number that is not a text yet; only without other calls. */
	void put(String key, long number, long expiresAt) {
		remember(key);
		Write write = withRoom(key, length(number) + ExpiringValues.length(expiresAt));
		write.stored = null;
		write.number = number;
		write.expiresAt = expiresAt;
		write.isNumber = true;
	}

	/** Returns what the call adds to a number so far, {@code null} for nothing. */
	@Nullable Long increment(String key) {
		return (this.increments != null) ? this.increments.get(key) : null;
	}

	/** Sets what the call adds to a number in all. */
	void increment(String key, long added) {
		Map<String, Long> all = (this.increments != null) ? this.increments : new HashMap<>();
		this.increments = all;
		boolean again = all.containsKey(key);
		if (!again) {
			requireRoom(key, MAX_NUMBER_LENGTH, this.length + key.length());
		}
		remember(key);
		this.length += again ? 0 : key.length();
		all.put(key, added);
	}

	/** Returns whether the keys of all increments meet a condition. */
	boolean allIncrements(Predicate<String> condition) {
		return this.increments == null || this.increments.keySet().stream().allMatch(condition);
	}

	/** Adds keys with a prefix that were written, and removes those that were removed. */
	void applyTo(Set<String> keys, String prefix) {
		for (Write write = this.last; write != null; write = write.before) {
			if (write.isRemoval()) {
				keys.remove(write.key);
			}
			else if (write.key.startsWith(prefix)) {
				keys.add(write.key);
			}
		}
		if (this.increments != null) {
			this.increments.keySet().stream().filter((key) -> key.startsWith(prefix)).forEach(keys::add);
		}
	}

	/**
	 * Makes writes of the increments.
	 * @param sums returns what is to be stored of a number to which the call adds
	 * @return the last write, linked to those before it
	 */
	@Nullable Write resolve(BiFunction<String, Long, String> sums) {
		if (this.increments != null) {
			this.increments.forEach((key, added) -> {
				String sum = sums.apply(key, added);
				Write write = find(key);
				((write != null) ? write : add(key)).stored = sum;
			});
		}
		return this.last;
	}

	/** Returns the write of a key, which has room for a value of a length. */
	private Write withRoom(String key, int valueLength) {
		Write earlier = find(key);
		boolean again = earlier != null || increment(key) != null;
		long lengthThen = this.length + valueLength - ((earlier != null) ? earlier.length() : 0)
				+ (again ? 0 : key.length());
		requireRoom(key, valueLength, lengthThen);
		this.length = lengthThen;
		return (earlier != null) ? earlier : add(key);
	}

	private Write add(String key) {
		Write added = new Write(key, this.last);
		this.last = added;
		this.size++;
		if (this.byKey != null) {
			this.byKey.put(key, added);
		}
		else if (this.size > MAX_LINKED) {
			this.byKey = new HashMap<>();
			for (Write each = added; each != null; each = each.before) {
				this.byKey.put(each.key, each);
			}
		}
		return added;
	}

	/** Returns an action that takes back what is written from now on. */
	Runnable savepoint() {
		Deque<Runnable> since = (this.takesBack != null) ? this.takesBack : new ArrayDeque<>();
		this.takesBack = since;
		int kept = since.size();
		return () -> {
			while (since.size() > kept) {
				since.pop().run();
			}
		};
	}

	/** Keeps what is written under a key, before that changes. */
	private void remember(String key) {
		if (this.takesBack == null) {
			return;
		}
		Write earlier = find(key);
		String stored = (earlier != null) ? earlier.stored : null;
		long number = (earlier != null) ? earlier.number : 0;
		long expiresAt = (earlier != null) ? earlier.expiresAt : 0;
		boolean isNumber = earlier != null && earlier.isNumber;
		Long added = increment(key);
		long lengthBefore = this.length;
		this.takesBack.push(() -> {
			if (earlier != null) {
				earlier.stored = stored;
				earlier.number = number;
				earlier.expiresAt = expiresAt;
				earlier.isNumber = isNumber;
			}
			else {
				removeLast(key);
			}
			restoreIncrement(key, added);
			this.length = lengthBefore;
		});
	}

	/** Removes the write of a key if there is one; then it was the last one added. */
	private void removeLast(String key) {
		Write write = this.last;
		if (write == null || !write.key.equals(key)) {
			return;
		}
		this.last = write.before;
		this.size--;
		if (this.byKey != null) {
			this.byKey.remove(key);
		}
	}

	private void restoreIncrement(String key, @Nullable Long added) {
		if (this.increments == null) {
			return;
		}
		if (added != null) {
			this.increments.put(key, added);
		}
		else {
			this.increments.remove(key);
		}
	}

	private static int length(@Nullable String stored) {
		return (stored != null) ? stored.length() : 0;
	}

	private static int length(long number) {
		int length = (number < 0) ? 2 : 1;
		for (long left = number / 10; left != 0; left /= 10) {
			length++;
		}
		return length;
	}

	private static void requireRoom(String key, int valueLength, long lengthThen) {
		if (key.length() > MAX_ENTRY_LENGTH - valueLength) {
			throw new IllegalArgumentException(
					("The entry of the state under key '%s' has a key of %,d characters and a value of %,d as JSON, but at "
							+ "most %,d in all are allowed: split it into several keys, or keep it in a store of your own")
						.formatted(ValueConversion.shown(key), key.length(), valueLength, MAX_ENTRY_LENGTH));
		}
		if (lengthThen > MAX_LENGTH) {
			throw new IllegalArgumentException(
					("With the value for key '%s' the call has written %,d characters to the state, and may write %,d: "
							+ "write less in one call, or take fewer records at once with 'shardkeeper.consumer.batch-size'")
						.formatted(ValueConversion.shown(key), lengthThen, MAX_LENGTH));
		}
	}

	/**
	 * What a call has written under one key last: what is to be stored, a number that is
	 * not a text yet, or that the entry is removed.
	 */
	static final class Write {

		private final String key;

		/** Write of the key that was written before this one. */
		private final @Nullable Write before;

		private @Nullable String stored;

		private long number;

		/** Expiry of the number. */
		private long expiresAt;

		private boolean isNumber;

		private Write(String key, @Nullable Write before) {
			this.key = key;
			this.before = before;
		}

		String key() {
			return this.key;
		}

		@Nullable Write before() {
			return this.before;
		}

		boolean isNumber() {
			return this.isNumber;
		}

		boolean isRemoval() {
			return !this.isNumber && this.stored == null;
		}

		/** Returns the value as a number, as an increment finds it. */
		long number() {
			return this.isNumber ? this.number : ValueConversion.number(this.key, this.stored);
		}

		/** Returns when the value expires. */
		long expiresAt() {
			return this.isNumber ? this.expiresAt : JournaledState.expiresAt(this.stored);
		}

		/** Returns what is to be stored, {@code null} for nothing. */
		@Nullable String stored() {
			return this.isNumber ? ExpiringValues.stored(Long.toString(this.number), this.expiresAt) : this.stored;
		}

		private int length() {
			return this.isNumber ? StateWrites.length(this.number) + ExpiringValues.length(this.expiresAt)
					: StateWrites.length(this.stored);
		}

	}

}
