package io.github.shardkeeper.kafka.client;

import java.util.Objects;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.source.ResetPolicy;

/**
 * The Kafka topic or topics that a topic reads. Immutable.
 *
 * @param name the name of the Kafka topic, whose partition numbers are the shard ids;
 * {@code null} with a pattern
 * @param pattern matches the whole names of the Kafka topics; a shard id is then
 * {@code <Kafka topic>-<partition>}; {@code null} with a name
 * @param reset what happens if the record after a checkpoint is no longer in Kafka
 */
public record KafkaTopic(@Nullable String name, @Nullable Pattern pattern, ResetPolicy reset) {

	public KafkaTopic {
		Objects.requireNonNull(reset, "reset must not be null");
		if ((name != null) == (pattern != null)) {
			throw new IllegalArgumentException("A topic reads either a Kafka topic or a pattern of Kafka topics");
		}
	}

	/**
	 * Creates a mapping to one Kafka topic, with {@link ResetPolicy#EARLIEST}.
	 * @param name the name of the Kafka topic
	 * @return the mapping
	 */
	public static KafkaTopic named(String name) {
		return new KafkaTopic(name, null, ResetPolicy.EARLIEST);
	}

	/**
	 * Creates a mapping to all Kafka topics with matching names, except internal ones,
	 * with {@link ResetPolicy#EARLIEST}.
	 * @param pattern matches whole names
	 * @return the mapping
	 */
	public static KafkaTopic matching(Pattern pattern) {
		return new KafkaTopic(null, pattern, ResetPolicy.EARLIEST);
	}

	/**
	 * Returns a copy with another policy.
	 * @param other the policy
	 * @return the copy
	 */
	public KafkaTopic withReset(ResetPolicy other) {
		return new KafkaTopic(this.name, this.pattern, other);
	}

}
