package io.github.shardkeeper.state;

import io.github.shardkeeper.checkpoint.ExpiringValues;

/**
 * Whole number in the state of a shard that only one call uses at a time: it is changed
 * in place, and becomes JSON once per commit rather than with each change. Confined to
 * the shard's worker.
 */
final class Counter {

	private final String key;

	long value;

	long expiresAt = ExpiringValues.NEVER;

	/** Whether the next commit writes it. */
	boolean uncommitted;

	Counter(String key) {
		this.key = key;
	}

	void set(long number, long expiry) {
		this.value = number;
		this.expiresAt = expiry;
	}

	String key() {
		return this.key;
	}

	/** Returns what is stored of it. */
	String stored() {
		return ExpiringValues.stored(Long.toString(this.value), this.expiresAt);
	}

}
