package io.github.shardkeeper.benchmarks.records;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A {@code KafkaConsumer} and a loop, as short as it gets: commits after each poll.
 */
record BareKafkaClient() implements Reader<Partitions> {

	/** Each run is a group of its own, which reads everything. */
	private static final AtomicInteger groups = new AtomicInteger();

	private static final Duration POLL = Duration.ofMillis(100);

	@Override
	public String text() {
		return "bare KafkaConsumer, commit per poll";
	}

	@Override
	public void consume(Partitions partitions, HandledRecords handled) {
		ByteArrayDeserializer bytes = new ByteArrayDeserializer();
		try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
				partitions.consumer("bare-" + groups.incrementAndGet()), bytes, bytes)) {
			consumer.subscribe(List.of(partitions.topic()));
			while (!handled.isComplete()) {
				ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
				for (ConsumerRecord<byte[], byte[]> record : records) {
					handled.handled(record.value());
				}
				if (!records.isEmpty()) {
					consumer.commitSync();
				}
			}
		}
	}

}
