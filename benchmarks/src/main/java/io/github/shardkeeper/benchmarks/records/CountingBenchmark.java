package io.github.shardkeeper.benchmarks.records;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.streams.StreamsConfig;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Records per second of a handler that counts the records of each key in its state,
 * beside Kafka Streams with RocksDB. All contenders read the same records, from Kafka or
 * from Redis Streams.
 */
public final class CountingBenchmark implements Benchmark {

	static final List<Counter> CONTENDERS = List.of(Counter.ofKafka(shardkeeper("Shardkeeper on Kafka", Map.of())),
			Counter.ofRedis(shardkeeper("Shardkeeper on Redis Streams", Map.of())),
			Counter.ofKafka(onUse("cache for all keys", "64MB")),
			Counter.ofKafka(onUse("cache for 90 % of them", "9MB")),
			Counter.ofKafka(onUse("cache for 10 % of them", "1MB")),
			Counter.ofKafka(new KafkaStreamsCounter(StreamsConfig.AT_LEAST_ONCE)),
			Counter.ofKafka(new KafkaStreamsCounter(StreamsConfig.EXACTLY_ONCE_V2)));

	private static Shardkeeper shardkeeper(String text, Map<String, Object> properties) {
		return new Shardkeeper(text, Handlers.CountPerKey::new, properties);
	}

	/**
	 * Reads the state on use; a cache of 1 MB has room for some 4,000 of the keys.
	 */
	private static Shardkeeper onUse(String text, String cache) {
		return shardkeeper("Shardkeeper on Kafka, state on use, " + text,
				Map.of("shardkeeper.consumer.state.read", "on-use", "shardkeeper.consumer.state.cache-size", cache));
	}

	@Override
	public String description() {
		return """
				Records per second of a handler that counts by key, beside Kafka Streams with RocksDB.
				--shards=8 --keys=40000 (of all shards) --records=800000 --rounds=3 --warm-up=2
				--contenders=… (parts of their names)
				The raw figures are left in counting.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "keys", "records", "rounds", "warm-up", "contenders"));
		int shards = options.number("shards", 8, 1);
		Sizes sizes = new Sizes(shards, options.number("keys", 40_000, shards),
				options.number("records", 800_000, shards), options.number("warm-up", 2),
				options.number("rounds", 3, 1));
		List<Counter> contenders = options.matching("contenders", CONTENDERS);
		try (RawFigures raw = new RawFigures(Path.of("counting.csv"))) {
			Machine.print();
			Rounds<Counter> measured = measure(contenders, sizes, raw);
			measured.table().forEach(System.out::println);
			measured.ratios(ConsumingBenchmark.RATE, contenders).forEach(System.out::println);
		}
	}

	static Rounds<Counter> measure(List<Counter> contenders, Sizes sizes, RawFigures raw) throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start(); EmbeddedKafka kafka = KafkaProcess.start(Map.of())) {
			int each = sizes.records() / sizes.shards();
			Streams streams = new Streams(redis.port(), "visits", sizes.shards(), each)
				.fill(sizes.keysOfRecords()::next);
			Partitions partitions = new Partitions(kafka.bootstrapServers(), redis.port(), "visits-of-kafka",
					sizes.shards(), each)
				.fill(kafka, sizes.keysOfRecords()::next);
			return Rounds.run("%,d records of %,d keys".formatted(sizes.records(), sizes.keys()), contenders,
					sizes.warmUp(), sizes.rounds(), raw,
					(counter, round) -> counter.count().from(streams, partitions).figures());
		}
	}

	/**
	 * A contender, and where it reads the records.
	 */
	record Counter(String text, Count count) implements Contender {

		static Counter ofRedis(Reader<? super Streams> reader) {
			return new Counter(reader.text(), (streams, partitions) -> ConsumingBenchmark.once(reader, streams));
		}

		static Counter ofKafka(Reader<? super Partitions> reader) {
			return new Counter(reader.text(), (streams, partitions) -> ConsumingBenchmark.once(reader, partitions));
		}

	}

	/** Reads and counts all records once. */
	@FunctionalInterface
	interface Count {

		Tally from(Streams streams, Partitions partitions) throws Exception;

	}

	/**
	 * How much is measured.
	 *
	 * @param keys the number of different keys of all shards
	 */
	record Sizes(int shards, int keys, int records, int warmUp, int rounds) {

		CountedKeys keysOfRecords() {
			return new CountedKeys(this.shards, this.keys / this.shards);
		}

	}

}
