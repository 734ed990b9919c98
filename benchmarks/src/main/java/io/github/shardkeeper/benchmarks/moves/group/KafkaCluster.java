package io.github.shardkeeper.benchmarks.moves.group;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/**
 * A broker of its own, and bare consumers in one of its groups.
 */
final class KafkaCluster implements Cluster {

	private final NumbersTopic topic;

	private final Map<String, String> consumer = new HashMap<>();

	private final boolean staticMembers;

	/**
	 * Starts the broker.
	 * @param shards the number of partitions
	 * @param settings of broker and consumers, where they are not at their defaults
	 * @param staticMembers whether a member's name is its {@code group.instance.id}
	 */
	KafkaCluster(int shards, KafkaSettings settings, boolean staticMembers) {
		this.topic = new NumbersTopic(shards, settings.broker());
		this.staticMembers = staticMembers;
		this.consumer.putAll(settings.consumer());
		this.consumer.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, this.topic.address());
		this.consumer.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
		this.consumer.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
	}

	@Override
	public void send(byte[] payload) {
		this.topic.send(payload);
	}

	@Override
	public List<String> instance(String group, String name, Path trace, int release) {
		List<String> command = new ArrayList<>(List.of("-cp", System.getProperty("java.class.path"),
				KafkaInstance.class.getName(), NumbersTopic.NAME, trace.toString()));
		this.consumer.forEach((property, value) -> command.add(property + "=" + value));
		command.add(ConsumerConfig.GROUP_ID_CONFIG + "=" + group);
		if (this.staticMembers) {
			command.add(CommonClientConfigs.GROUP_INSTANCE_ID_CONFIG + "=" + name);
		}
		return command;
	}

	@Override
	public void close() {
		this.topic.close();
	}

}
