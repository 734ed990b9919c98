package io.github.shardkeeper.consumer;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.ShardState;

/**
 * The state of one owned shard: all entries in memory, those changed since the last
 * commit remembered, and a journal that undoes what a failed call has written. Confined
 * to the shard's worker; handlers get a {@link View} of it that ends with their call.
 */
final class JournaledState {

	private final JsonMapper mapper;

	private final Map<String, String> entries;

	private final Map<String, @Nullable String> uncommitted = new HashMap<>();

	/** What stood in {@link #entries} before this call's first write. */
	private final Map<String, @Nullable String> undo = new HashMap<>();

	JournaledState(Map<String, String> entries, JsonMapper mapper) {
		this.entries = new HashMap<>(entries);
		this.mapper = mapper;
	}

	/** Opens the state for one call on the current thread. */
	View open() {
		this.undo.clear();
		return new View(Thread.currentThread());
	}

	/** What the call wrote stays. */
	void keep() {
		this.undo.keySet().forEach((key) -> this.uncommitted.put(key, this.entries.get(key)));
		this.undo.clear();
	}

	/** What the call wrote is undone. */
	void rollBack() {
		this.undo.forEach((key, before) -> {
			if (before != null) {
				this.entries.put(key, before);
			}
			else {
				this.entries.remove(key);
			}
		});
		this.undo.clear();
	}

	/** The changes to be committed, removed entries as {@code null}. */
	Map<String, @Nullable String> uncommitted() {
		return this.uncommitted;
	}

	/** All entries, committed or not. */
	Map<String, String> entries() {
		return Collections.unmodifiableMap(this.entries);
	}

	void committed() {
		this.uncommitted.clear();
	}

	private void write(String key, @Nullable String json) {
		String before = (json != null) ? this.entries.put(key, json) : this.entries.remove(key);
		if (!Objects.equals(before, json) && !this.undo.containsKey(key)) {
			this.undo.put(key, before);
		}
	}

	/** The state as one call sees it. Confined to that call's thread. */
	final class View implements ShardState, AutoCloseable {

		private final Thread thread;

		private volatile boolean closed;

		private View(Thread thread) {
			this.thread = thread;
		}

		@Override
		public <T> Optional<T> get(String key, Class<T> type) {
			check(key);
			String json = JournaledState.this.entries.get(key);
			return (json != null) ? Optional.ofNullable(read(key, json, type)) : Optional.empty();
		}

		private <T> @Nullable T read(String key, String json, Class<T> type) {
			try {
				return JournaledState.this.mapper.readValue(json, type);
			}
			catch (JacksonException ex) {
				throw new IllegalArgumentException("The state under key '%s' cannot be read as %s: %s".formatted(key,
						type.getName(), ex.getOriginalMessage()), ex);
			}
		}

		@Override
		public void put(String key, Object value) {
			check(key);
			Objects.requireNonNull(value, "The value is null; use remove(key) to remove it");
			try {
				write(key, JournaledState.this.mapper.writeValueAsString(value));
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
			String json = JournaledState.this.entries.get(key);
			long sum = Math.addExact((json != null) ? number(key, json) : 0, delta);
			write(key, Long.toString(sum));
			return sum;
		}

		private static long number(String key, String json) {
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
			return Collections.unmodifiableSet(new TreeSet<>(JournaledState.this.entries.keySet()));
		}

		private void check(String key) {
			if (this.closed || Thread.currentThread() != this.thread) {
				throw new IllegalStateException("ShardState may only be used inside the call that received it, "
						+ "on that call's thread: keep values, not the state");
			}
			if (key.isEmpty()) {
				throw new IllegalArgumentException("A key of the state must not be empty");
			}
		}

		@Override
		public void close() {
			this.closed = true;
		}

	}

}
