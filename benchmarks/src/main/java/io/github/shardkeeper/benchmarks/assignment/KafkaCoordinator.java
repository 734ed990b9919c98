package io.github.shardkeeper.benchmarks.assignment;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * The assignor of Kafka's group coordinator, with the group's description ready in its
 * own form.
 */
final class KafkaCoordinator implements Contender {

	private final Scenario scenario;

	private final GroupSpec group;

	private final Map<Uuid, String> topics = new HashMap<>();

	private final UniformAssignor assignor = new UniformAssignor();

	private final SubscribedTopicDescriber describer;

	KafkaCoordinator(Scenario scenario) {
		this.scenario = scenario;
		Map<String, Uuid> ids = new HashMap<>();
		for (String topic : scenario.topics()) {
			Uuid id = new Uuid(17, topic.charAt(topic.length() - 1));
			ids.put(topic, id);
			this.topics.put(id, topic);
		}
		Map<Integer, Map<Uuid, Set<Integer>>> held = new HashMap<>();
		scenario.members().forEach((member) -> held.put(member, new HashMap<>()));
		Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
		for (int shard = 0; shard < scenario.shards(); shard++) {
			int owner = scenario.owners()[shard];
			if (held.containsKey(owner)) {
				Uuid topic = ids.get(scenario.topic(shard));
				int partition = scenario.partition(shard);
				held.get(owner).computeIfAbsent(topic, (t) -> new HashSet<>()).add(partition);
				inverted.computeIfAbsent(topic, (t) -> new HashMap<>()).put(partition, Scenario.name(owner));
			}
		}
		Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
		Set<Uuid> subscribed = Set.copyOf(ids.values());
		held.forEach((member, assigned) -> members.put(Scenario.name(member), new MemberSubscriptionAndAssignmentImpl(
				Optional.empty(), Optional.empty(), subscribed, new Assignment(assigned))));
		this.group = new GroupSpecImpl(members, SubscriptionType.HOMOGENEOUS, inverted);
		int partitions = scenario.partitions();
		this.describer = new SubscribedTopicDescriber() {

			@Override
			public int numPartitions(Uuid topic) {
				return partitions;
			}

			@Override
			public Set<String> racksForPartition(Uuid topic, int partition) {
				return Set.of();
			}

		};
	}

	@Override
	public Object plan() {
		return this.assignor.assign(this.group, this.describer);
	}

	@Override
	public int[] owners(Object plan) {
		int[] owners = new int[this.scenario.shards()];
		((GroupAssignment) plan).members()
			.forEach((member, assigned) -> assigned.partitions()
				.forEach((topic, partitions) -> partitions
					.forEach((partition) -> owners[this.scenario.shard(this.topics.get(topic), partition)] = Scenario
						.member(member))));
		return owners;
	}

}
