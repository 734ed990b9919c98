package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * Finds topics that the metadata of a consumer has not any more. The consumer would ask
 * the last leaders of their partitions at full speed, and log a line for each partition
 * each time. Confined to the polling thread.
 */
final class VanishedTopics {

	/** Topics that the metadata had when it was last looked at. */
	private final Set<String> found = new HashSet<>();

	private boolean newMetadata;

	/** Begins with a new consumer. */
	void opened() {
		this.found.clear();
	}

	/** Notes that the consumer has new metadata. */
	void metadataChanged() {
		this.newMetadata = true;
	}

	/** Returns positions that the consumer must leave, if it has new metadata. */
	List<ReadPosition> find(Consumer<String, byte[]> consumer, Collection<ReadPosition> positions) {
		if (!this.newMetadata) {
			return List.of();
		}
		this.newMetadata = false;
		List<ReadPosition> vanished = new ArrayList<>();
		Set<String> now = new HashSet<>();
		for (ReadPosition position : positions) {
			String topic = position.partition().topic();
			if (position.isAssigned() && (now.contains(topic) || isKnown(consumer, topic))) {
				now.add(topic);
			}
			else if (position.isAssigned() && this.found.contains(topic)) {
				vanished.add(position);
			}
		}
		this.found.clear();
		this.found.addAll(now);
		return vanished;
	}

	private static boolean isKnown(Consumer<String, byte[]> consumer, String topic) {
		try {
			return !consumer.partitionsFor(topic, Duration.ZERO).isEmpty();
		}
		catch (TimeoutException ex) {
			// It is not in the metadata, and others would have to be asked.
			return false;
		}
	}

}
