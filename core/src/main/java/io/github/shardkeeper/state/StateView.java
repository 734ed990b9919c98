package io.github.shardkeeper.state;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;

import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallScoped;
import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.state.value.ValueConversion;
import io.github.shardkeeper.text.DurationText;
import io.github.shardkeeper.text.EncodableText;

/**
 * State of a shard as one handler call sees it, with the writes of that call. Confined to
 * the call until it has ended.
 */
public final class StateView extends CallScoped implements ShardState {

	private final JournaledState state;

	private final ValueConversion conversion;

	/** Whether other calls run at the same time. */
	private final boolean shared;

	private final StateReads reads;

	private final StateWrites writes = new StateWrites();

	StateView(JournaledState state, long nowMillis) {
		this.state = state;
		this.conversion = state.conversion();
		this.shared = state.isShared();
		this.reads = this.shared ? new SharedReads(state, nowMillis) : new StateReads(state.entries(), nowMillis);
	}

	long nowMillis() {
		return this.reads.nowMillis();
	}

	@Override
	public <T> Optional<T> get(String key, Class<T> type) {
		check(key);
		Objects.requireNonNull(type, "type must not be null");
		if (!this.shared && (type == Long.class || type == Integer.class)) {
			T number = readNumber(key, type);
			if (number != null) {
				return Optional.of(number);
			}
		}
		String stored = read(key);
		return (stored != null) ? Optional.ofNullable(this.conversion.read(key, stored, type)) : Optional.empty();
	}

	@Override
	public <T> Optional<T> get(String key, TypeReference<T> type) {
		check(key);
		Objects.requireNonNull(type, "type must not be null");
		String stored = read(key);
		return (stored != null) ? Optional.ofNullable(this.conversion.read(key, stored, type)) : Optional.empty();
	}

	/** Returns a number that is not JSON, {@code null} for all other values. */
	private <T> @Nullable T readNumber(String key, Class<T> type) {
		StateWrites.Write write = this.writes.find(key);
		if (write != null) {
			return write.isNumber() ? this.conversion.read(write.number(), type) : null;
		}
		return (this.reads.entry(key) instanceof Counter counter) ? this.conversion.read(counter.value, type) : null;
	}

	/** Returns what is stored of a value, {@code null} for none. */
	private @Nullable String read(String key) {
		StateWrites.Write write = this.writes.find(key);
		if (write != null) {
			return write.stored();
		}
		Object entry = this.reads.entry(key);
		String stored = JournaledState.stored(entry);
		this.reads.keep(key, stored);
		if (this.shared) {
			Long added = this.writes.increment(key);
			if (added != null) {
				String sum = sum(key, entry, added);
				this.writes.put(key, sum);
				return sum;
			}
		}
		return stored;
	}

	@Override
	public void prefetch(Collection<String> keys) {
		Objects.requireNonNull(keys, "keys must not be null");
		check("-");
		keys.forEach(this::check);
		this.reads.prefetch(keys);
	}

	@Override
	public Set<String> keys(String prefix) {
		Objects.requireNonNull(prefix, "prefix must not be null");
		check("-");
		EncodableText.require(prefix, "A prefix of keys of the state");
		Set<String> keys = new TreeSet<>(this.reads.keys(prefix));
		this.writes.applyTo(keys, prefix);
		return Collections.unmodifiableSet(keys);
	}

	@Override
	public void put(String key, Object value) {
		check(key);
		put(key, value, newExpiry());
	}

	@Override
	public void put(String key, Object value, Duration ttl) {
		check(key);
		Objects.requireNonNull(ttl, "ttl must not be null");
		if (ttl.compareTo(ExpiringValues.MIN_TTL) < 0 || ttl.compareTo(ExpiringValues.MAX_TTL) > 0) {
			throw new IllegalArgumentException(
					"The value for key '%s' has a time to live of %s: use one from %s to %s, or none for a value that stays"
						.formatted(ValueConversion.shown(key), DurationText.of(ttl),
								DurationText.of(ExpiringValues.MIN_TTL), DurationText.of(ExpiringValues.MAX_TTL)));
		}
		put(key, value, ExpiringValues.expiry(nowMillis(), ttl));
	}

	/** Returns when a value expires that is put without a time to live. */
	private long newExpiry() {
		return ExpiringValues.expiry(nowMillis(), this.state.ttl());
	}

	private void put(String key, Object value, long expiresAt) {
		Objects.requireNonNull(value, "value must not be null; use remove(key) to remove an entry");
		if (!this.shared && this.conversion.isPlainNumber(value)) {
			this.writes.put(key, ((Number) value).longValue(), expiresAt);
			return;
		}
		String json = this.conversion.write(key, value);
		String stored = ExpiringValues.stored(json, expiresAt);
		this.writes.put(key, stored);
		this.conversion.written(key, value, json, stored);
	}

	@Override
	public void remove(String key) {
		check(key);
		this.writes.put(key, null);
	}

	@Override
	public long increment(String key, long delta) {
		check(key);
		StateWrites.Write write = this.writes.find(key);
		if (write != null) {
			long sum = Math.addExact(write.number(), delta);
			putSum(key, sum, write.isRemoval() ? newExpiry() : write.expiresAt());
			return sum;
		}
		Object entry = this.reads.entry(key);
		if (!this.shared) {
			long sum = Math.addExact(number(key, entry), delta);
			putSum(key, sum, expiryOfSum(entry));
			return sum;
		}
		// Increments of several calls commute, so they are no reads.
		Long before = this.writes.increment(key);
		long added = Math.addExact((before != null) ? before : 0, delta);
		long sum = Math.addExact(number(key, entry), added);
		this.writes.increment(key, added);
		return sum;
	}

	private void putSum(String key, long sum, long expiresAt) {
		if (this.shared) {
			this.writes.put(key, ExpiringValues.stored(Long.toString(sum), expiresAt));
		}
		else {
			this.writes.put(key, sum, expiresAt);
		}
	}

	/** Returns what is stored of a number to which the call adds. */
	private String sum(String key, @Nullable Object entry, long added) {
		long sum = Math.addExact(number(key, entry), added);
		return ExpiringValues.stored(Long.toString(sum), expiryOfSum(entry));
	}

	private static long number(String key, @Nullable Object entry) {
		return (entry instanceof Counter counter) ? counter.value
				: ValueConversion.number(key, JournaledState.stored(entry));
	}

	/** Returns when a sum expires: as the value does that it changes, or a new one. */
	private long expiryOfSum(@Nullable Object entry) {
		return (entry != null) ? JournaledState.expiresAt(entry) : newExpiry();
	}

	private void check(String key) {
		if (!isUsable()) {
			throw new IllegalStateException("ShardState may only be used inside the call that received it, "
					+ "on that call's thread: keep values, not the state");
		}
		Objects.requireNonNull(key, "key must not be null");
		if (key.isEmpty()) {
			throw new IllegalArgumentException("A key of the state must not be empty");
		}
		EncodableText.require(key, "A key of the state");
	}

	/**
	 * Returns an action that takes back what is written from now on. What was read
	 * meanwhile stays read: the call may depend on it.
	 */
	public Runnable savepoint() {
		return this.writes.savepoint();
	}

	/** Returns whether the call has written nothing. */
	public boolean isUntouched() {
		return this.writes.isEmpty();
	}

	/**
	 * Returns why an entry could not be read: then the call has to be repeated, whatever
	 * it has made of that. {@code null} if all could be read.
	 */
	public @Nullable StoreUnavailableException unavailable() {
		return this.reads.unavailable();
	}

	/**
	 * Returns whether a call that began now, at the same time of day, would read what
	 * this one has read.
	 */
	boolean isCurrent() {
		return this.writes.allIncrements(this.reads::isKnown) && this.reads.isCurrent();
	}

	/** Returns the last of the writes to apply to the current entries. */
	StateWrites.@Nullable Write writes() {
		return this.writes.resolve((key, added) -> sum(key, this.reads.currentEntry(key), added));
	}

	/** Lets the entries go that the call has read. */
	public void release() {
		this.reads.release();
	}

	@Override
	public void close() {
		super.close();
		this.state.closed(this);
	}

}
