package io.github.shardkeeper.benchmarks.records;

import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.common.serialization.ByteArrayDeserializer;

import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListener;

/**
 * Spring Kafka's {@code KafkaMessageListenerContainer} at its defaults: it commits when
 * all records of a poll are handled.
 *
 * @param inBatches whether its listener takes all records of a poll at once
 */
record SpringKafkaContainer(boolean inBatches) implements Reader<Partitions> {

	/** Each run is a group of its own, which reads everything. */
	private static final AtomicInteger groups = new AtomicInteger();

	@Override
	public String text() {
		return "Spring Kafka container, " + (this.inBatches ? "batch" : "record");
	}

	@Override
	public void consume(Partitions partitions, HandledRecords handled) throws Exception {
		ByteArrayDeserializer bytes = new ByteArrayDeserializer();
		ContainerProperties properties = new ContainerProperties(partitions.topic());
		if (this.inBatches) {
			properties.setMessageListener((BatchMessageListener<byte[], byte[]>) (records) -> records
				.forEach((record) -> handled.handled(record.value())));
		}
		else {
			properties
				.setMessageListener((MessageListener<byte[], byte[]>) (record) -> handled.handled(record.value()));
		}
		KafkaMessageListenerContainer<byte[], byte[]> container = new KafkaMessageListenerContainer<>(
				new DefaultKafkaConsumerFactory<>(partitions.consumer("spring-" + groups.incrementAndGet()), bytes,
						bytes),
				properties);
		container.start();
		try {
			handled.awaitCompletion();
		}
		finally {
			container.stop();
		}
	}

}
