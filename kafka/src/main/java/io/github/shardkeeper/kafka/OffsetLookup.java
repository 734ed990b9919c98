package io.github.shardkeeper.kafka;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
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
	 * Asks for the ends of logs and the epochs of their leaders; does not wait. A future
	 * completes exceptionally if there is no answer in time.
	 */
	Map<TopicPartition, CompletionStage<ListOffsetsResultInfo>> ends(Collection<TopicPartition> partitions) {
		Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
		partitions.forEach((partition) -> latest.put(partition, OffsetSpec.latest()));
		// Not those of the last completed transactions, which may be before a position.
		ListOffsetsResult result = this.admin.client()
			.listOffsets(latest, KafkaAdmin.limited(new ListOffsetsOptions(IsolationLevel.READ_UNCOMMITTED)));
		Map<TopicPartition, CompletionStage<ListOffsetsResultInfo>> ends = new HashMap<>();
		partitions.forEach((partition) -> ends.put(partition, result.partitionResult(partition).toCompletionStage()));
		return ends;
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
