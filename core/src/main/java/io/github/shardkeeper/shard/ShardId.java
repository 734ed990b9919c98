package io.github.shardkeeper.shard;

import java.util.Objects;

/**
 * A shard: the unit of ownership, order and state. Written {@code topic/id}. Immutable;
 * ordered by topic, then by id, numbers by their value.
 *
 * @param topic the topic's name
 * @param id the shard's name within the topic, for Redis Streams its number
 */
public record ShardId(String topic, String id) implements Comparable<ShardId> {

	public ShardId {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(id, "id must not be null");
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
		Objects.requireNonNull(topic, "topic must not be null");
		return new ShardId(topic, Integer.toString(number));
	}

	/**
	 * Reads {@code topic/id}.
	 * @param text what {@link #toString()} wrote
	 * @return the shard
	 */
	public static ShardId parse(String text) {
		Objects.requireNonNull(text, "text must not be null");
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

	/**
	 * The number that an id stands for, written without leading zeros.
	 * @param id a shard's id within its topic
	 * @return the number, up to nine digits; -1 for an id that is none
	 */
	public static int number(String id) {
		Objects.requireNonNull(id, "id must not be null");
		boolean digits = id.length() <= 9 && id.chars().allMatch((c) -> c >= '0' && c <= '9');
		boolean plain = id.length() == 1 || !id.startsWith("0");
		return (digits && plain && !id.isEmpty()) ? Integer.parseInt(id) : -1;
	}

	/** Numbers by their length first; all else comes after them. */
	private int rank() {
		for (int i = 0; i < this.id.length(); i++) {
			char c = this.id.charAt(i);
			if (c < '0' || c > '9') {
				return Integer.MAX_VALUE;
			}
		}
		return this.id.length();
	}

	@Override
	public int compareTo(ShardId other) {
		int byTopic = this.topic.compareTo(other.topic);
		if (byTopic != 0) {
			return byTopic;
		}
		int byRank = Integer.compare(rank(), other.rank());
		return (byRank != 0) ? byRank : this.id.compareTo(other.id);
	}

	@Override
	public String toString() {
		return this.topic + "/" + this.id;
	}

}
