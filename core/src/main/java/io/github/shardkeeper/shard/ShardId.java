package io.github.shardkeeper.shard;

import java.util.Objects;

/**
 * Id of a shard, the unit of ownership, order and state. Written {@code topic/id}.
 * Immutable; ordered by topic, then by id, numbers by value.
 *
 * @param topic the name of the topic
 * @param id the id of the shard within the topic, for Redis Streams its number
 */
public record ShardId(String topic, String id) implements Comparable<ShardId> {

	public ShardId {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(id, "id must not be null");
		requireName(topic, "topic");
		requireName(id, "shard id");
	}

	/**
	 * Creates the id of a numbered shard.
	 * @param topic the name of the topic
	 * @param number the number
	 * @return the shard id
	 */
	public static ShardId of(String topic, int number) {
		Objects.requireNonNull(topic, "topic must not be null");
		return new ShardId(topic, Integer.toString(number));
	}

	/**
	 * Parses {@code topic/id}.
	 * @param text the text that {@link #toString()} returns
	 * @return the shard id
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
	 * Returns the number that an id represents, without leading zeros.
	 * @param id the id of a shard within its topic
	 * @return the number, of up to nine digits; -1 if the id is not a number
	 */
	public static int number(String id) {
		Objects.requireNonNull(id, "id must not be null");
		boolean digits = id.length() <= 9 && id.chars().allMatch((c) -> c >= '0' && c <= '9');
		boolean plain = id.length() == 1 || !id.startsWith("0");
		return (digits && plain && !id.isEmpty()) ? Integer.parseInt(id) : -1;
	}

	/** Numbers by their length, then everything else. */
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
