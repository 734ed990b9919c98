package io.github.shardkeeper.benchmarks.moves;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;

import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * A broker of its own, and a producer.
 */
final class KafkaCluster implements Cluster {

	private static final String TOPIC = "numbers";

	private final EmbeddedKafka kafka;

	private final int shards;

	private final Map<String, String> consumer = new HashMap<>();

	private final boolean staticMembers;

	private final KafkaProducer<byte[], byte[]> producer;

	/**
	 * Starts the broker.
	 * @param shards how many partitions
	 * @param settings of broker and consumers, where they are not at their defaults
	 * @param staticMembers whether a member's name is its {@code group.instance.id}
	 */
	KafkaCluster(int shards, KafkaSettings settings, boolean staticMembers) {
		this.kafka = KafkaProcess.start(settings.broker());
		this.shards = shards;
		this.staticMembers = staticMembers;
		this.consumer.putAll(settings.consumer());
		this.consumer.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, this.kafka.bootstrapServers());
		this.consumer.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
		this.consumer.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
		this.kafka.createTopic(TOPIC, shards);
		ByteArraySerializer bytes = new ByteArraySerializer();
		// Each record at once, as Redis has it, and in order also while the topic is
		// being
		// made: with sequence numbers, what is refused then would hold up the partition.
		this.producer = new KafkaProducer<>(
				Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, this.kafka.bootstrapServers(),
						ProducerConfig.LINGER_MS_CONFIG, 0, ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, false,
						ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1),
				bytes, bytes);
	}

	@Override
	public void send(byte[] payload) {
		for (int shard = 0; shard < this.shards; shard++) {
			this.producer.send(new ProducerRecord<>(TOPIC, shard, null, payload));
		}
	}

	@Override
	public List<String> instance(String group, String name, Path trace, int release) {
		List<String> command = new ArrayList<>(List.of("-cp", System.getProperty("java.class.path"),
				KafkaInstance.class.getName(), TOPIC, trace.toString()));
		this.consumer.forEach((property, value) -> command.add(property + "=" + value));
		command.add(ConsumerConfig.GROUP_ID_CONFIG + "=" + group);
		if (this.staticMembers) {
			command.add(CommonClientConfigs.GROUP_INSTANCE_ID_CONFIG + "=" + name);
		}
		return command;
	}

	@Override
	public String version() {
		return "Kafka " + AppInfoParser.getVersion();
	}

	@Override
	public void close() {
		this.producer.close();
		this.kafka.close();
	}

}
