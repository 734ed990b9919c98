package io.github.shardkeeper.checkpoint;

/**
 * Whole number in the state of a shard that only one call uses at a time: it is changed
 * in place, and becomes JSON once per commit rather than with each change. Confined to
 * the shard's worker.
 */
final class Counter {

	private final String key;

	long value;

	/** Whether the next commit writes it. */
	boolean uncommitted;

	Counter(String key) {
		this.key = key;
	}

	String key() {
		return this.key;
	}

	String json() {
		return Long.toString(this.value);
	}

}
