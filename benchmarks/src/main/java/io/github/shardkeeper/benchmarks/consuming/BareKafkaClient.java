package io.github.shardkeeper.benchmarks.consuming;

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
record BareKafkaClient() implements Contender<Partitions> {

	/** Each run is a group of its own, which reads everything. */
	private static final AtomicInteger groups = new AtomicInteger();

	private static final Duration POLL = Duration.ofMillis(100);

	private static final long PATIENCE_NANOS = 120_000_000_000L;

	@Override
	public double asked() {
		return 0.95;
	}

	@Override
	public String name() {
		return "bare KafkaConsumer, commit per poll";
	}

	@Override
	public void consume(Partitions partitions, Tally tally) {
		ByteArrayDeserializer bytes = new ByteArrayDeserializer();
		try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
				partitions.consumer("bare-" + groups.incrementAndGet()), bytes, bytes)) {
			consumer.subscribe(List.of(partitions.topic()));
			long deadline = System.nanoTime() + PATIENCE_NANOS;
			while (!tally.isComplete() && System.nanoTime() - deadline < 0) {
				ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
				for (ConsumerRecord<byte[], byte[]> record : records) {
					tally.handled(record.value());
				}
				if (!records.isEmpty()) {
					consumer.commitSync();
				}
			}
		}
	}

}
