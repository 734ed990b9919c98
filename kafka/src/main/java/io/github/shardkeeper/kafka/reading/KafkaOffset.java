package io.github.shardkeeper.kafka.reading;

import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.NumericOffsets;

/**
 * Position in a partition and what it is one of, as checkpoints keep it:
 *
 * <pre>
 * 1042                             after the record at offset 1042, of any topic
 * 1042:7:sT3RkZ0bQXqJ3nVx7oWq2A    the same, written under the leader epoch 7, of the topic with this id
 * </pre>
 *
 * Epoch or id may be missing where Kafka does not tell them. The epoch shows whether the
 * partition still has the record: its leader is asked where the epoch has ended. The id
 * shows whether the topic of this name is still the same one. Immutable.
 *
 * @param last the offset of the last record to skip, -1 for the position before all
 * records
 * @param epoch the epoch of the leader that wrote this record
 * @param topicId the id of the Kafka topic
 */
public record KafkaOffset(long last, @Nullable Integer epoch, @Nullable Uuid topicId) {

	/** Before all records, of any topic. */
	public static final KafkaOffset BEGINNING = new KafkaOffset(NumericOffsets.BEFORE_ALL, null, null);

	private static final Pattern TEXT = Pattern.compile("(-1|\\d{1,19})(?::(\\d{1,10}))?(?::([A-Za-z0-9_-]{22}))?");

	/**
	 * Parses an offset.
	 * @throws IllegalArgumentException if it is none of this source; a retry does not
	 * help
	 */
	public static KafkaOffset parse(Offset offset) {
		Matcher text = TEXT.matcher(Objects.requireNonNull(offset, "offset must not be null").value());
		try {
			if (text.matches()) {
				String epoch = text.group(2);
				String topicId = text.group(3);
				return new KafkaOffset(Long.parseLong(text.group(1)), (epoch != null) ? Integer.valueOf(epoch) : null,
						(topicId != null) ? Uuid.fromString(topicId) : null);
			}
		}
		catch (NumberFormatException ex) {
			throw invalid(offset, ex);
		}
		throw invalid(offset, null);
	}

	private static IllegalArgumentException invalid(Offset offset, @Nullable Throwable cause) {
		return new IllegalArgumentException(
				("'%s' is no offset of a Kafka partition; one is a number like 1042, or like "
						+ "1042:7:sT3RkZ0bQXqJ3nVx7oWq2A with the epoch of its leader and the id of its topic")
					.formatted(offset),
				cause);
	}

	/** Returns what Kafka knows of a topic; its id is zero if the broker has none. */
	public static @Nullable Uuid known(Uuid topicId) {
		return Uuid.ZERO_UUID.equals(topicId) ? null : topicId;
	}

	/** Returns what follows the number in the texts of all positions of one log. */
	static String suffix(@Nullable Integer epoch, @Nullable Uuid topicId) {
		return ((epoch != null) ? ":" + epoch : "") + ((topicId != null) ? ":" + topicId : "");
	}

	/** Returns the position before this record, so that it is the next one. */
	public KafkaOffset previous() {
		return new KafkaOffset(Math.max(NumericOffsets.BEFORE_ALL, this.last - 1), this.epoch, this.topicId);
	}

	public Offset toOffset() {
		return new Offset(NumericOffsets.of(this.last).value() + suffix(this.epoch, this.topicId));
	}

	/** Returns the position as Kafka counts it, with the next offset to read. */
	OffsetAndMetadata next() {
		return new OffsetAndMetadata(this.last + 1, Optional.ofNullable(this.epoch), "");
	}

}
