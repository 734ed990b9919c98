package io.github.shardkeeper.kafka;

import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/** Asks Kafka for offsets of partitions. Thread-safe. */
final class OffsetLookup {

	private final KafkaAdmin admin;

	private final IsolationLevel isolation;

	OffsetLookup(KafkaAdmin admin, IsolationLevel isolation) {
		this.admin = admin;
		this.isolation = isolation;
	}

	long beginning(TopicPartition partition) {
		return ask(Map.of(partition, OffsetSpec.earliest())).getOrDefault(partition, 0L);
	}

	/** Returns the end of what the consumer can read. */
	long end(TopicPartition partition) {
		return ask(Map.of(partition, OffsetSpec.latest())).getOrDefault(partition, 0L);
	}

	/**
	 * Returns an offset of each partition, -1 for a time after that of all records.
	 * @throws io.github.shardkeeper.StoreUnavailableException if one is not known
	 */
	Map<TopicPartition, Long> ask(Map<TopicPartition, OffsetSpec> wanted) {
		if (wanted.isEmpty()) {
			return Map.of();
		}
		Map<TopicPartition, ListOffsetsResultInfo> found = this.admin.await(
				this.admin.client()
					.listOffsets(wanted, KafkaAdmin.limited(new ListOffsetsOptions(this.isolation)))
					.all(),
				"cannot find the offsets of "
						+ ((wanted.size() == 1) ? wanted.keySet().iterator().next() : wanted.size() + " partitions"));
		Map<TopicPartition, Long> offsets = new HashMap<>();
		found.forEach((partition, info) -> offsets.put(partition, info.offset()));
		return offsets;
	}

}
