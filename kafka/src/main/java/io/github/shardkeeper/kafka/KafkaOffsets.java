package io.github.shardkeeper.kafka;

import io.github.shardkeeper.shard.Offset;

/**
 * Offsets of Kafka as text. {@code -1} is before every record. Has no state.
 */
final class KafkaOffsets {

	static final long BEFORE_ALL = -1;

	private KafkaOffsets() {
	}

	static Offset text(long offset) {
		return new Offset(Long.toString(offset));
	}

	/**
	 * Returns the number of an offset.
	 * @throws IllegalArgumentException if it is not an offset of Kafka
	 */
	static long number(Offset offset) {
		try {
			long number = Long.parseLong(offset.value());
			if (number >= BEFORE_ALL) {
				return number;
			}
		}
		catch (NumberFormatException ex) {
			// The message below also covers numbers that are too large.
		}
		throw new IllegalArgumentException(
				"'%s' is no offset of a Kafka partition; one is a number like 1042".formatted(offset));
	}

}
