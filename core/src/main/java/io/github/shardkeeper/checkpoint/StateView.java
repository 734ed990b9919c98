package io.github.shardkeeper.checkpoint;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.text.PrintableText;

/**
 * State of a shard as one handler call sees it, with the writes of that call. Confined to
 * the thread of the call until it has returned.
 */
public final class StateView implements ShardState, AutoCloseable {

	/** Maximum length of an entry: its key and its value as JSON, in characters. */
	static final int MAX_ENTRY_LENGTH = 16 * 1024 * 1024;

	/** The writes of one call are in one commit. */
	static final int MAX_WRITTEN_LENGTH = 4 * MAX_ENTRY_LENGTH;

	private static final int MAX_NUMBER_LENGTH = 20;

	private static final int MAX_KEY_LENGTH_SHOWN = 100;

	private final Map<String, String> entries;

	private final StateValues values;

	private final KeptRecords kept;

	/** Whether other calls run at the same time. */
	private final boolean recordsReads;

	private final long keyChanges;

	private final Thread thread;

	private @Nullable Map<String, @Nullable String> writes;

	/** Increments of numbers that were not written otherwise. */
	private @Nullable Map<String, Long> sums;

	/** Values that were read, as they were then. */
	private @Nullable Map<String, @Nullable String> reads;

	/** Length of the changes, keys and new values, in characters. */
	private long written;

	private boolean hasReadKeys;

	private volatile boolean closed;

	StateView(Map<String, String> entries, StateValues values, KeptRecords kept, boolean recordsReads,
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
		String json = read(key);
		return (json != null) ? Optional.ofNullable(read(key, json, type)) : Optional.empty();
	}

	private <T> @Nullable T read(String key, String json, Class<T> type) {
		T keptValue = this.kept.find(key, json, type);
		if (keptValue != null) {
			return keptValue;
		}
		try {
			T value = this.values.read(json, type);
			if (value != null && this.values.isImmutableRecord(type)) {
				this.kept.keep(key, json, value);
			}
			return value;
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException("The state under key '%s' cannot be read as %s: %s"
				.formatted(PrintableText.of(key), type.getName(), PrintableText.of(ex.getOriginalMessage())), ex);
		}
	}

	@Override
	public void put(String key, Object value) {
		check(key);
		Objects.requireNonNull(value, "value must not be null; use remove(key) to remove an entry");
		try {
			String json = this.values.write(value);
			write(key, json);
			if (this.values.mayBeKept(value, json)) {
				this.kept.keep(key, json, value);
			}
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException("The value for key '%s' of type %s cannot be written as JSON"
				.formatted(key, value.getClass().getName()), ex);
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
		boolean writtenHere = this.writes != null && this.writes.containsKey(key);
		if (!this.recordsReads || writtenHere) {
			long sum = Math.addExact(number(key, writtenHere ? written(key) : this.entries.get(key)), delta);
			write(key, Long.toString(sum));
			return sum;
		}
		// Increments of several calls commute, so they are no reads.
		if (this.sums == null) {
			this.sums = new HashMap<>();
		}
		long added = Math.addExact(this.sums.getOrDefault(key, 0L), delta);
		long sum = Math.addExact(number(key, this.entries.get(key)), added);
		if (!this.sums.containsKey(key)) {
			requireRoom(key, MAX_NUMBER_LENGTH, this.written + key.length());
			this.written += key.length();
		}
		this.sums.put(key, added);
		return sum;
	}

	private static long number(String key, @Nullable String json) {
		if (json == null) {
			return 0;
		}
		try {
			return Long.parseLong(json);
		}
		catch (NumberFormatException ex) {
			throw new IllegalArgumentException(
					"The state under key '%s' is not a whole number: %s".formatted(key, json), ex);
		}
	}

	@Override
	public Set<String> keys() {
		check("-");
		this.hasReadKeys = true;
		Set<String> keys = new TreeSet<>(this.entries.keySet());
		if (this.writes != null) {
			this.writes.forEach((key, json) -> {
				if (json != null) {
					keys.add(key);
				}
				else {
					keys.remove(key);
				}
			});
		}
		if (this.sums != null) {
			keys.addAll(this.sums.keySet());
		}
		return Collections.unmodifiableSet(keys);
	}

	private @Nullable String read(String key) {
		if (this.writes != null && this.writes.containsKey(key)) {
			return written(key);
		}
		String json = this.entries.get(key);
		if (this.recordsReads) {
			if (this.reads == null) {
				this.reads = new HashMap<>();
			}
			// The first value counts: a call that has read two values has to be repeated.
			this.reads.putIfAbsent(key, json);
			Long added = (this.sums != null) ? this.sums.remove(key) : null;
			if (added != null) {
				String sum = Long.toString(Math.addExact(number(key, json), added));
				write(key, sum);
				return sum;
			}
		}
		return json;
	}

	private @Nullable String written(String key) {
		return (this.writes != null) ? this.writes.get(key) : null;
	}

	private void write(String key, @Nullable String json) {
		if (this.writes == null) {
			// Small: most calls write one or two entries.
			this.writes = new HashMap<>(4);
		}
		boolean again = this.writes.containsKey(key) || this.sums != null && this.sums.containsKey(key);
		long writtenThen = this.written + length(json) - length(this.writes.get(key)) + (again ? 0 : key.length());
		requireRoom(key, length(json), writtenThen);
		this.written = writtenThen;
		this.writes.put(key, json);
		if (this.sums != null) {
			this.sums.remove(key);
		}
	}

	private static int length(@Nullable String json) {
		return (json != null) ? json.length() : 0;
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
	}

	public boolean isUntouched() {
		return this.writes == null && this.sums == null;
	}

	boolean isCurrent(Map<String, String> now, long keyChangesNow) {
		if (this.hasReadKeys && this.keyChanges != keyChangesNow) {
			return false;
		}
		return this.reads == null || this.reads.entrySet()
			.stream()
			.allMatch((read) -> Objects.equals(now.get(read.getKey()), read.getValue()));
	}

	/** Returns the changes to apply to the current entries. */
	Map<String, @Nullable String> writes(Map<String, String> now) {
		Map<String, @Nullable String> all = (this.writes != null) ? this.writes : new HashMap<>();
		if (this.sums != null) {
			this.sums
				.forEach((key, added) -> all.put(key, Long.toString(Math.addExact(number(key, now.get(key)), added))));
		}
		return all;
	}

	@Override
	public void close() {
		this.closed = true;
	}

}
