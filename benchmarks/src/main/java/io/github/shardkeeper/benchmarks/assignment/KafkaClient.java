package io.github.shardkeeper.benchmarks.assignment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * An assignor of Kafka's client, with the subscriptions ready in its own form.
 */
final class KafkaClient implements Contender {

	private static final int GENERATION = 7;

	private final Scenario scenario;

	private final ConsumerPartitionAssignor assignor;

	private final Cluster cluster;

	private final GroupSubscription group;

	KafkaClient(Scenario scenario, String strategy) {
		this.scenario = scenario;
		this.assignor = switch (strategy) {
			case "cooperative-sticky" -> new CooperativeStickyAssignor();
			case "range" -> new RangeAssignor();
			case "round-robin" -> new RoundRobinAssignor();
			default -> throw new IllegalArgumentException("No contender: " + strategy);
		};
		Node[] nodes = { new Node(0, "localhost", 9092) };
		List<PartitionInfo> partitions = new ArrayList<>();
		Map<Integer, List<TopicPartition>> held = new HashMap<>();
		scenario.members().forEach((member) -> held.put(member, new ArrayList<>()));
		for (int shard = 0; shard < scenario.shards(); shard++) {
			partitions.add(new PartitionInfo(scenario.topic(shard), scenario.partition(shard), nodes[0], nodes, nodes));
			List<TopicPartition> owned = held.get(scenario.owners()[shard]);
			if (owned != null) {
				owned.add(new TopicPartition(scenario.topic(shard), scenario.partition(shard)));
			}
		}
		this.cluster = new Cluster("cluster", List.of(nodes), partitions, Set.of(), Set.of());
		Map<String, Subscription> subscriptions = new HashMap<>();
		held.forEach((member, owned) -> {
			ConsumerPartitionAssignor used = this.assignor;
			subscriptions.put(Scenario.name(member),
					new Subscription(scenario.topics(), used.subscriptionUserData(Set.copyOf(scenario.topics())), owned,
							owned.isEmpty() ? -1 : GENERATION, Optional.empty()));
		});
		this.group = new GroupSubscription(subscriptions);
	}

	@Override
	public Object plan() {
		return this.assignor.assign(this.cluster, this.group);
	}

	/**
	 * Partitions that must be revoked first have no owner in the plan yet; the next round
	 * assigns them to members with the fewest.
	 */
	@Override
	public int[] owners(Object plan) {
		int[] owners = new int[this.scenario.shards()];
		Arrays.fill(owners, -1);
		Map<Integer, Integer> loads = new TreeMap<>();
		((GroupAssignment) plan).groupAssignment().forEach((member, assigned) -> {
			loads.put(Scenario.member(member), assigned.partitions().size());
			for (TopicPartition partition : assigned.partitions()) {
				owners[this.scenario.shard(partition.topic(), partition.partition())] = Scenario.member(member);
			}
		});
		for (int shard = 0; shard < owners.length; shard++) {
			if (owners[shard] < 0) {
				owners[shard] = Collections.min(loads.entrySet(), Map.Entry.comparingByValue()).getKey();
				loads.merge(owners[shard], 1, Integer::sum);
			}
		}
		return owners;
	}

}
