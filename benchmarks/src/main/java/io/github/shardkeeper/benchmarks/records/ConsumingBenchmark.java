package io.github.shardkeeper.benchmarks.records;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Records per second that one instance takes from Redis Streams, beside a bare client and
 * Spring Data Redis; or from Kafka, beside a bare client and Spring Kafka. All contenders
 * read the same records, which were sent before. Measures the time from the first to the
 * last handled record.
 */
public final class ConsumingBenchmark implements Benchmark {

	/** Figure: records per second. */
	static final String RATE = "records/s";

	/** Figure: processor time of the process for each record. */
	static final String PROCESSOR = "processor us per record";

	private static final String REDIS = "redis";

	private static final String KAFKA = "kafka";

	@Override
	public String description() {
		return """
				Records per second from Redis Streams, beside a bare Lettuce loop and Spring Data Redis.
				--source=redis (or kafka, beside a bare KafkaConsumer loop and Spring Kafka)
				--shards=1,32 --records=500000,800000 (for each number of shards; of Kafka 32 and 3200000)
				--rounds=5 --warm-up=1 --contenders=… (parts of their names)
				The raw figures are left in consuming.csv, or consuming-kafka.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("source", "shards", "records", "rounds", "warm-up", "contenders"));
		boolean fromKafka = options.choice("source", List.of(REDIS, KAFKA), REDIS).equals(KAFKA);
		List<Integer> shards = options.numbers("shards", fromKafka ? List.of(32) : List.of(1, 32), 1);
		List<Integer> records = options.numbers("records", fromKafka ? List.of(3_200_000) : List.of(500_000, 800_000),
				1);
		int warmUp = options.number("warm-up", 1);
		int rounds = options.number("rounds", 5, 1);
		if (fromKafka) {
			List<Reader<? super Partitions>> readers = options.matching("contenders", ofKafka());
			try (RawFigures raw = new RawFigures(Path.of("consuming-kafka.csv"));
					EmbeddedRedis redis = EmbeddedRedis.start();
					EmbeddedKafka kafka = KafkaProcess.start(Map.of())) {
				measure(shards, records, warmUp, rounds, raw, readers,
						(topic, number,
								each) -> new Partitions(kafka.bootstrapServers(), redis.port(), topic, number, each)
									.fill(kafka, (payload) -> null));
			}
		}
		else {
			List<Reader<? super Streams>> readers = options.matching("contenders", ofRedis());
			try (RawFigures raw = new RawFigures(Path.of("consuming.csv"));
					EmbeddedRedis redis = EmbeddedRedis.start()) {
				measure(shards, records, warmUp, rounds, raw, readers, (topic, number,
						each) -> new Streams(redis.port(), topic, number, each).fill((payload) -> "key"));
			}
		}
	}

	static List<Reader<? super Streams>> ofRedis() {
		List<Reader<? super Streams>> all = new ArrayList<>(List.of(new BareClient(false), new BareClient(true),
				new SpringContainer(false, false), new SpringContainer(true, false), new SpringContainer(true, true)));
		all.addAll(Shardkeeper.STATELESS);
		all.addAll(Shardkeeper.STATEFUL);
		return all;
	}

	static List<Reader<? super Partitions>> ofKafka() {
		List<Reader<? super Partitions>> all = new ArrayList<>(
				List.of(new BareKafkaClient(), new SpringKafkaContainer(false), new SpringKafkaContainer(true)));
		all.addAll(Shardkeeper.STATELESS);
		return all;
	}

	private static <R extends Records> void measure(List<Integer> shards, List<Integer> records, int warmUp, int rounds,
			RawFigures raw, List<Reader<? super R>> readers, Source<R> source) throws Exception {
		Machine.print();
		for (int i = 0; i < shards.size(); i++) {
			int number = shards.get(i);
			int all = records.get(Math.min(i, records.size() - 1));
			Map<Integer, R> filled = new LinkedHashMap<>();
			IntFunction<R> fill = (divisor) -> source.fill("records-" + number + "-" + divisor, number,
					all / divisor / number);
			Rounds<Reader<? super R>> measured = Rounds.run("%d shards, %,d records".formatted(number, all), readers,
					warmUp, rounds, raw,
					(reader, round) -> once(reader, filled.computeIfAbsent(reader.divisor(), fill::apply)).figures());
			measured.table().forEach(System.out::println);
			measured.ratios(RATE, readers).forEach(System.out::println);
		}
	}

	/** Has a contender read everything once; returns what was counted. */
	static <R extends Records> Tally once(Reader<? super R> reader, R records) throws Exception {
		Tally tally = records.tally();
		System.gc();
		reader.consume(records, tally);
		tally.verify();
		return tally;
	}

	/** Fills a topic. */
	private interface Source<R> {

		R fill(String topic, int shards, int recordsPerShard);

	}

}
