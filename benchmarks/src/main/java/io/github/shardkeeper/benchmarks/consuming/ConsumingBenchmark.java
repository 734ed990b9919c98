package io.github.shardkeeper.benchmarks.consuming;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * How many records per second one instance takes from Redis Streams, beside a bare client
 * and Spring Data Redis. All contenders read the same streams, which were filled before,
 * one contender after the other, in every second round the other way round. What is
 * measured is the time from the first to the last handled record.
 */
public final class ConsumingBenchmark implements Benchmark {

	private static final Path RAW_FIGURES = Path.of("consuming.csv");

	private static final List<String> COLUMNS = List.of("shards", "contender", "round", "records_per_second",
			"processor_micros_per_record", "load_average");

	@Override
	public String description() {
		return """
				Records per second from Redis Streams, beside a bare Lettuce loop and Spring Data Redis.
				--shards=1,32 --records=500000,800000 (for each number of shards) --rounds=5 --warm-up=1
				--contenders=… (parts of their names)
				The raw figures are left in consuming.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "records", "rounds", "warm-up", "contenders"));
		List<Integer> shards = options.numbers("shards", List.of(1, 32), 1);
		List<Integer> records = options.numbers("records", List.of(500_000, 800_000), 1);
		int warmUp = options.number("warm-up", 1);
		int rounds = options.number("rounds", 5, 1);
		List<Contender> contenders = options.matching("contenders", contenders(), Contender::name);
		try (RawFigures raw = new RawFigures(RAW_FIGURES, COLUMNS)) {
			for (int i = 0; i < shards.size(); i++) {
				try (RedisProcess redis = RedisProcess.start()) {
					System.out.printf("%n%s%n", Machine.describe(redis.version()));
					Map<Contender, Figures> measured = measure(redis, contenders, shards.get(i),
							records.get(Math.min(i, records.size() - 1)), warmUp, rounds, raw);
					new Table(measured).print();
				}
			}
		}
	}

	static List<Contender> contenders() {
		List<Contender> all = new ArrayList<>(List.of(new BareClient(false), new BareClient(true),
				new SpringContainer(false, false), new SpringContainer(true, false), new SpringContainer(true, true)));
		all.addAll(ours(false));
		if (Runtime.version().feature() >= 21) {
			all.addAll(ours(true));
		}
		else {
			System.out.println("Without virtual threads, which Java 17 does not have.");
		}
		return all;
	}

	private static List<Contender> ours(boolean virtualThreads) {
		String threads = virtualThreads ? ", virtual threads" : "";
		return List.of(new Shardkeeper("Shardkeeper, record" + threads, virtualThreads, Handlers.OneRecord::new),
				new Shardkeeper("Shardkeeper, record and state" + threads, virtualThreads,
						Handlers.OneRecordAndState::new),
				new Shardkeeper("Shardkeeper, list" + threads, virtualThreads, Handlers.ManyRecords::new),
				new Shardkeeper("Shardkeeper, list and state" + threads, virtualThreads,
						Handlers.ManyRecordsAndState::new));
	}

	private static Map<Contender, Figures> measure(RedisProcess redis, List<Contender> contenders, int shards,
			int records, int warmUp, int rounds, RawFigures raw) throws Exception {
		Map<Integer, Streams> filled = new LinkedHashMap<>();
		for (Contender contender : contenders) {
			filled.computeIfAbsent(contender.divisor(), (divisor) -> fill(redis, shards, records, divisor));
		}
		System.out.printf(Locale.ROOT,
				"%d shards, %,d records of %d bytes (a tenth for who acknowledges each), "
						+ "%d rounds after %d for warming up%n",
				shards, records, Streams.PAYLOAD_BYTES, rounds, warmUp);
		Map<Contender, Figures> measured = new LinkedHashMap<>();
		contenders.forEach((contender) -> measured.put(contender, new Figures()));
		List<Contender> order = new ArrayList<>(contenders);
		for (int round = 1 - warmUp; round <= rounds; round++) {
			for (Contender contender : order) {
				Tally tally = once(contender, filled.get(contender.divisor()));
				System.out.printf(Locale.ROOT, "  round %2d  %,9.0f/s  %5.2f us CPU  %s%n", round, tally.rate(),
						tally.processorMicrosPerRecord(), contender.name());
				if (round > 0) {
					measured.get(contender).add(tally);
					raw.accept(String.format(Locale.ROOT, "%d,\"%s\",%d,%.0f,%.3f,%.2f", shards, contender.name(),
							round, tally.rate(), tally.processorMicrosPerRecord(), Machine.load()));
				}
			}
			Collections.reverse(order);
		}
		return measured;
	}

	private static Streams fill(RedisProcess redis, int shards, int records, int divisor) {
		Streams streams = new Streams(redis, "records-" + divisor, shards, records / divisor / shards);
		streams.fill();
		return streams;
	}

	/** Has a contender read everything once; returns what was counted. */
	static Tally once(Contender contender, Streams streams) throws Exception {
		Tally tally = streams.tally();
		System.gc();
		contender.consume(streams, tally);
		tally.verify();
		return tally;
	}

}
