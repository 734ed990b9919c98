package io.github.shardkeeper.benchmarks.idle;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * Cost of one instance that waits for records: commands and bytes to and from Redis,
 * processor time, heap, threads, connections. Each is a process of its own, with a Redis
 * of its own.
 */
public final class IdleBenchmark implements Benchmark {

	private static final Path RAW_FIGURES = Path.of("idle.csv");

	/** Tolerance: a command more or less in the counted time. */
	private static final double FLAT = 1.1;

	/** Two heartbeats per second, and half a command for all else. */
	private static final double MOST_COMMANDS = 2.5;

	private static final List<String> COLUMNS = List.of("contender", "shards", "window", "bytes_per_second",
			"processor_millis_per_second", "redis_processor_millis_per_second");

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
		Cost.Times times = new Cost.Times(options.number("rest-seconds", 32), options.number("windows", 5, 1),
				options.number("window-seconds", 4, 1), options.number("monitor-seconds", 16, 1));
		List<Integer> shards = options.numbers("shards", List.of(10, 1000, 10_000), 1);
		List<Contender> contenders = options.matching("contenders", List.of(Contender.values()), Contender::text);
		try (RawFigures raw = new RawFigures(RAW_FIGURES, COLUMNS)) {
			measure(contenders, shards, times, raw).forEach(System.out::println);
		}
	}

	static List<String> measure(List<Contender> contenders, List<Integer> shards, Cost.Times times,
			Consumer<String> raw) throws Exception {
		List<String> lines = new ArrayList<>();
		boolean described = false;
		SortedMap<Integer, Rates> shardkeeper = new TreeMap<>();
		for (Contender contender : contenders) {
			for (int count : shards) {
				if (count <= contender.most()) {
					try (RedisProcess redis = RedisProcess.start()) {
						if (!described) {
							described = true;
							lines.addAll(List.of("", Machine.describe(redis.version()), "",
									"| waiting for records | shards or streams | commands per second, times Shardkeeper's | commands per second | bytes per second: mean | lowest-highest | its processor, ms per second | Redis' processor, ms per second | heap, bytes | threads | connections |",
									"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"));
						}
						Cost cost = Cost.measure(contender, count, times, redis);
						if (contender == Contender.SHARDKEEPER) {
							shardkeeper.put(count, new Rates(cost.commandsPerSecond(), cost.bytesPerSecond().mean()));
						}
						lines.add(line(contender, count, cost, shardkeeper.get(count)));
						addRaw(contender, count, cost, raw);
						System.out.printf(Locale.ROOT, "  %s, %,d: per second %s%n", contender.text(), count,
								cost.commands());
					}
				}
			}
		}
		if (shardkeeper.size() > 1) {
			lines.addAll(goals(shardkeeper));
		}
		return lines;
	}

	/** Neither commands nor bytes are to grow with the shards. */
	static List<String> goals(SortedMap<Integer, Rates> byShards) {
		Rates few = byShards.get(byShards.firstKey());
		Rates many = byShards.get(byShards.lastKey());
		GoalTable goals = new GoalTable("times as much as with %,d".formatted(byShards.firstKey()), "at most");
		goals.atMost("commands per second with %,d shards".formatted(byShards.lastKey()),
				many.commandsPerSecond() / few.commandsPerSecond(), FLAT);
		goals.atMost("bytes per second with %,d shards".formatted(byShards.lastKey()),
				many.bytesPerSecond() / few.bytesPerSecond(), FLAT);
		GoalTable commands = new GoalTable("per second", "at most");
		commands.atMost("commands with %,d shards".formatted(byShards.lastKey()), many.commandsPerSecond(),
				MOST_COMMANDS);
		List<String> lines = new ArrayList<>(goals.lines());
		lines.addAll(commands.lines());
		return lines;
	}

	private static String line(Contender contender, int count, Cost cost, @Nullable Rates shardkeeper) {
		return String.format(Locale.ROOT,
				"| %s | %,d | %s | %,.1f | %,.0f | %,.0f-%,.0f | %,.1f | %,.1f | %,.0f | %.0f | %.0f |",
				contender.text(), count,
				(shardkeeper != null)
						? String.format(Locale.ROOT, "%.1f", cost.commandsPerSecond() / shardkeeper.commandsPerSecond())
						: "–",
				cost.commandsPerSecond(), cost.bytesPerSecond().mean(), cost.bytesPerSecond().lowest(),
				cost.bytesPerSecond().highest(), cost.processorMillis().median(), cost.redisMillis().median(),
				cost.heap(), cost.threads(), cost.connections());
	}

	private static void addRaw(Contender contender, int count, Cost cost, Consumer<String> raw) {
		for (int i = 0; i < cost.bytesPerSecond().values().size(); i++) {
			raw.accept(String.format(Locale.ROOT, "\"%s\",%d,%d,%.0f,%.2f,%.2f", contender.text(), count, i + 1,
					cost.bytesPerSecond().values().get(i), cost.processorMillis().values().get(i),
					cost.redisMillis().values().get(i)));
		}
	}

	/**
	 * Figures of a number of shards.
	 *
	 * @param commandsPerSecond the commands sent to Redis
	 * @param bytesPerSecond the bytes to Redis and back
	 */
	record Rates(double commandsPerSecond, double bytesPerSecond) {

	}

}
