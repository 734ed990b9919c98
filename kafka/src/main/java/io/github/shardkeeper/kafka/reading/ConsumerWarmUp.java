package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.OffsetLookup;
import io.github.shardkeeper.kafka.client.TopicDirectory;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Connects a consumer to the brokers and loads its classes before the first shard is
 * assigned, which would otherwise wait for it. Confined to the polling thread.
 */
final class ConsumerWarmUp {

	private static final Logger logger = PrintableLogger.of(ConsumerWarmUp.class);

	/** Longest time for the first records, which are not delivered. */
	private static final Duration LONGEST = Duration.ofMillis(300);

	private static final Duration STEP = Duration.ofMillis(20);

	private final OffsetLookup offsets;

	private final TopicDirectory directory;

	private final ConsumerCommands commands;

	private final MonotonicClock clock;

	/**
	 * Creates it.
	 * @param commands end it
	 */
	ConsumerWarmUp(OffsetLookup offsets, TopicDirectory directory, ConsumerCommands commands, MonotonicClock clock) {
		this.offsets = offsets;
		this.directory = directory;
		this.commands = commands;
		this.clock = clock;
	}

	/**
	 * Fetches the last record of a partition of each broker, and delivers nothing. A
	 * failure has no consequences. The consumer has no partitions afterwards.
	 * @return whether there was a broker to fetch from
	 */
	boolean perform(Consumer<String, byte[]> consumer) {
		Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
		this.directory.onePartitionPerLeader().forEach((partition) -> latest.put(partition, OffsetSpec.latest()));
		if (latest.isEmpty()) {
			return false;
		}
		try {
			Map<TopicPartition, Long> ends = this.offsets.ask(latest);
			consumer.assign(ends.keySet());
			ends.forEach((partition, end) -> consumer.seek(partition, Math.max(0, end - 1)));
			MonotonicTime until = this.clock.now().plus(LONGEST);
			while (!this.commands.areDue() && this.clock.now().isBefore(until) && consumer.poll(STEP).isEmpty()) {
				logger.trace("No record yet");
			}
		}
		catch (StoreUnavailableException | KafkaException ex) {
			logger.debug("Nothing was fetched before the first shard is assigned", ex);
		}
		consumer.assign(Set.of());
		return true;
	}

}
