package io.github.shardkeeper.kafka.reading;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.DirectoryContents.Described;
import io.github.shardkeeper.kafka.client.KafkaAdmin;
import io.github.shardkeeper.kafka.client.TopicDirectory;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.GroupPositions.Position;

/**
 * Offsets that a Kafka group has committed, as positions at which to begin, and the
 * members that may still commit others: those that have partitions of the same Kafka
 * topic, or any while the group rebalances. A partition without an offset begins with its
 * first record, unless the group has none in the whole topic: its name is misspelled
 * then, or Kafka has removed its offsets. Consumers without a group membership
 * ({@code KafkaConsumer.assign}) are not noticed. Thread-safe.
 */
public final class GroupOffsets {

	private static final int MOST_NAMED = 3;

	private final KafkaAdmin admin;

	private final TopicDirectory directory;

	public GroupOffsets(KafkaAdmin admin, TopicDirectory directory) {
		this.admin = admin;
		this.directory = directory;
	}

	/**
	 * Returns the positions of a group in partitions of one topic.
	 * @throws StoreUnavailableException if Kafka does not reply
	 */
	public Map<ShardId, Position> positions(String group, Map<ShardId, TopicPartition> partitions) {
		// Before the offsets: a member may commit until it leaves.
		ConsumerGroupDescription description = describe(group);
		String topic = partitions.keySet().iterator().next().topic();
		Map<TopicPartition, @Nullable OffsetAndMetadata> committed = committed(group, all(topic, partitions));
		boolean any = committed.values().stream().anyMatch(Objects::nonNull);
		Map<ShardId, Position> positions = new HashMap<>();
		partitions.forEach((shard, partition) -> {
			String obstacle = (description != null) ? members(description, partition.topic())
					: any ? notOfConsumers(group, topic) : null;
			boolean exists = description != null || !committed.isEmpty();
			if (exists && !committed.containsKey(partition)) {
				obstacle = (obstacle != null) ? obstacle : openTransaction(group, partition);
				positions.put(shard, new Position(null, obstacle));
			}
			else if (!any) {
				positions.put(shard,
						new Position(null, (obstacle != null) ? obstacle : noOffset(group, topic, partition.topic())));
			}
			else {
				positions.put(shard, new Position(before(partition, committed.get(partition)), obstacle));
			}
		});
		return positions;
	}

	/** The partitions of a topic that are known, and those that are asked for. */
	private Set<TopicPartition> all(String topic, Map<ShardId, TopicPartition> partitions) {
		Set<TopicPartition> all = new HashSet<>(partitions.values());
		this.directory.known().getOrDefault(topic, TopicShards.NONE).forEach(topic, (shard) -> {
			TopicPartition partition = this.directory.partition(shard);
			if (partition != null) {
				all.add(partition);
			}
		});
		return all;
	}

	private @Nullable ConsumerGroupDescription describe(String group) {
		return unlessMissing(() -> this.admin.await(Objects.requireNonNull(this.admin.client()
			.describeConsumerGroups(List.of(group), KafkaAdmin.limited(new DescribeConsumerGroupsOptions()))
			.describedGroups()
			.get(group)), "cannot see whether the Kafka group '%s' has members".formatted(group)));
	}

	/**
	 * Returns the offsets of partitions, {@code null} for those that have none. One is
	 * left out whose offset is part of a transaction that is open; all are for a group
	 * that does not exist.
	 */
	private Map<TopicPartition, @Nullable OffsetAndMetadata> committed(String group, Set<TopicPartition> partitions) {
		KafkaFuture<Map<TopicPartition, OffsetAndMetadata>> reply = this.admin.client()
			.listConsumerGroupOffsets(Map.of(group, new ListConsumerGroupOffsetsSpec().topicPartitions(partitions)),
					KafkaAdmin.limited(new ListConsumerGroupOffsetsOptions().requireStable(true)))
			.partitionsToOffsetAndMetadata(group);
		Map<TopicPartition, @Nullable OffsetAndMetadata> offsets = unlessMissing(
				() -> this.admin.await(reply, "cannot read the offsets of the Kafka group '%s'".formatted(group)));
		return (offsets != null) ? offsets : Map.of();
	}

	private static <T> @Nullable T unlessMissing(Supplier<T> call) {
		try {
			return call.get();
		}
		catch (StoreUnavailableException ex) {
			if (ex.getCause() instanceof GroupIdNotFoundException) {
				return null;
			}
			throw ex;
		}
	}

	private Offset before(TopicPartition partition, @Nullable OffsetAndMetadata offset) {
		if (offset == null) {
			return KafkaOffset.BEGINNING.toOffset();
		}
		Described described = this.directory.described(partition.topic());
		boolean first = offset.offset() == 0;
		return new KafkaOffset(offset.offset() - 1, first ? null : offset.leaderEpoch().orElse(null),
				(described != null) ? KafkaOffset.known(described.id()) : null)
			.toOffset();
	}

	private static @Nullable String members(ConsumerGroupDescription group, String kafkaTopic) {
		Collection<MemberDescription> members = group.members();
		if (group.groupState() == GroupState.STABLE) {
			members = members.stream()
				.filter((member) -> member.assignment()
					.topicPartitions()
					.stream()
					.anyMatch((partition) -> partition.topic().equals(kafkaTopic)))
				.toList();
		}
		if (members.isEmpty()) {
			return null;
		}
		Set<String> names = new TreeSet<>();
		members.forEach((member) -> names.add(member.clientId() + " at " + member.host()));
		return ("The Kafka group '%s' still has members for '%s' (%s%s). Stop the application that consumes '%s' with "
				+ "this group; a consumer that was killed remains a member for its 'session.timeout.ms'")
			.formatted(group.groupId(), kafkaTopic, names.stream().limit(MOST_NAMED).collect(Collectors.joining(", ")),
					(names.size() > MOST_NAMED) ? ", …" : "", kafkaTopic);
	}

	private static String openTransaction(String group, TopicPartition partition) {
		return ("The offset of the Kafka group '%s' in %s is part of a transaction that is open. Stop the application that "
				+ "consumes '%s' with this group; Kafka ends its transactions after their 'transaction.timeout.ms'")
			.formatted(group, partition, partition.topic());
	}

	private static String notOfConsumers(String group, String topic) {
		return ("The Kafka group '%s' is not one of consumers, so its members cannot be seen. Stop its application, and set "
				+ "the positions with ShardPositions, or 'shardkeeper.topics.%s.start' to another value")
			.formatted(group, topic);
	}

	private static String noOffset(String group, String topic, String kafkaTopic) {
		return ("The Kafka group '%s' has no offset in '%s'. Correct the name; if Kafka has removed its offsets "
				+ "('offsets.retention.minutes'), set the positions with ShardPositions, or "
				+ "'shardkeeper.topics.%s.start' to another value")
			.formatted(group, kafkaTopic, topic);
	}

}
