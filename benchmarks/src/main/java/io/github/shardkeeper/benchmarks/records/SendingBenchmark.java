package io.github.shardkeeper.benchmarks.records;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.benchmarks.records.SendingClient.Kind;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Records per second that one thread sends, one after the other, asynchronously and in
 * batches: with a {@code ShardTemplate}, without a guard against duplicates, with
 * retries, with an id for each record, and with both; with bare Lettuce; and with a
 * {@code KafkaTemplate}. Each has a server of its own in each round.
 */
public final class SendingBenchmark implements Benchmark {

	static final String ONE_BY_ONE = "records/s, one after the other";

	static final String ASYNCHRONOUSLY = "records/s, asynchronously";

	static final String IN_BATCHES = "records/s, in batches";

	/** The part of the records that is sent one after the other. */
	private static final int PART_ONE_BY_ONE = 20;

	@Override
	public String description() {
		return """
				Records per second that one thread sends, beside bare Lettuce and Spring Kafka, with and without
				retries and ids. --shards=32 --records=200000 --batch=500 --rounds=5 --warm-up=1
				--contenders=… (parts of their names)
				The raw figures are left in sending.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "records", "batch", "rounds", "warm-up", "contenders"));
		int shards = options.number("shards", 32, 1);
		int records = options.number("records", 200_000, PART_ONE_BY_ONE);
		int batch = options.number("batch", 500, 1);
		int warmUp = options.number("warm-up", 1);
		int rounds = options.number("rounds", 5, 1);
		List<Kind> contenders = options.matching("contenders", List.of(Kind.values()));
		try (RawFigures raw = new RawFigures(Path.of("sending.csv"))) {
			Machine.print();
			Rounds<Kind> measured = Rounds.run("%d shards, batches of %,d".formatted(shards, batch), contenders, warmUp,
					rounds, raw, (contender, round) -> measure(contender, shards, records, batch));
			measured.table().forEach(System.out::println);
			for (String form : List.of(ONE_BY_ONE, ASYNCHRONOUSLY, IN_BATCHES)) {
				measured.ratios(form, List.of(Kind.BARE)).forEach(System.out::println);
			}
		}
	}

	static Map<String, Double> measure(Kind contender, int shards, int records, int batch) throws Exception {
		if (contender == Kind.KAFKA) {
			try (EmbeddedKafka kafka = KafkaProcess.start(Map.of());
					SendingClient client = SendingClient.open(kafka, shards)) {
				return send(client, records, batch);
			}
		}
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				RedisFigures memory = new RedisFigures(redis);
				SendingClient client = SendingClient.open(contender, redis.port(), shards)) {
			double before = memory.of("memory", "used_memory");
			Map<String, Double> figures = send(client, records, batch);
			figures.put("bytes of Redis per record",
					(memory.of("memory", "used_memory") - before) / (records / PART_ONE_BY_ONE + 2 * records));
			return figures;
		}
	}

	private static Map<String, Double> send(SendingClient client, int records, int batch) throws Exception {
		Map<String, Double> figures = new LinkedHashMap<>();
		System.gc();
		int few = records / PART_ONE_BY_ONE;
		long begun = System.nanoTime();
		for (int number = 0; number < few; number++) {
			client.send(number);
		}
		figures.put(ONE_BY_ONE, few * 1e9 / (System.nanoTime() - begun));
		begun = System.nanoTime();
		List<CompletableFuture<?>> sent = new ArrayList<>(records);
		for (int number = few; number < few + records; number++) {
			sent.add(client.sendAsync(number));
		}
		sent.forEach(CompletableFuture::join);
		figures.put(ASYNCHRONOUSLY, records * 1e9 / (System.nanoTime() - begun));
		begun = System.nanoTime();
		int end = few + 2 * records;
		for (int first = few + records; first < end; first += batch) {
			client.sendAll(first, Math.min(end, first + batch));
		}
		figures.put(IN_BATCHES, records * 1e9 / (System.nanoTime() - begun));
		return figures;
	}

}
