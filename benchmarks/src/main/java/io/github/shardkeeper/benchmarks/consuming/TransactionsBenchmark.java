package io.github.shardkeeper.benchmarks.consuming;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * Records per second of handlers that update rows of PostgreSQL, with the offset in the
 * same transaction: by Shardkeeper, and by a Spring Kafka listener that stores offsets
 * itself. Beside them the same handler without exactly once. All read the same records of
 * Kafka, each contender in a process of its own; every second round has the reverse
 * order.
 */
public final class TransactionsBenchmark implements Benchmark {

	static final int BATCH = 100;

	/** Contenders with one record per call get this part of the records. */
	private static final int SINGLE_PART = 4;

	private static final Path RAW_FIGURES = Path.of("transactions.csv");

	@Override
	public String description() {
		return """
				Records per second of handlers in transactions of PostgreSQL, beside a Spring Kafka listener
				that stores offsets in the same database.
				--shards=8 --records=200000 (a quarter for one record per call) --rounds=5 --warm-up=4
				--fsync=off (on: each commit waits for the disk)
				--contenders=single,single-by-key,single-without,single-by-hand,batches,batches-without,
				batches-by-hand
				The raw figures are left in transactions.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "records", "rounds", "warm-up", "fsync", "contenders"));
		int shards = options.number("shards", 8, 1);
		int records = options.number("records", 200_000, SINGLE_PART * shards);
		// With one record per call, Java compiles during the first 200,000 or so.
		int warmUp = options.number("warm-up", 4);
		int rounds = options.number("rounds", 5, 1);
		String fsync = options.choice("fsync", List.of("off", "on"), "off");
		Map<String, Contender> all = new LinkedHashMap<>();
		for (Contender contender : Contender.values()) {
			all.put(contender.name().toLowerCase(Locale.ROOT).replace('_', '-'), contender);
		}
		List<String> names = List.copyOf(all.keySet());
		List<Contender> contenders = options.choices("contenders", names, names).stream().map(all::get).toList();
		try (RawFigures raw = new RawFigures(RAW_FIGURES,
				List.of("contender", "round", "records_per_second", "processor_micros_per_record", "load_average"))) {
			System.out.printf(Locale.ROOT,
					"%d shards, %,d records of %d bytes (a quarter for one per call), %d rounds after %d for warming up, fsync %s%n",
					shards, records, Records.PAYLOAD_BYTES, rounds, warmUp, fsync);
			lines(measure(contenders, shards, records, warmUp, rounds, fsync, raw)).forEach(System.out::println);
		}
	}

	static Map<Contender, Figures> measure(List<Contender> contenders, int shards, int records, int warmUp, int rounds,
			String fsync, RawFigures raw) throws Exception {
		Map<Contender, Figures> measured = new LinkedHashMap<>();
		Map<Contender, ChildProcess> processes = new LinkedHashMap<>();
		try (RedisProcess redis = RedisProcess.start();
				EmbeddedKafka kafka = KafkaProcess.start(Map.of());
				ChildProcess database = ChildProcess.start(ClassPath.allEntries(), DatabaseProcess.class, fsync)) {
			int databasePort = database.requestFigures().get("port").intValue();
			System.out.printf("%s%n", Machine.describeWith("Redis " + redis.version() + ", " + KafkaProcess.version()
					+ ", PostgreSQL " + database.requestFigures().get("version")));
			Partitions all = new Partitions(kafka, redis, "batches", shards, records / shards);
			Partitions fewer = new Partitions(kafka, redis, "single", shards, records / SINGLE_PART / shards);
			all.fill(Accounts.PER_SHARD);
			fewer.fill(Accounts.PER_SHARD);
			for (Contender contender : contenders) {
				processes.put(contender, start(contender, contender.inBatches() ? all : fewer, databasePort));
				measured.put(contender, new Figures());
			}
			List<Contender> order = new ArrayList<>(contenders);
			for (int round = 1 - warmUp; round <= rounds; round++) {
				for (Contender contender : order) {
					ChildProcess process = processes.get(contender);
					process.request("%s-%d".formatted(contender.name().toLowerCase(Locale.ROOT), round));
					Map<String, Double> figures = process.await();
					System.out.printf(Locale.ROOT, "  round %2d  %,9.0f/s  %6.2f us CPU  %s%n", round,
							figures.get("rate"), figures.get("micros"), contender.text());
					if (round > 0) {
						measured.get(contender).rates().add(figures.get("rate"));
						measured.get(contender).processorMicros().add(figures.get("micros"));
						raw.accept(String.format(Locale.ROOT, "\"%s\",%d,%.0f,%.3f,%.2f", contender.text(), round,
								figures.get("rate"), figures.get("micros"), Machine.load()));
					}
				}
				Collections.reverse(order);
			}
		}
		finally {
			processes.values().forEach(ChildProcess::close);
		}
		return measured;
	}

	private static ChildProcess start(Contender contender, Partitions partitions, int databasePort) throws IOException {
		return ChildProcess.start(ClassPath.allEntries(), TransactionProcess.class, contender.name(),
				Integer.toString(partitions.redis().port()), partitions.kafka().bootstrapServers(), partitions.topic(),
				Integer.toString(partitions.shards()), Integer.toString(partitions.recordsPerShard()),
				Integer.toString(databasePort));
	}

	static List<String> lines(Map<Contender, Figures> measured) {
		List<String> lines = new ArrayList<>(List.of("",
				"| rows of PostgreSQL, from Kafka | times as fast as offsets by hand: median (lowest-highest round) | times as fast as without exactly once | records/s (median) | lowest-highest | processor time of its process per record, us |",
				"|---|---:|---:|---:|---:|---:|"));
		measured.forEach((contender,
				figures) -> lines.add(String.format(Locale.ROOT, "| %s | %s | %s | %,.0f | %,.0f-%,.0f | %.1f |",
						contender.text(), text(measured, contender, contender.byHand()),
						text(measured, contender, contender.without()), figures.rates().median(),
						figures.rates().lowest(), figures.rates().highest(), figures.processorMicros().median())));
		GoalTable goals = new GoalTable("times as fast", "at least");
		for (Contender ours : List.of(Contender.SINGLE, Contender.BATCHES)) {
			if (measured.keySet().containsAll(Set.of(ours, ours.byHand()))) {
				goals.atLeast(ours.text() + ", beside offsets by hand", times(measured, ours, ours.byHand()).median(),
						1);
			}
		}
		if (measured.keySet().containsAll(Set.of(Contender.BATCHES, Contender.BATCHES_WITHOUT))) {
			goals.atLeast(Contender.BATCHES.text() + ", beside without exactly once",
					times(measured, Contender.BATCHES, Contender.BATCHES_WITHOUT).median(), 0.9);
		}
		lines.addAll(goals.lines());
		return lines;
	}

	private static Samples times(Map<Contender, Figures> measured, Contender contender, Contender other) {
		return measured.get(contender).rates().dividedBy(measured.get(other).rates());
	}

	private static String text(Map<Contender, Figures> measured, Contender contender, Contender other) {
		if (!measured.containsKey(other)) {
			return "–";
		}
		Samples ratios = times(measured, contender, other);
		return String.format(Locale.ROOT, "%.2f (%.2f-%.2f)", ratios.median(), ratios.lowest(), ratios.highest());
	}

	/** A way to handle records in transactions. */
	enum Contender {

		SINGLE("Shardkeeper, `transaction: jdbc`, one record"),

		SINGLE_BY_KEY("Shardkeeper, `transaction: jdbc`, one record, `ordering: key`"),

		SINGLE_WITHOUT("Shardkeeper without exactly once, one record"),

		SINGLE_BY_HAND("Spring Kafka, offsets by hand, one record"),

		BATCHES("Shardkeeper, `transaction: jdbc`, lists of up to " + BATCH),

		BATCHES_WITHOUT("Shardkeeper without exactly once, lists of up to " + BATCH),

		BATCHES_BY_HAND("Spring Kafka, offsets by hand, lists of up to " + BATCH);

		private final String text;

		Contender(String text) {
			this.text = text;
		}

		String text() {
			return this.text;
		}

		boolean inBatches() {
			return name().startsWith("BATCHES");
		}

		/** Returns whether only records with the same key have an order. */
		boolean isByKey() {
			return this == SINGLE_BY_KEY;
		}

		boolean isByHand() {
			return this == byHand();
		}

		boolean isExactlyOnce() {
			return this != without();
		}

		/** Returns the contender of the same shape that stores offsets by hand. */
		Contender byHand() {
			return inBatches() ? BATCHES_BY_HAND : SINGLE_BY_HAND;
		}

		/** Returns the contender of the same shape without exactly once. */
		Contender without() {
			return inBatches() ? BATCHES_WITHOUT : SINGLE_WITHOUT;
		}

	}

}
