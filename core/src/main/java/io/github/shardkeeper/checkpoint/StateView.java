package io.github.shardkeeper.checkpoint;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
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
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.text.DurationText;
import io.github.shardkeeper.text.EncodableText;
import io.github.shardkeeper.text.FailureText;
import io.github.shardkeeper.text.PrintableText;

/**
 * State of a shard as one handler call sees it, with the writes of that call. Confined to
 * the call until it has ended.
 */
@Internal
public final class StateView extends CallScoped implements ShardState {

	/** Maximum length of an entry: its key and its value as JSON, in characters. */
	static final int MAX_ENTRY_LENGTH = 16 * 1024 * 1024;

	/** The writes of one call are in one commit. */
	static final int MAX_WRITTEN_LENGTH = 4 * MAX_ENTRY_LENGTH;

	private static final int MAX_NUMBER_LENGTH = 20;

	private static final int MAX_KEY_LENGTH_SHOWN = 100;

	/** With more, a map finds them faster. Most calls write one or two entries. */
	private static final int MAX_LINKED_WRITES = 8;

	private final JournaledState state;

	private final StateEntries entries;

	private final StateValues values;

	private final KeptRecords kept;

	/** Time of the whole call. */
	private final long nowMillis;

	/** Whether other calls run at the same time. */
	private final boolean recordsReads;

	private final long keyChanges;

	/** Number of the last write of the entries before the call. */
	private final long opened;

	/** Last key that was written first, linked to those before it. */
	private @Nullable Write lastWrite;

	private int writes;

	/** All writes by key, once there are many. */
	private @Nullable Map<String, Write> writesByKey;

	/** Increments of numbers that were not written otherwise. */
	private @Nullable Map<String, Long> sums;

	/** What was stored of values that were read, as it was then. */
	private @Nullable Map<String, @Nullable String> reads;

	/**
	 * Keys that had a value when the call asked for them, by prefix; only with other
	 * calls.
	 */
	private @Nullable Map<String, Set<String>> keysRead;

	/** Keys of entries that stay in memory until the call is processed. */
	private @Nullable Set<String> held;

	/** Why an entry could not be read, {@code null} if all could. */
	private @Nullable StoreUnavailableException unavailable;

	/** Length of the changes, keys and new values, in characters. */
	private long written;

	/** What takes back each write, the last one first; only after a savepoint. */
	private @Nullable Deque<Runnable> takesBack;

	StateView(JournaledState state, long nowMillis) {
		this.state = state;
		this.entries = state.entries();
		this.values = state.values();
		this.kept = state.kept();
		this.recordsReads = state.isShared();
		this.keyChanges = state.keyChanges();
		this.opened = this.entries.writes();
		this.nowMillis = nowMillis;
	}

	long nowMillis() {
		return this.nowMillis;
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
		String stored = read(key);
		return (stored != null) ? Optional.ofNullable(read(key, stored, type)) : Optional.empty();
	}

	@Override
	public <T> Optional<T> get(String key, TypeReference<T> type) {
		check(key);
		Objects.requireNonNull(type, "type must not be null");
		String stored = read(key);
		return (stored != null)
				? Optional.ofNullable(
						converted(key, type.getType(), () -> this.values.read(ExpiringValues.value(stored), type)))
				: Optional.empty();
	}

	/** Returns a number that is not JSON, {@code null} for all other values. */
	private <T> @Nullable T readNumber(String key, Class<T> type) {
		Write write = find(key);
		if (write != null) {
			return write.isNumber ? this.values.read(write.number, type) : null;
		}
		return (entry(key) instanceof Counter counter) ? this.values.read(counter.value, type) : null;
	}

	/** Returns an entry that has not expired, {@code null} for none. */
	private @Nullable Object entry(String key) {
		if (this.recordsReads) {
			hold(key);
		}
		Object entry = fromStore(() -> this.entries.read(key, this.opened));
		return isPresent(entry) ? entry : null;
	}

	/** Returns it as far as it is in memory now, for the shard's worker. */
	private @Nullable Object currentEntry(String key) {
		Object entry = this.entries.known(key);
		return isPresent(entry) ? entry : null;
	}

	private void hold(String key) {
		Set<String> already = (this.held != null) ? this.held : new HashSet<>();
		this.held = already;
		if (already.add(key)) {
			this.entries.hold(key);
		}
	}

	/** Lets the entries go that the call has read. */
	public void release() {
		Set<String> left = this.held;
		if (left != null) {
			this.held = null;
			this.entries.release(left);
		}
	}

	/** Remembers that the store was away: the call may hide that. */
	private <T extends @Nullable Object> T fromStore(Supplier<T> read) {
		try {
			return read.get();
		}
		catch (StoreUnavailableException ex) {
			this.unavailable = ex;
			throw ex;
		}
	}

	/**
	 * Returns why an entry could not be read: then the call has to be repeated, whatever
	 * it has made of that. {@code null} if all could be read.
	 */
	public @Nullable StoreUnavailableException unavailable() {
		return this.unavailable;
	}

	private boolean isPresent(@Nullable Object entry) {
		return entry != null && this.nowMillis < JournaledState.expiresAt(entry);
	}

	private <T> @Nullable T read(String key, String stored, Class<T> type) {
		T keptValue = this.kept.find(key, stored, type);
		if (keptValue != null) {
			return keptValue;
		}
		T value = converted(key, type, () -> this.values.read(ExpiringValues.value(stored), type));
		if (value != null && this.values.isImmutableRecord(type)) {
			this.kept.keep(key, stored, value);
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
		put(key, value, newExpiry());
	}

	@Override
	public void put(String key, Object value, Duration ttl) {
		check(key);
		Objects.requireNonNull(ttl, "ttl must not be null");
		if (ttl.compareTo(ExpiringValues.MIN_TTL) < 0 || ttl.compareTo(ExpiringValues.MAX_TTL) > 0) {
			throw new IllegalArgumentException(
					"The value for key '%s' has a time to live of %s: use one from %s to %s, or none for a value that stays"
						.formatted(PrintableText.of(key, MAX_KEY_LENGTH_SHOWN), DurationText.of(ttl),
								DurationText.of(ExpiringValues.MIN_TTL), DurationText.of(ExpiringValues.MAX_TTL)));
		}
		put(key, value, ExpiringValues.expiry(this.nowMillis, ttl));
	}

	/** Returns when a value expires that is put without a time to live. */
	private long newExpiry() {
		return ExpiringValues.expiry(this.nowMillis, this.state.ttl());
	}

	private void put(String key, Object value, long expiresAt) {
		Objects.requireNonNull(value, "value must not be null; use remove(key) to remove an entry");
		if (!this.recordsReads && this.values.isPlainNumber(value)) {
			write(key, ((Number) value).longValue(), expiresAt);
			return;
		}
		try {
			String json = this.values.write(value);
			String stored = ExpiringValues.stored(json, expiresAt);
			write(key, stored);
			if (this.values.mayBeKept(value, json)) {
				this.kept.keep(key, stored, value);
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
			Object entry = (write != null) ? null : entry(key);
			long sum = Math.addExact((write != null) ? write.number() : number(key, entry), delta);
			write(key, sum, (write != null) ? expiryOfSum(write) : expiryOfSum(entry));
			return sum;
		}
		if (write != null) {
			long sum = Math.addExact(write.number(), delta);
			write(key, ExpiringValues.stored(Long.toString(sum), expiryOfSum(write)));
			return sum;
		}
		// Increments of several calls commute, so they are no reads.
		if (this.sums == null) {
			this.sums = new HashMap<>();
		}
		long added = Math.addExact(this.sums.getOrDefault(key, 0L), delta);
		long sum = Math.addExact(number(key, entry(key)), added);
		boolean again = this.sums.containsKey(key);
		if (!again) {
			requireRoom(key, MAX_NUMBER_LENGTH, this.written + key.length());
		}
		remember(key);
		this.written += again ? 0 : key.length();
		this.sums.put(key, added);
		return sum;
	}

	/** Returns when a sum expires: as the value does that it changes, or a new one. */
	private long expiryOfSum(@Nullable Object entry) {
		return (entry != null) ? JournaledState.expiresAt(entry) : newExpiry();
	}

	private long expiryOfSum(Write write) {
		return write.isRemoval() ? newExpiry() : write.expiresAt();
	}

	private static long number(String key, @Nullable Object entry) {
		if (entry == null) {
			return 0;
		}
		if (entry instanceof Counter counter) {
			return counter.value;
		}
		String value = ExpiringValues.value((String) entry);
		try {
			return Long.parseLong(value);
		}
		catch (NumberFormatException ex) {
			throw unreadable(key, Long.class, "It is not a whole number: " + value, ex);
		}
	}

	@Override
	public void prefetch(Collection<String> keys) {
		Objects.requireNonNull(keys, "keys must not be null");
		check("-");
		keys.forEach(this::check);
		if (this.recordsReads) {
			keys.forEach(this::hold);
		}
		fromStore(() -> {
			this.entries.prefetch(keys, this.opened);
			return keys;
		});
	}

	@Override
	public Set<String> keys(String prefix) {
		Objects.requireNonNull(prefix, "prefix must not be null");
		check("-");
		EncodableText.require(prefix, "A prefix of keys of the state");
		Set<String> keys = new TreeSet<>(this.recordsReads ? readKeys(prefix) : presentKeys(prefix));
		for (Write write = this.lastWrite; write != null; write = write.before) {
			if (write.isRemoval()) {
				keys.remove(write.key);
			}
			else if (write.key.startsWith(prefix)) {
				keys.add(write.key);
			}
		}
		if (this.sums != null) {
			this.sums.keySet().stream().filter((key) -> key.startsWith(prefix)).forEach(keys::add);
		}
		return Collections.unmodifiableSet(keys);
	}

	/** Returns the keys as the call has read them first. */
	private Set<String> readKeys(String prefix) {
		Map<String, Set<String>> read = (this.keysRead != null) ? this.keysRead : new HashMap<>();
		this.keysRead = read;
		return read.computeIfAbsent(prefix, this::presentKeys);
	}

	private Set<String> presentKeys(String prefix) {
		return fromStore(() -> this.entries.keys(prefix, this.nowMillis));
	}

	/** Returns what is stored of a value, {@code null} for none. */
	private @Nullable String read(String key) {
		Write write = find(key);
		if (write != null) {
			return write.stored();
		}
		Object entry = entry(key);
		String stored = JournaledState.stored(entry);
		if (this.recordsReads) {
			if (this.reads == null) {
				this.reads = new HashMap<>();
			}
			// The first value counts: a call that has read two values has to be repeated.
			this.reads.putIfAbsent(key, stored);
			Map<String, Long> sums = this.sums;
			Long added = (sums != null) ? sums.get(key) : null;
			if (sums != null && added != null) {
				remember(key);
				sums.remove(key);
				String sum = ExpiringValues.stored(Long.toString(Math.addExact(number(key, entry), added)),
						expiryOfSum(entry));
				write(key, sum);
				return sum;
			}
		}
		return stored;
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

	private void write(String key, @Nullable String stored) {
		remember(key);
		Write write = written(key, length(stored));
		write.stored = stored;
		write.isNumber = false;
		if (this.sums != null) {
			this.sums.remove(key);
		}
	}

	/** Writes a number; only without other calls. */
	private void write(String key, long number, long expiresAt) {
		remember(key);
		Write write = written(key, length(number) + ExpiringValues.length(expiresAt));
		write.stored = null;
		write.number = number;
		write.expiresAt = expiresAt;
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
		String stored = (earlier != null) ? earlier.stored : null;
		long number = (earlier != null) ? earlier.number : 0;
		long expiresAt = (earlier != null) ? earlier.expiresAt : 0;
		boolean isNumber = earlier != null && earlier.isNumber;
		Long sum = (this.sums != null) ? this.sums.get(key) : null;
		long length = this.written;
		this.takesBack.push(() -> {
			if (earlier != null) {
				earlier.stored = stored;
				earlier.number = number;
				earlier.expiresAt = expiresAt;
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

	public boolean isUntouched() {
		return this.lastWrite == null && this.sums == null;
	}

	/**
	 * Returns whether a call that began now, at the same time of day, would read what
	 * this one has read.
	 */
	boolean isCurrent() {
		if (this.keysRead != null && this.keyChanges != this.state.keyChanges()
				&& !this.keysRead.entrySet()
					.stream()
					.allMatch((read) -> this.entries.hasKeys(read.getKey(), read.getValue(), this.nowMillis))) {
			return false;
		}
		if (this.sums != null && this.sums.keySet().stream().anyMatch(this::isUnread)) {
			return false;
		}
		return this.reads == null || this.reads.entrySet()
			.stream()
			.allMatch((read) -> Objects.equals(currentEntry(read.getKey()), read.getValue()));
	}

	private boolean isUnread(String key) {
		return StateEntries.UNREAD.equals(this.entries.known(key));
	}

	/** Returns the last of the writes to apply to the current entries. */
	@Nullable Write writes() {
		if (this.sums != null) {
			this.sums.forEach((key, added) -> {
				Object entry = currentEntry(key);
				long sum = Math.addExact(number(key, entry), added);
				Write write = find(key);
				((write != null) ? write : addWrite(key)).stored = ExpiringValues.stored(Long.toString(sum),
						expiryOfSum(entry));
			});
		}
		return this.lastWrite;
	}

	@Override
	public void close() {
		super.close();
		this.state.closed(this);
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

		private boolean isRemoval() {
			return !this.isNumber && this.stored == null;
		}

		/** Returns the value as a number, as an increment finds it. */
		long number() {
			return this.isNumber ? this.number : StateView.number(this.key, this.stored);
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
			return this.isNumber ? StateView.length(this.number) + ExpiringValues.length(this.expiresAt)
					: StateView.length(this.stored);
		}

	}

}
