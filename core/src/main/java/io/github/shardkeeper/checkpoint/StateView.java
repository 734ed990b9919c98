package io.github.shardkeeper.checkpoint;

import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.text.EncodableText;
import io.github.shardkeeper.text.FailureText;
import io.github.shardkeeper.text.PrintableText;

/**
 * State of a shard as one handler call sees it, with the writes of that call. Confined to
 * the thread of the call until it has returned.
 */
@Internal
public final class StateView implements ShardState, AutoCloseable {

	/** Maximum length of an entry: its key and its value as JSON, in characters. */
	static final int MAX_ENTRY_LENGTH = 16 * 1024 * 1024;

	/** The writes of one call are in one commit. */
	static final int MAX_WRITTEN_LENGTH = 4 * MAX_ENTRY_LENGTH;

	private static final int MAX_NUMBER_LENGTH = 20;

	private static final int MAX_KEY_LENGTH_SHOWN = 100;

	/** With more, a map finds them faster. Most calls write one or two entries. */
	private static final int MAX_LINKED_WRITES = 8;

	/** JSON, or a {@link Counter}, by key. */
	private final Map<String, Object> entries;

	private final StateValues values;

	private final KeptRecords kept;

	/** Whether other calls run at the same time. */
	private final boolean recordsReads;

	private final long keyChanges;

	private final Thread thread;

	/** Last key that was written first, linked to those before it. */
	private @Nullable Write lastWrite;

	private int writes;

	/** All writes by key, once there are many. */
	private @Nullable Map<String, Write> writesByKey;

	/** Increments of numbers that were not written otherwise. */
	private @Nullable Map<String, Long> sums;

	/** Values that were read, as they were then. */
	private @Nullable Map<String, @Nullable String> reads;

	/** Length of the changes, keys and new values, in characters. */
	private long written;

	/** What takes back each write, the last one first; only after a savepoint. */
	private @Nullable Deque<Runnable> takesBack;

	private boolean hasReadKeys;

	private volatile boolean closed;

	StateView(Map<String, Object> entries, StateValues values, KeptRecords kept, boolean recordsReads,
			long keyChanges) {
		this.entries = entries;
		this.values = values;
		this.kept = kept;
		this.recordsReads = recordsReads;
		this.keyChanges = keyChanges;
		this.thread = Thread.currentThread();
	}

	@Override
	public <T> Optional<T> get(String key, Class<T> type) {
		check(key);
		Objects.requireNonNull(type, "type must not be null");
		if (!this.recordsReads && (type == Long.class || type == Integer.class)) {
			T number = readNumber(key, type);
			if (number != null) {
				return Optional.of(number);
			}
		}
		String json = read(key);
		return (json != null) ? Optional.ofNullable(read(key, json, type)) : Optional.empty();
	}

	@Override
	public <T> Optional<T> get(String key, TypeReference<T> type) {
		check(key);
		Objects.requireNonNull(type, "type must not be null");
		String json = read(key);
		return (json != null) ? Optional.ofNullable(converted(key, type.getType(), () -> this.values.read(json, type)))
				: Optional.empty();
	}

	/** Returns a number that is not JSON, {@code null} for all other values. */
	private <T> @Nullable T readNumber(String key, Class<T> type) {
		Write write = find(key);
		if (write != null) {
			return write.isNumber ? this.values.read(write.number, type) : null;
		}
		return (this.entries.get(key) instanceof Counter counter) ? this.values.read(counter.value, type) : null;
	}

	private <T> @Nullable T read(String key, String json, Class<T> type) {
		T keptValue = this.kept.find(key, json, type);
		if (keptValue != null) {
			return keptValue;
		}
		T value = converted(key, type, () -> this.values.read(json, type));
		if (value != null && this.values.isImmutableRecord(type)) {
			this.kept.keep(key, json, value);
		}
		return value;
	}

	private static <T> @Nullable T converted(String key, Type type, Supplier<@Nullable T> conversion) {
		try {
			return conversion.get();
		}
		catch (JacksonException ex) {
			throw unreadable(key, type, ex.getOriginalMessage(), ex);
		}
		catch (ValueVersionException ex) {
			throw unreadable(key, type, ex.reason(), ex);
		}
		catch (RuntimeException | LinkageError ex) {
			// From a deserializer or the class itself.
			throw unreadable(key, type, ex.toString(), ex);
		}
	}

	private static UnreadableStateException unreadable(String key, Type type, String reason, Throwable cause) {
		return new UnreadableStateException(PrintableText.of(key, MAX_KEY_LENGTH_SHOWN), type, PrintableText.of(reason),
				cause);
	}

	@Override
	public void put(String key, Object value) {
		check(key);
		Objects.requireNonNull(value, "value must not be null; use remove(key) to remove an entry");
		if (!this.recordsReads && this.values.isPlainNumber(value)) {
			write(key, ((Number) value).longValue());
			return;
		}
		try {
			String json = this.values.write(value);
			write(key, json);
			if (this.values.mayBeKept(value, json)) {
				this.kept.keep(key, json, value);
			}
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException(
					"The value for key '%s' of type %s cannot be written as JSON: %s".formatted(PrintableText.of(key),
							value.getClass().getName(), FailureText.ofWritingJson(ex.getOriginalMessage())),
					ex);
		}
		catch (ValueVersionException ex) {
			throw new IllegalArgumentException("The value for key '%s' of type %s cannot be stored: %s"
				.formatted(PrintableText.of(key), value.getClass().getName(), PrintableText.of(ex.reason())), ex);
		}
	}

	@Override
	public void remove(String key) {
		check(key);
		write(key, null);
	}

	@Override
	public long increment(String key, long delta) {
		check(key);
		Write write = find(key);
		if (!this.recordsReads) {
			long sum = Math.addExact((write != null) ? write.number() : number(key, this.entries.get(key)), delta);
			write(key, sum);
			return sum;
		}
		if (write != null) {
			long sum = Math.addExact(write.number(), delta);
			write(key, Long.toString(sum));
			return sum;
		}
		// Increments of several calls commute, so they are no reads.
		if (this.sums == null) {
			this.sums = new HashMap<>();
		}
		long added = Math.addExact(this.sums.getOrDefault(key, 0L), delta);
		long sum = Math.addExact(number(key, this.entries.get(key)), added);
		boolean again = this.sums.containsKey(key);
		if (!again) {
			requireRoom(key, MAX_NUMBER_LENGTH, this.written + key.length());
		}
		remember(key);
		this.written += again ? 0 : key.length();
		this.sums.put(key, added);
		return sum;
	}

	private static long number(String key, @Nullable Object entry) {
		if (entry == null) {
			return 0;
		}
		if (entry instanceof Counter counter) {
			return counter.value;
		}
		try {
			return Long.parseLong((String) entry);
		}
		catch (NumberFormatException ex) {
			throw unreadable(key, Long.class, "It is not a whole number: " + entry, ex);
		}
	}

	@Override
	public Set<String> keys() {
		check("-");
		this.hasReadKeys = true;
		Set<String> keys = new TreeSet<>(this.entries.keySet());
		for (Write write = this.lastWrite; write != null; write = write.before) {
			if (write.isRemoval()) {
				keys.remove(write.key);
			}
			else {
				keys.add(write.key);
			}
		}
		if (this.sums != null) {
			keys.addAll(this.sums.keySet());
		}
		return Collections.unmodifiableSet(keys);
	}

	private @Nullable String read(String key) {
		Write write = find(key);
		if (write != null) {
			return write.json();
		}
		String json = JournaledState.json(this.entries.get(key));
		if (this.recordsReads) {
			if (this.reads == null) {
				this.reads = new HashMap<>();
			}
			// The first value counts: a call that has read two values has to be repeated.
			this.reads.putIfAbsent(key, json);
			Map<String, Long> sums = this.sums;
			Long added = (sums != null) ? sums.get(key) : null;
			if (sums != null && added != null) {
				remember(key);
				sums.remove(key);
				String sum = Long.toString(Math.addExact(number(key, json), added));
				write(key, sum);
				return sum;
			}
		}
		return json;
	}

	private @Nullable Write find(String key) {
		if (this.writesByKey != null) {
			return this.writesByKey.get(key);
		}
		for (Write write = this.lastWrite; write != null; write = write.before) {
			if (write.key.equals(key)) {
				return write;
			}
		}
		return null;
	}

	private void write(String key, @Nullable String json) {
		remember(key);
		Write write = written(key, length(json));
		write.json = json;
		write.isNumber = false;
		if (this.sums != null) {
			this.sums.remove(key);
		}
	}

	/** Writes a number; only without other calls. */
	private void write(String key, long number) {
		remember(key);
		Write write = written(key, length(number));
		write.json = null;
		write.number = number;
		write.isNumber = true;
	}

	/** Returns the write of a key, which has room for a value of a length. */
	private Write written(String key, int length) {
		Write earlier = find(key);
		boolean again = earlier != null || this.sums != null && this.sums.containsKey(key);
		long writtenThen = this.written + length - ((earlier != null) ? earlier.length() : 0)
				+ (again ? 0 : key.length());
		requireRoom(key, length, writtenThen);
		this.written = writtenThen;
		return (earlier != null) ? earlier : addWrite(key);
	}

	private Write addWrite(String key) {
		Write added = new Write(key, this.lastWrite);
		this.lastWrite = added;
		this.writes++;
		if (this.writesByKey != null) {
			this.writesByKey.put(key, added);
		}
		else if (this.writes > MAX_LINKED_WRITES) {
			this.writesByKey = new HashMap<>();
			for (Write each = added; each != null; each = each.before) {
				this.writesByKey.put(each.key, each);
			}
		}
		return added;
	}

	/**
	 * Returns an action that takes back what is written from now on. What was read
	 * meanwhile stays read: the call may depend on it.
	 */
	public Runnable savepoint() {
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
		String json = (earlier != null) ? earlier.json : null;
		long number = (earlier != null) ? earlier.number : 0;
		boolean isNumber = earlier != null && earlier.isNumber;
		Long sum = (this.sums != null) ? this.sums.get(key) : null;
		long length = this.written;
		this.takesBack.push(() -> {
			if (earlier != null) {
				earlier.json = json;
				earlier.number = number;
				earlier.isNumber = isNumber;
			}
			else {
				removeLastWrite(key);
			}
			restoreSum(key, sum);
			this.written = length;
		});
	}

	/** Removes the write of a key if there is one; then it was the last one added. */
	private void removeLastWrite(String key) {
		Write last = this.lastWrite;
		if (last == null || !last.key.equals(key)) {
			return;
		}
		this.lastWrite = last.before;
		this.writes--;
		if (this.writesByKey != null) {
			this.writesByKey.remove(key);
		}
	}

	private void restoreSum(String key, @Nullable Long sum) {
		if (this.sums == null) {
			return;
		}
		if (sum != null) {
			this.sums.put(key, sum);
		}
		else {
			this.sums.remove(key);
		}
	}

	private static int length(@Nullable String json) {
		return (json != null) ? json.length() : 0;
	}

	private static int length(long number) {
		int length = (number < 0) ? 2 : 1;
		for (long left = number / 10; left != 0; left /= 10) {
			length++;
		}
		return length;
	}

	private static void requireRoom(String key, int length, long written) {
		if (key.length() > MAX_ENTRY_LENGTH - length) {
			throw new IllegalArgumentException(
					("The entry of the state under key '%s' has a key of %,d characters and a value of %,d as JSON, but at "
							+ "most %,d in all are allowed: split it into several keys, or keep it in a store of your own")
						.formatted(abbreviated(key), key.length(), length, MAX_ENTRY_LENGTH));
		}
		if (written > MAX_WRITTEN_LENGTH) {
			throw new IllegalArgumentException(
					("With the value for key '%s' the call has written %,d characters to the state, and may write %,d: "
							+ "write less in one call, or take fewer records at once with 'shardkeeper.consumer.batch-size'")
						.formatted(abbreviated(key), written, MAX_WRITTEN_LENGTH));
		}
	}

	private static String abbreviated(String key) {
		return (key.length() <= MAX_KEY_LENGTH_SHOWN) ? key : key.substring(0, MAX_KEY_LENGTH_SHOWN) + "…";
	}

	private void check(String key) {
		if (this.closed || Thread.currentThread() != this.thread) {
			throw new IllegalStateException("ShardState may only be used inside the call that received it, "
					+ "on that call's thread: keep values, not the state");
		}
		Objects.requireNonNull(key, "key must not be null");
		if (key.isEmpty()) {
			throw new IllegalArgumentException("A key of the state must not be empty");
		}
		EncodableText.require(key, "A key of the state");
	}

	public boolean isUntouched() {
		return this.lastWrite == null && this.sums == null;
	}

	boolean isCurrent(Map<String, Object> now, long keyChangesNow) {
		if (this.hasReadKeys && this.keyChanges != keyChangesNow) {
			return false;
		}
		return this.reads == null || this.reads.entrySet()
			.stream()
			.allMatch((read) -> Objects.equals(now.get(read.getKey()), read.getValue()));
	}

	/** Returns the last of the writes to apply to the current entries. */
	@Nullable Write writes(Map<String, Object> now) {
		if (this.sums != null) {
			this.sums.forEach((key, added) -> {
				String sum = Long.toString(Math.addExact(number(key, now.get(key)), added));
				Write write = find(key);
				((write != null) ? write : addWrite(key)).json = sum;
			});
		}
		return this.lastWrite;
	}

	@Override
	public void close() {
		this.closed = true;
	}

	/**
	 * What a call has written under one key last: JSON, a number that is not JSON yet, or
	 * that the entry is removed.
	 */
	static final class Write {

		private final String key;

		/** Write of the key that was written before this one. */
		private final @Nullable Write before;

		private @Nullable String json;

		private long number;

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

		private boolean isRemoval() {
			return !this.isNumber && this.json == null;
		}

		/** Returns the value as a number, as an increment finds it. */
		long number() {
			return this.isNumber ? this.number : StateView.number(this.key, this.json);
		}

		/** Returns the value, {@code null} for none. */
		@Nullable String json() {
			return this.isNumber ? Long.toString(this.number) : this.json;
		}

		private int length() {
			return this.isNumber ? StateView.length(this.number) : StateView.length(this.json);
		}

	}

}
