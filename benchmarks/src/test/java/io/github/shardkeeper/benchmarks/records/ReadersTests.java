package io.github.shardkeeper.benchmarks.records;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Contenders read the same records, and handle every record once.
 */
class ReadersTests {

	private static final int SHARDS = 3;

	private static final int RECORDS_PER_SHARD = 700;

	@Test
	void everyContenderHandlesEveryRecordOfRedisOnce() throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			Streams streams = new Streams(redis.port(), "records", SHARDS, RECORDS_PER_SHARD).fill((payload) -> "key");
			for (Reader<? super Streams> reader : ConsumingBenchmark.ofRedis()) {
				verify(reader, streams);
			}
		}
	}

	@Test
	void everyContenderHandlesEveryRecordOfKafkaOnce() throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				EmbeddedKafka kafka = KafkaProcess.start(Map.of("group.initial.rebalance.delay.ms", "0"))) {
			Partitions partitions = new Partitions(kafka.bootstrapServers(), redis.port(), "records", SHARDS,
					RECORDS_PER_SHARD)
				.fill(kafka, (payload) -> null);
			for (Reader<? super Partitions> reader : ConsumingBenchmark.ofKafka()) {
				verify(reader, partitions);
			}
		}
	}

	private static <R extends Records> void verify(Reader<? super R> reader, R records) throws Exception {
		long begun = System.nanoTime();
		// Fails where one is missing, out of order or handled twice.
		Map<String, Double> figures = ConsumingBenchmark.once(reader, records).figures();

		// The first and the last record were handled in between.
		double slowest = SHARDS * RECORDS_PER_SHARD * 1e9 / (System.nanoTime() - begun);
		assertThat(figures.get(ConsumingBenchmark.RATE)).as(reader.text()).isGreaterThanOrEqualTo(slowest).isFinite();
		assertThat(List.copyOf(figures.keySet())).containsExactly(ConsumingBenchmark.RATE,
				ConsumingBenchmark.PROCESSOR);
	}

}
