package io.github.shardkeeper.benchmarks.records;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Records per second of handlers that update rows of PostgreSQL, with the offset in the
 * same transaction: by Shardkeeper, and by a Spring Kafka listener that stores offsets
 * itself. Beside them the same handler without exactly once. All read the same records of
 * Kafka, each contender in a process of its own.
 */
public final class TransactionsBenchmark implements Benchmark {

	@Override
	public String description() {
		return """
				Records per second of handlers in transactions of PostgreSQL, beside a Spring Kafka listener
				that stores offsets in the same database.
				--shards=8 --records=200000 (a quarter for one record per call) --rounds=5 --warm-up=4
				--fsync=off (on: each commit waits for the disk) --contenders=… (parts of their names)
				The raw figures are left in transactions.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "records", "rounds", "warm-up", "fsync", "contenders"));
		int shards = options.number("shards", 8, 1);
		Sizes sizes = new Sizes(shards, options.number("records", 200_000, 4 * shards), options.number("warm-up", 4),
				options.number("rounds", 5, 1), options.choice("fsync", List.of("off", "on"), "off"));
		List<Transactions> contenders = options.matching("contenders", List.of(Transactions.values()));
		try (RawFigures raw = new RawFigures(Path.of("transactions.csv"))) {
			Machine.print();
			for (boolean lists : List.of(false, true)) {
				Rounds<Transactions> measured = measure(
						contenders.stream().filter((contender) -> contender.takesLists() == lists).toList(), sizes,
						raw);
				measured.table().forEach(System.out::println);
				measured
					.ratios(ConsumingBenchmark.RATE,
							Arrays.stream(Transactions.values()).filter(Transactions::isPeer).toList())
					.forEach(System.out::println);
			}
		}
	}

	/** Measures contenders that all take lists, or one record per call. */
	static Rounds<Transactions> measure(List<Transactions> contenders, Sizes sizes, RawFigures raw) throws Exception {
		boolean lists = contenders.stream().allMatch(Transactions::takesLists);
		int records = lists ? sizes.records() : sizes.records() / 4;
		Map<Transactions, ChildProcess> processes = new LinkedHashMap<>();
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				EmbeddedKafka kafka = KafkaProcess.start(Map.of());
				ChildProcess database = ChildProcess.start(ClassPath.allEntries(), DatabaseProcess.class,
						sizes.fsync())) {
			int port = database.ask("").get("port").intValue();
			Partitions partitions = new Partitions(kafka.bootstrapServers(), redis.port(), "records", sizes.shards(),
					records / sizes.shards())
				.fill(kafka, (payload) -> String.valueOf(Tally.key(payload, Accounts.PER_SHARD)));
			for (Transactions contender : contenders) {
				processes.put(contender,
						ChildProcess.start(ClassPath.allEntries(), TransactionProcess.class, contender.name(),
								redis.port(), kafka.bootstrapServers(), partitions.topic(), partitions.shards(),
								partitions.recordsPerShard(), port));
			}
			return Rounds.run("%s, fsync %s".formatted(lists ? "lists" : "one record per call", sizes.fsync()),
					contenders, sizes.warmUp(), sizes.rounds(), raw, (contender, round) -> {
						Map<String, Double> figures = processes.get(contender)
							.ask(contender.name().toLowerCase() + "-" + round);
						return Tally.figures(figures.get("rate"), figures.get("micros"));
					});
		}
		finally {
			processes.values().forEach(ChildProcess::close);
		}
	}

	/**
	 * How much is measured.
	 *
	 * @param records how many in lists, four times as many as one by one
	 * @param fsync whether commits wait for the disk: {@code on} or {@code off}
	 */
	record Sizes(int shards, int records, int warmUp, int rounds, String fsync) {
	}

}
