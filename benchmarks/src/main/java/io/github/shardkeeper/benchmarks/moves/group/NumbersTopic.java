package io.github.shardkeeper.benchmarks.moves.group;

import java.util.Map;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * A broker of its own with one topic, and a producer. Confined to one thread, but for
 * sending.
 */
final class NumbersTopic implements AutoCloseable {

	static final String NAME = ShardkeeperInstance.TOPIC;

	private final EmbeddedKafka kafka;

	private final int partitions;

	private final KafkaProducer<byte[], byte[]> producer;

	/**
	 * Starts the broker.
	 * @param partitions how many
	 * @param settings of the broker, where they are not at their defaults
	 */
	NumbersTopic(int partitions, Map<String, String> settings) {
		this.kafka = KafkaProcess.start(settings);
		this.partitions = partitions;
		this.kafka.createTopic(NAME, partitions);
		ByteArraySerializer bytes = new ByteArraySerializer();
		// Each record at once, as Redis has it, and in order also while the topic is
		// being
		// made: with sequence numbers, what is refused then would hold up the partition.
		this.producer = new KafkaProducer<>(Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, address(),
				ProducerConfig.LINGER_MS_CONFIG, 0, ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, false,
				ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1), bytes, bytes);
	}

	/** Sends one record to each partition; does not wait for the reply. */
	void send(byte[] payload) {
		for (int partition = 0; partition < this.partitions; partition++) {
			this.producer.send(new ProducerRecord<>(NAME, partition, null, payload));
		}
	}

	String address() {
		return this.kafka.bootstrapServers();
	}

	@Override
	public void close() {
		this.producer.close();
		this.kafka.close();
	}

}
