package io.github.shardkeeper.assignment.selection;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Groups;
import io.github.shardkeeper.assignment.rules.RangeAssignment;
import io.github.shardkeeper.assignment.rules.RoundRobinAssignment;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Comparison with Kafka's own assignors, over random groups.
 */
class KafkaAssignorsTests {

	private static final int RANDOM_GROUPS = 1_000;

	static List<Arguments> pairs() {
		return List.of(Arguments.of(new RangeAssignment(), new RangeAssignor()),
				Arguments.of(new RoundRobinAssignment(), new RoundRobinAssignor()),
				Arguments.of(BuiltInStrategy.AVERAGE.strategy(), new RangeAssignor()));
	}

	@ParameterizedTest
	@MethodSource("pairs")
	void everyGroupIsAssignedAsByKafka(AssignmentStrategy strategy, AbstractPartitionAssignor assignor) {
		for (long seed = 0; seed < RANDOM_GROUPS; seed++) {
			Random random = new Random(seed);
			Map<String, Integer> topics = new TreeMap<>();
			for (int topic = 0; topic <= random.nextInt(5); topic++) {
				topics.put("t" + topic, 1 + random.nextInt(15));
			}
			List<Assignee> members = members(random, topics);
			AssignmentRequest request = Groups.unowned(members, Groups.shards(topics));

			assertThat(Groups.byInstance(strategy.assign(request))).as("seed %d: %s", seed, request)
				.isEqualTo(kafkas(assignor, members, topics));
		}
	}

	/** Some consume topics that do not exist, some nothing. */
	private static List<Assignee> members(Random random, Map<String, Integer> topics) {
		boolean alike = random.nextBoolean();
		List<Assignee> members = new ArrayList<>();
		int count = 1 + random.nextInt(9);
		for (int member = 0; member < count; member++) {
			List<String> own = new ArrayList<>(topics.keySet());
			own.add("absent");
			own.removeIf((topic) -> !alike && random.nextInt(3) == 0);
			members.add(Groups.member("c" + member, own.toArray(String[]::new)));
		}
		return members;
	}

	private static SortedMap<String, List<String>> kafkas(AbstractPartitionAssignor assignor, List<Assignee> members,
			Map<String, Integer> topics) {
		Node node = new Node(0, "localhost", 1);
		Node[] replicas = { node };
		List<PartitionInfo> partitions = new ArrayList<>();
		topics.forEach((topic, count) -> {
			for (int number = 0; number < count; number++) {
				partitions.add(new PartitionInfo(topic, number, node, replicas, replicas));
			}
		});
		Map<String, Subscription> subscriptions = new TreeMap<>();
		members.forEach((member) -> subscriptions.put(member.id().instance(),
				new Subscription(new ArrayList<>(member.topics()))));
		SortedMap<String, List<String>> shards = new TreeMap<>();
		assignor
			.assign(new Cluster("cluster", List.of(node), partitions, Set.of(), Set.of()),
					new GroupSubscription(subscriptions))
			.groupAssignment()
			.forEach((member, assignment) -> shards.put(member, inOrder(assignment.partitions())));
		return shards;
	}

	private static List<String> inOrder(List<TopicPartition> partitions) {
		return partitions.stream()
			.map((partition) -> ShardId.of(partition.topic(), partition.partition()))
			.sorted()
			.map(ShardId::toString)
			.toList();
	}

}
