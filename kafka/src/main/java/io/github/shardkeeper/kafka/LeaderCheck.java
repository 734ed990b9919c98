package io.github.shardkeeper.kafka;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

import io.github.shardkeeper.kafka.TopicDirectory.Described;

/**
 * Has the leader of a partition answer once before the first record is sent to it.
 * <p>
 * A broker announces a new partition a moment before it accepts records for it. If the
 * first two batches of a producer arrive around that moment, it refuses the first and
 * appends the second. Brokers before Kafka 4.5 then refuse the first one each time the
 * producer repeats it, until {@code delivery.timeout.ms} is over: its records are not in
 * the partition, and those after them are (KAFKA-15591).
 * <p>
 * Thread-safe.
 */
final class LeaderCheck {

	private final KafkaAdmin admin;

	/** By partition whose leader has answered the id that its topic had then. */
	private final Map<TopicPartition, Uuid> answered = new ConcurrentHashMap<>();

	LeaderCheck(KafkaAdmin admin) {
		this.admin = admin;
	}

	/**
	 * Waits for an answer of the leader if it has not answered yet. Asks the leaders of
	 * the topic's other partitions, too, and does not wait for them.
	 * @throws io.github.shardkeeper.StoreUnavailableException if it does not answer
	 */
	void await(TopicPartition partition, Described topic) {
		if (hasAnswered(partition, topic)) {
			return;
		}
		Map<TopicPartition, OffsetSpec> silent = new HashMap<>();
		for (int number = 0; number < topic.partitions(); number++) {
			TopicPartition each = new TopicPartition(partition.topic(), number);
			if (!hasAnswered(each, topic)) {
				silent.put(each, OffsetSpec.latest());
			}
		}
		// Only the leader itself answers, once it accepts records.
		silent.put(partition, OffsetSpec.latest());
		ListOffsetsResult answers = this.admin.client()
			.listOffsets(silent, KafkaAdmin.limited(new ListOffsetsOptions()));
		silent.keySet().forEach((each) -> answers.partitionResult(each).whenComplete((offset, failure) -> {
			if (failure == null) {
				this.answered.put(each, topic.id());
			}
		}));
		this.admin.await(answers.partitionResult(partition), "no answer from the leader of the partition " + partition);
	}

	private boolean hasAnswered(TopicPartition partition, Described topic) {
		return topic.id().equals(this.answered.get(partition));
	}

}
