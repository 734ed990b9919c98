package io.github.shardkeeper.shard;

import java.util.Comparator;

/**
 * A shard: the unit of ownership, order and state. Written {@code topic/id}. Immutable;
 * ordered by topic, then by id, numbers by their value.
 *
 * @param topic the topic's name
 * @param id the shard's name within the topic, for Redis Streams its number
 */
public record ShardId(String topic, String id) implements Comparable<ShardId> {

	private static final Comparator<ShardId> ORDER = Comparator.comparing(ShardId::topic)
		.thenComparingInt((shard) -> shard.isNumber() ? shard.id.length() : Integer.MAX_VALUE)
		.thenComparing(ShardId::id);

	public ShardId {
		requireName(topic, "topic");
		requireName(id, "shard id");
	}

	/**
	 * A shard with a number for its id.
	 * @param topic the topic's name
	 * @param number the number
	 * @return the shard
	 */
	public static ShardId of(String topic, int number) {
		return new ShardId(topic, Integer.toString(number));
	}

	/**
	 * Reads {@code topic/id}.
	 * @param text what {@link #toString()} wrote
	 * @return the shard
	 */
	public static ShardId parse(String text) {
		int slash = text.indexOf('/');
		if (slash < 0) {
			throw new IllegalArgumentException("'" + text + "' is not a shard: expected topic/id");
		}
		return new ShardId(text.substring(0, slash), text.substring(slash + 1));
	}

	private static void requireName(String name, String what) {
		if (!Names.isValid(name)) {
			throw new IllegalArgumentException("Not a valid " + what + ": '" + name + "'. " + Names.RULE);
		}
	}

	private boolean isNumber() {
		return this.id.chars().allMatch((c) -> c >= '0' && c <= '9');
	}

	@Override
	public int compareTo(ShardId other) {
		return ORDER.compare(this, other);
	}

	@Override
	public String toString() {
		return this.topic + "/" + this.id;
	}

}
