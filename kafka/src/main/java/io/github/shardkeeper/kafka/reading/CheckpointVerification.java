package io.github.shardkeeper.kafka.reading;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.kafka.client.OffsetLookup;
import io.github.shardkeeper.kafka.reading.ReadPosition.Verification;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * Compares checkpoints with the ends of their logs before they are read from. Confined to
 * the polling thread.
 */
final class CheckpointVerification {

	private static final Logger logger = PrintableLogger.of(CheckpointVerification.class);

	private final OffsetLookup offsets;

	private final KafkaFailure failures;

	private final ConsumerCommands commands;

	private final Runnable onResult;

	private final MonotonicClock clock;

	/**
	 * Creates it.
	 * @param commands carries out what follows a reply
	 * @param onResult called once a position is compared, or is to be compared again
	 */
	CheckpointVerification(OffsetLookup offsets, KafkaFailure failures, ConsumerCommands commands, Runnable onResult,
			MonotonicClock clock) {
		this.offsets = offsets;
		this.failures = failures;
		this.commands = commands;
		this.onResult = onResult;
		this.clock = clock;
	}

	/** Begins with those positions that are not under way; does not wait. */
	void begin(List<ReadPosition> unverified) {
		Map<TopicPartition, ReadPosition> asked = new HashMap<>();
		for (ReadPosition position : unverified) {
			if (position.verification() == Verification.WANTED) {
				position.verify();
				asked.put(position.partition(), position);
			}
		}
		if (asked.isEmpty()) {
			return;
		}
		try {
			this.offsets.ends(asked.keySet()).forEach((partition, end) -> {
				ReadPosition position = asked.get(partition);
				if (position != null) {
					end.whenComplete(
							(found, failure) -> this.commands.execute(() -> answered(position, found, failure)));
				}
			});
		}
		catch (StoreUnavailableException ex) {
			asked.values().forEach((position) -> answered(position, null, ex));
		}
	}

	private void answered(ReadPosition position, @Nullable ListOffsetsResultInfo end, @Nullable Throwable failure) {
		if (end != null) {
			position.verified(end);
		}
		else {
			String reason = "The end of the Kafka partition %s cannot be found; retrying. Kafka: %s"
				.formatted(position.partition(), (failure != null) ? this.failures.message(failure) : "");
			if (position.notVerified(reason, this.clock.now())) {
				logger.warn("{} is not read yet. {}", position.shard(), reason);
			}
		}
		this.onResult.run();
	}

}
