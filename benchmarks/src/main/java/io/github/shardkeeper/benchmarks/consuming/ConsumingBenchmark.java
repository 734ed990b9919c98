package io.github.shardkeeper.benchmarks.consuming;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * How many records per second one instance takes from Redis Streams, beside a bare client
 * and Spring Data Redis; or from Kafka, beside a bare client and Spring Kafka. All
 * contenders read the same records, which were sent before, one contender after the
 * other, in every second round the other way round. What is measured is the time from the
 * first to the last handled record.
 */
public final class ConsumingBenchmark implements Benchmark {

	private static final String REDIS = "redis";

	private static final String KAFKA = "kafka";

	private static final List<String> COLUMNS = List.of("shards", "contender", "round", "records_per_second",
			"processor_micros_per_record", "load_average");

	@Override
	public String description() {
		return """
				Records per second from Redis Streams, beside a bare Lettuce loop and Spring Data Redis.
				--source=redis (or kafka, beside a bare KafkaConsumer loop and Spring Kafka)
				--shards=1,32 --records=500000,800000 (for each number of shards; of Kafka 32 and 3200000)
				--rounds=5 --warm-up=1 --contenders=… (parts of their names)
				The raw figures are left in consuming.csv, or consuming-kafka.csv.""".indent(14).strip();
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
		List<Contender<? super Streams>> onRedis = fromKafka ? List.of()
				: options.matching("contenders", contenders(), Contender::name);
		List<Contender<? super Partitions>> onKafka = fromKafka
				? options.matching("contenders", kafkaContenders(), Contender::name) : List.of();
		Path file = Path.of(fromKafka ? "consuming-kafka.csv" : "consuming.csv");
		try (RawFigures raw = new RawFigures(file, COLUMNS)) {
			for (int i = 0; i < shards.size(); i++) {
				Run run = new Run(shards.get(i), records.get(Math.min(i, records.size() - 1)), warmUp, rounds, raw);
				if (fromKafka) {
					run.onKafka(onKafka);
				}
				else {
					run.onRedis(onRedis);
				}
			}
		}
	}

	static List<Contender<? super Streams>> contenders() {
		List<Contender<? super Streams>> all = new ArrayList<>(List.of(new BareClient(false), new BareClient(true),
				new SpringContainer(false, false), new SpringContainer(true, false), new SpringContainer(true, true)));
		all.addAll(ours(false));
		if (hasVirtualThreads()) {
			all.addAll(ours(true));
		}
		return all;
	}

	static List<Contender<? super Partitions>> kafkaContenders() {
		List<Contender<? super Partitions>> all = new ArrayList<>(
				List.of(new BareKafkaClient(), new SpringKafkaContainer(false), new SpringKafkaContainer(true)));
		all.addAll(oursWithoutState(false));
		if (hasVirtualThreads()) {
			all.addAll(oursWithoutState(true));
		}
		return all;
	}

	private static boolean hasVirtualThreads() {
		if (Runtime.version().feature() >= 21) {
			return true;
		}
		System.out.println("Without virtual threads, which Java 17 does not have.");
		return false;
	}

	private static List<Shardkeeper> ours(boolean virtualThreads) {
		List<Shardkeeper> all = new ArrayList<>(oursWithoutState(virtualThreads));
		all.add(1, new Shardkeeper("Shardkeeper, record and state" + suffix(virtualThreads), false, virtualThreads,
				Handlers.OneRecordAndState::new));
		all.add(new Shardkeeper("Shardkeeper, list and state" + suffix(virtualThreads), true, virtualThreads,
				Handlers.ManyRecordsAndState::new));
		return all;
	}

	private static List<Shardkeeper> oursWithoutState(boolean virtualThreads) {
		return List.of(
				new Shardkeeper("Shardkeeper, record" + suffix(virtualThreads), false, virtualThreads,
						Handlers.OneRecord::new),
				new Shardkeeper("Shardkeeper, list" + suffix(virtualThreads), true, virtualThreads,
						Handlers.ManyRecords::new));
	}

	private static String suffix(boolean virtualThreads) {
		return virtualThreads ? ", virtual threads" : "";
	}

	/** Has a contender read everything once; returns what was counted. */
	static <R extends Records> Tally once(Contender<? super R> contender, R records) throws Exception {
		Tally tally = records.tally();
		System.gc();
		contender.consume(records, tally);
		tally.verify();
		return tally;
	}

	/**
	 * What is measured with one number of shards.
	 *
	 * @param shards how many
	 * @param records how many in all of them
	 * @param warmUp rounds before those that count
	 * @param rounds rounds that count
	 * @param raw takes every figure
	 */
	private record Run(int shards, int records, int warmUp, int rounds, RawFigures raw) {

		void onRedis(List<Contender<? super Streams>> contenders) throws Exception {
			try (RedisProcess redis = RedisProcess.start()) {
				System.out.printf("%n%s%n", Machine.describe(redis.version()));
				measure(contenders, (divisor) -> {
					Streams streams = new Streams(redis, "records-" + divisor, this.shards,
							this.records / divisor / this.shards);
					streams.fill();
					return streams;
				});
			}
		}

		void onKafka(List<Contender<? super Partitions>> contenders) throws Exception {
			try (RedisProcess redis = RedisProcess.start(); EmbeddedKafka kafka = KafkaProcess.start(Map.of())) {
				System.out.printf("%n%s%n",
						Machine.describeWith("Redis " + redis.version() + ", " + KafkaProcess.version()));
				measure(contenders, (divisor) -> {
					Partitions partitions = new Partitions(kafka, redis, "records-" + divisor, this.shards,
							this.records / divisor / this.shards);
					partitions.fill();
					return partitions;
				});
			}
		}

		private <R extends Records> void measure(List<Contender<? super R>> contenders, IntFunction<R> filler)
				throws Exception {
			Map<Integer, R> filled = new LinkedHashMap<>();
			for (Contender<? super R> contender : contenders) {
				filled.computeIfAbsent(contender.divisor(), filler::apply);
			}
			System.out.printf(Locale.ROOT,
					"%d shards, %,d records of %d bytes (a tenth for who acknowledges each), "
							+ "%d rounds after %d for warming up%n",
					this.shards, this.records, Records.PAYLOAD_BYTES, this.rounds, this.warmUp);
			Map<Contender<? super R>, Figures> measured = new LinkedHashMap<>();
			contenders.forEach((contender) -> measured.put(contender, new Figures()));
			List<Contender<? super R>> order = new ArrayList<>(contenders);
			for (int round = 1 - this.warmUp; round <= this.rounds; round++) {
				for (Contender<? super R> contender : order) {
					Tally tally = once(contender, filled.get(contender.divisor()));
					System.out.printf(Locale.ROOT, "  round %2d  %,9.0f/s  %5.2f us CPU  %s%n", round, tally.rate(),
							tally.processorMicrosPerRecord(), contender.name());
					if (round > 0) {
						measured.get(contender).add(tally);
						this.raw.accept(
								String.format(Locale.ROOT, "%d,\"%s\",%d,%.0f,%.3f,%.2f", this.shards, contender.name(),
										round, tally.rate(), tally.processorMicrosPerRecord(), Machine.load()));
					}
				}
				Collections.reverse(order);
			}
			new Table(measured).print();
		}

	}

}
