package io.github.shardkeeper.benchmarks.idle;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * What one instance costs that has nothing to do but to wait for records: commands and
 * bytes to and from Redis, processor time, heap, threads, connections. Each is a process
 * of its own, with a Redis of its own.
 */
public final class IdleBenchmark implements Benchmark {

	private static final Path RAW_FIGURES = Path.of("idle.csv");

	@Override
	public String description() {
		return """
				What one instance costs that waits for records, beside Spring Data Redis.
				--shards=10,1000,10000 --contenders=… (parts of their names)
				--rest-seconds=32 --windows=5 --window-seconds=4 --monitor-seconds=16
				The raw figures are left in idle.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(
				Set.of("shards", "contenders", "rest-seconds", "windows", "window-seconds", "monitor-seconds"));
		List<String> raw = new ArrayList<>(List
			.of("contender,shards,window,bytes_per_second,processor_millis_per_second,redis_processor_millis_per_second"));
		Cost.Times times = new Cost.Times(options.number("rest-seconds", 32), options.number("windows", 5, 1),
				options.number("window-seconds", 4, 1), options.number("monitor-seconds", 16, 1));
		List<Integer> shards = options.numbers("shards", List.of(10, 1000, 10_000), 1);
		List<Contender> contenders = options.matching("contenders", List.of(Contender.values()), Contender::text);
		measure(contenders, shards, times, raw).forEach(System.out::println);
		Files.write(RAW_FIGURES, raw);
	}

	static List<String> measure(List<Contender> contenders, List<Integer> shards, Cost.Times times, List<String> raw)
			throws Exception {
		List<String> lines = new ArrayList<>();
		boolean described = false;
		for (Contender contender : contenders) {
			for (int count : shards) {
				if (count <= contender.most()) {
					try (RedisProcess redis = RedisProcess.start()) {
						if (!described) {
							described = true;
							lines.addAll(List.of("", Machine.describe(redis.version()), "",
									"| waiting for records | shards or streams | commands per second | bytes per second: mean | lowest-highest | its processor, ms per second | Redis' processor, ms per second | heap, bytes | threads | connections |",
									"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"));
						}
						Cost cost = Cost.measure(contender, count, times, redis);
						lines.add(line(contender, count, cost));
						addRaw(contender, count, cost, raw);
						System.out.printf(Locale.ROOT, "  %s, %,d: per second %s%n", contender.text(), count,
								cost.commands());
					}
				}
			}
		}
		return lines;
	}

	private static String line(Contender contender, int count, Cost cost) {
		return String.format(Locale.ROOT,
				"| %s | %,d | %,.1f | %,.0f | %,.0f-%,.0f | %,.1f | %,.1f | %,.0f | %.0f | %.0f |", contender.text(),
				count, cost.commandsPerSecond(), cost.bytesPerSecond().mean(), cost.bytesPerSecond().lowest(),
				cost.bytesPerSecond().highest(), cost.processorMillis().median(), cost.redisMillis().median(),
				cost.heap(), cost.threads(), cost.connections());
	}

	private static void addRaw(Contender contender, int count, Cost cost, List<String> raw) {
		for (int i = 0; i < cost.bytesPerSecond().values().size(); i++) {
			raw.add(String.format(Locale.ROOT, "\"%s\",%d,%d,%.0f,%.2f,%.2f", contender.text(), count, i + 1,
					cost.bytesPerSecond().values().get(i), cost.processorMillis().values().get(i),
					cost.redisMillis().values().get(i)));
		}
	}

}
