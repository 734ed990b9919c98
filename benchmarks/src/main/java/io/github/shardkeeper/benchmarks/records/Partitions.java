package io.github.shardkeeper.benchmarks.records;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * The partitions of one topic, filled, and read by all contenders. Immutable.
 *
 * @param servers the servers of their Kafka
 * @param redis the port of the Redis where Shardkeeper coordinates
 */
record Partitions(String servers, int redis, String topic, int shards, int recordsPerShard) implements Records {

	@Override
	public Map<String, Object> properties() {
		return Map.of("shardkeeper.topics." + this.topic + ".source", "kafka", "spring.kafka.bootstrap-servers",
				this.servers);
	}

	/** Returns the settings of a consumer that are not at their defaults. */
	Map<String, Object> consumer(String group) {
		Map<String, Object> properties = new HashMap<>(
				Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, this.servers));
		properties.put(ConsumerConfig.GROUP_ID_CONFIG, group);
		properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
		properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
		return properties;
	}

	/**
	 * Creates the topic and appends the records.
	 * @param key returns the key of each payload, {@code null} for none
	 */
	Partitions fill(EmbeddedKafka kafka, Function<byte[], String> key) {
		kafka.createTopic(this.topic, this.shards);
		Map<String, Object> properties = new HashMap<>(
				Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, this.servers));
		properties.put(ProducerConfig.LINGER_MS_CONFIG, 20);
		try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(properties, new StringSerializer(),
				new ByteArraySerializer())) {
			payloads((payloads) -> payloads.forEach((payload) -> producer.send(
					new ProducerRecord<>(this.topic, ByteBuffer.wrap(payload).getInt(), key.apply(payload), payload))));
		}
		return this;
	}

}
