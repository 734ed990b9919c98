package io.github.shardkeeper.state;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Entries of the state that one handler call reads while others run: kept, so that a call
 * whose reads are not current any more can be repeated. Confined to the thread of the
 * call until it has returned.
 */
final class SharedReads extends StateReads {

	private final JournaledState state;

	private final long keyChanges;

	/** What was stored of values that were read, as it was then. */
	private final Map<String, @Nullable String> values = new HashMap<>();

	/** Keys that had a value when the call asked for them, by prefix. */
	private final Map<String, Set<String>> keys = new HashMap<>();

	/** Keys of entries that stay in memory until the call is processed. */
	private Set<String> held = new HashSet<>();

	SharedReads(JournaledState state, long nowMillis) {
		super(state.entries(), nowMillis);
		this.state = state;
		this.keyChanges = state.keyChanges();
	}

	@Override
	@Nullable Object entry(String key) {
		hold(key);
		return super.entry(key);
	}

	/** The first value counts: a call that has read two values has to be repeated. */
	@Override
	void keep(String key, @Nullable String stored) {
		if (!this.values.containsKey(key)) {
			// Also if there was no value.
			this.values.put(key, stored);
		}
	}

	@Override
	void prefetch(Collection<String> wanted) {
		wanted.forEach(this::hold);
		super.prefetch(wanted);
	}

	/** Returns them as the call first read them. */
	@Override
	Set<String> keys(String prefix) {
		return this.keys.computeIfAbsent(prefix, super::keys);
	}

	private void hold(String key) {
		if (this.held.add(key)) {
			entries().hold(key);
		}
	}

	@Override
	void release() {
		Set<String> left = this.held;
		if (!left.isEmpty()) {
			this.held = new HashSet<>();
			entries().release(left);
		}
	}

	@Override
	boolean isCurrent() {
		return hasSameKeys() && this.values.entrySet()
			.stream()
			.allMatch((read) -> Objects.equals(currentEntry(read.getKey()), read.getValue()));
	}

	private boolean hasSameKeys() {
		return this.keyChanges == this.state.keyChanges() || this.keys.entrySet()
			.stream()
			.allMatch((read) -> entries().hasKeys(read.getKey(), read.getValue(), nowMillis()));
	}

}
