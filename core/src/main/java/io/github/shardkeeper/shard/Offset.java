package io.github.shardkeeper.shard;

import java.util.Objects;

/**
 * A position in a shard. Only its source can compare two offsets. Immutable.
 *
 * @param value the text of the source, for Redis Streams an entry id such as
 * {@code 1731-0}
 */
public record Offset(String value) {

	public Offset {
		Objects.requireNonNull(value, "value must not be null");
		if (value.isEmpty()) {
			throw new IllegalArgumentException("An offset must not be empty");
		}
	}

	@Override
	public String toString() {
		return this.value;
	}

}
