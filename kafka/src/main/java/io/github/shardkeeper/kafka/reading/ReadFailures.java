package io.github.shardkeeper.kafka.reading;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.slf4j.Logger;

import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.kafka.reading.ReadPosition.Invalidity;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Finds the partitions that a failure of a poll is about, so that it delays no others.
 * Confined to the polling thread.
 */
final class ReadFailures {

	private static final Logger logger = PrintableLogger.of(ReadFailures.class);

	private final KafkaFailure failures;

	ReadFailures(KafkaFailure failures) {
		this.failures = failures;
	}

	/**
	 * Stops reading the partitions that a failure is about, for a while or until they are
	 * reset; returns whether there are any.
	 */
	boolean exclude(RuntimeException failure, Collection<ReadPosition> positions, MonotonicTime now) {
		if (failure instanceof InvalidOffsetException invalid) {
			Set<TopicPartition> partitions = invalid.partitions();
			positions.stream()
				.filter((position) -> position.isAssigned() && partitions.contains(position.partition()))
				.forEach((position) -> position.invalidate(invalidity(position.partition(), invalid)));
			return true;
		}
		Predicate<TopicPartition> failed = failed(failure);
		String reason = "Kafka: " + this.failures.message(failure);
		List<ReadPosition> found = positions.stream()
			.filter((position) -> position.isAssigned() && failed.test(position.partition()))
			.toList();
		found.forEach((position) -> retryLater(position, reason, now));
		return !found.isEmpty();
	}

	private static Predicate<TopicPartition> failed(RuntimeException failure) {
		if (failure instanceof TopicAuthorizationException denied) {
			return (partition) -> denied.unauthorizedTopics().contains(partition.topic());
		}
		if (failure instanceof InvalidTopicException invalid) {
			return (partition) -> invalid.invalidTopics().contains(partition.topic());
		}
		if (failure instanceof KafkaException && !(failure instanceof AuthenticationException)) {
			// For a batch that is damaged, among others, only the message has it.
			String message = " " + failure.getMessage() + " ";
			return (partition) -> message.contains(" " + partition + " ") || message.contains(" " + partition + ".");
		}
		return (partition) -> false;
	}

	private static Invalidity invalidity(TopicPartition partition, InvalidOffsetException failure) {
		OffsetAndMetadata divergence = (failure instanceof LogTruncationException truncated)
				? truncated.divergentOffsets().get(partition) : null;
		return new Invalidity((divergence != null) ? "the partition has lost records that were read"
				: "the offset is not in the partition", divergence);
	}

	static void retryLater(ReadPosition position, String reason, MonotonicTime now) {
		if (position.retryLater(reason, now)) {
			logger.warn("{} cannot be read; retrying. {}", position.shard(), reason);
		}
	}

}
