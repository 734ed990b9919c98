package io.github.shardkeeper.coordination.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.shardkeeper.coordination.store.SettingsStore;
import io.github.shardkeeper.coordination.store.SharedSettings;

/**
 * Settings of the instances of a group in memory; the counterpart of
 * {@code announce-settings.lua}. Thread-safe.
 */
final class MemorySettings implements SettingsStore {

	private final MemoryDirectives.Transitions transitions;

	/** Guarded by the lock of the store. */
	private final Map<String, Entry> entries = new TreeMap<>();

	MemorySettings(MemoryDirectives.Transitions transitions) {
		this.transitions = transitions;
	}

	@Override
	public Reply announce(String instance, SharedSettings settings, Duration lease) {
		return this.transitions.make((group) -> announce(instance, settings, lease.toMillis(), group.nowMillis()));
	}

	private Reply announce(String instance, SharedSettings settings, long leaseMillis, long nowMillis) {
		Entry renewed = new Entry(settings, leaseMillis, nowMillis + leaseMillis);
		this.entries.replaceAll((name, entry) -> entry.endingWithin(nowMillis));
		this.entries.values().removeIf((entry) -> entry.untilMillis() <= nowMillis);
		Entry before = this.entries.get(instance);
		if (before != null && before.settings().equals(settings)) {
			this.entries.put(instance, renewed);
			return Reply.ACCEPTED;
		}
		Map<SharedSettings, List<String>> others = new LinkedHashMap<>();
		this.entries.forEach((name, entry) -> {
			if (!name.equals(instance) && !entry.settings().equals(settings)) {
				others.computeIfAbsent(entry.settings(), (different) -> new ArrayList<>()).add(name);
			}
		});
		boolean accepted = others.keySet().stream().noneMatch(settings::conflictsWith);
		if (accepted) {
			this.entries.put(instance, renewed);
		}
		List<Other> different = new ArrayList<>();
		others.forEach((theirs, names) -> different
			.add(new Other(theirs, names.subList(0, Math.min(names.size(), Other.MOST_NAMED)), names.size())));
		return new Reply(accepted, different);
	}

	@Override
	public void withdraw(String instance) {
		this.transitions.make((group) -> this.entries.remove(instance) != null);
	}

	private record Entry(SharedSettings settings, long leaseMillis, long untilMillis) {

		/** No entry lasts longer than its lease, also if the clock was set back. */
		Entry endingWithin(long nowMillis) {
			return new Entry(this.settings, this.leaseMillis, Math.min(this.untilMillis, nowMillis + this.leaseMillis));
		}

	}

}
