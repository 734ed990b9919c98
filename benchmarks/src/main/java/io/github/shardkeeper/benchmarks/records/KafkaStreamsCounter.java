package io.github.shardkeeper.benchmarks.records;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;

import org.springframework.util.FileSystemUtils;

/**
 * An application of Kafka Streams that counts the records of each key in its default
 * store, RocksDB with a changelog and a cache. At its defaults, with a thread for each
 * processor.
 *
 * @param guarantee the {@code processing.guarantee}
 */
record KafkaStreamsCounter(String guarantee) implements Reader<Partitions> {

	/** Each run is an application of its own, which reads everything. */
	private static final AtomicInteger applications = new AtomicInteger();

	@Override
	public String text() {
		return "Kafka Streams, " + this.guarantee;
	}

	@Override
	public void consume(Partitions partitions, HandledRecords handled) throws Exception {
		StreamsBuilder builder = new StreamsBuilder();
		builder.stream(partitions.topic(), Consumed.with(Serdes.String(), Serdes.ByteArray()))
			.groupByKey()
			.aggregate(() -> 0L, (key, payload, count) -> {
				handled.counted(payload, count + 1);
				return count + 1;
			}, Materialized.with(Serdes.String(), Serdes.Long()));
		Path directory = Files.createTempDirectory("benchmark-kafka-streams");
		Properties properties = new Properties();
		properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, partitions.servers());
		properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "counter-" + applications.incrementAndGet());
		properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, this.guarantee);
		properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, Runtime.getRuntime().availableProcessors());
		properties.put(StreamsConfig.STATE_DIR_CONFIG, directory.toString());
		try (KafkaStreams streams = new KafkaStreams(builder.build(), properties)) {
			streams.start();
			handled.awaitCompletion();
		}
		finally {
			FileSystemUtils.deleteRecursively(directory);
		}
	}

}
