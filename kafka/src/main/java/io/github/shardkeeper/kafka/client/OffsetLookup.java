package io.github.shardkeeper.kafka.client;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/** Asks Kafka for offsets of partitions. Thread-safe. */
public final class OffsetLookup {

	private final KafkaAdmin admin;

	private final IsolationLevel isolation;

	public OffsetLookup(KafkaAdmin admin, IsolationLevel isolation) {
		this.admin = admin;
		this.isolation = isolation;
	}

	/** Returns whether readers see records of transactions only after their end. */
	public boolean isReadCommitted() {
		return this.isolation == IsolationLevel.READ_COMMITTED;
	}

	public long beginning(TopicPartition partition) {
		return ask(Map.of(partition, OffsetSpec.earliest())).getOrDefault(partition, 0L);
	}

	/** Returns the end of what the consumer can read. */
	public long end(TopicPartition partition) {
		return ask(Map.of(partition, OffsetSpec.latest())).getOrDefault(partition, 0L);
	}

	/**
	 * Asks for the ends of logs and the epochs of their leaders; does not wait. A future
	 * completes exceptionally if there is no reply in time.
	 */
	public Map<TopicPartition, CompletionStage<ListOffsetsResultInfo>> ends(Collection<TopicPartition> partitions) {
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
	public Map<TopicPartition, Long> ask(Map<TopicPartition, OffsetSpec> wanted) {
		if (wanted.isEmpty()) {
			return Map.of();
		}
		Map<TopicPartition, ListOffsetsResultInfo> found = this.admin.await(list(wanted, this.isolation).all(),
				"cannot find the offsets of "
						+ ((wanted.size() == 1) ? wanted.keySet().iterator().next() : wanted.size() + " partitions"));
		Map<TopicPartition, Long> offsets = new HashMap<>();
		found.forEach((partition, info) -> offsets.put(partition, info.offset()));
		return offsets;
	}

	/**
	 * Returns both ends of a partition.
	 * @throws io.github.shardkeeper.StoreUnavailableException if they are not known
	 */
	public Ends ends(TopicPartition partition) {
		return this.admin.await(Objects.requireNonNull(askEnds(List.of(partition)).get(partition)),
				"cannot find the offsets of " + partition);
	}

	/** Asks for both ends of partitions, and does not wait. Each may fail for itself. */
	public Map<TopicPartition, CompletableFuture<Ends>> askEnds(Collection<TopicPartition> partitions) {
		Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
		partitions.forEach((partition) -> latest.put(partition, OffsetSpec.latest()));
		Map<TopicPartition, CompletableFuture<Ends>> replies = new HashMap<>();
		if (latest.isEmpty()) {
			return replies;
		}
		// The end first: what is appended meanwhile does not seem to be held back.
		ListOffsetsResult end = list(latest, IsolationLevel.READ_UNCOMMITTED);
		ListOffsetsResult stable = list(latest, IsolationLevel.READ_COMMITTED);
		latest.keySet()
			.forEach((partition) -> replies.put(partition, reply(end, partition).thenCombine(reply(stable, partition),
					(last, committed) -> new Ends(committed, last))));
		return replies;
	}

	private ListOffsetsResult list(Map<TopicPartition, OffsetSpec> wanted, IsolationLevel level) {
		return this.admin.client().listOffsets(wanted, KafkaAdmin.limited(new ListOffsetsOptions(level)));
	}

	private static CompletableFuture<Long> reply(ListOffsetsResult result, TopicPartition partition) {
		return result.partitionResult(partition)
			.toCompletionStage()
			.thenApply(ListOffsetsResultInfo::offset)
			.toCompletableFuture();
	}

	/**
	 * The ends of a partition.
	 *
	 * @param stable the last stable offset: the next one for readers of committed records
	 * @param end the high watermark: the next one for all others
	 */
	public record Ends(long stable, long end) {

	}

}
