package io.github.shardkeeper.state;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

import io.github.shardkeeper.checkpoint.ExpiringValues;

/**
 * Keys of a shard's entries that expire, by the end of the second in which they do: a key
 * whose expiry is put off again and again seldom changes its place. Thread-safe: calls in
 * transactions commit on their own threads.
 */
final class ExpiryIndex {

	private static final long SECOND_MILLIS = 1000;

	/** Keys by the end of the second. */
	private final NavigableMap<Long, Set<String>> keys = new TreeMap<>();

	/** Processes that the expiry of an entry has changed. */
	void changed(String key, long before, long after) {
		long from = endOfSecond(before);
		long to = endOfSecond(after);
		if (from != to) {
			move(key, from, to);
		}
	}

	private synchronized void move(String key, long from, long to) {
		if (from != ExpiringValues.NEVER) {
			Set<String> left = Objects.requireNonNull(this.keys.get(from));
			left.remove(key);
			if (left.isEmpty()) {
				this.keys.remove(from);
			}
		}
		if (to != ExpiringValues.NEVER) {
			this.keys.computeIfAbsent(to, (end) -> new LinkedHashSet<>()).add(key);
		}
	}

	/** Returns when the next keys are expired, {@link ExpiringValues#NEVER} for never. */
	synchronized long next() {
		return this.keys.isEmpty() ? ExpiringValues.NEVER : this.keys.firstKey();
	}

	/** Returns keys of entries that have expired, those of earlier seconds first. */
	synchronized List<String> expired(long nowMillis, Predicate<String> wanted, int max) {
		List<String> expired = new ArrayList<>();
		for (Set<String> each : this.keys.headMap(nowMillis, true).values()) {
			for (String key : each) {
				if (expired.size() == max) {
					return expired;
				}
				if (wanted.test(key)) {
					expired.add(key);
				}
			}
		}
		return expired;
	}

	synchronized void clear() {
		this.keys.clear();
	}

	private static long endOfSecond(long expiresAt) {
		return (expiresAt != ExpiringValues.NEVER) ? (expiresAt + SECOND_MILLIS - 1) / SECOND_MILLIS * SECOND_MILLIS
				: expiresAt;
	}

}
