package io.github.shardkeeper.benchmarks.memory;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * Costs of shards for one instance: shards with a large state, busy ones that commit, and
 * ones whose handler is too slow. Each part has a Redis of its own.
 */
public final class MemoryBenchmark implements Benchmark {

	private static final Path RAW_FIGURES = Path.of("memory.csv");

	private static final List<String> PARTS = List.of("state", "commits", "slow");

	@Override
	public String description() {
		return """
				What shards cost: large states, many commits, handlers that do not keep up.
				--parts=state,commits,slow
				--state-entries=100000 --busy-shards=1000 --busy-seconds=20
				--slow-shards=100 --slow-records=60 (for each shard, of 50,000 bytes)
				The raw figures are left in memory.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(
				Set.of("parts", "state-entries", "busy-shards", "busy-seconds", "slow-shards", "slow-records"));
		// Invalid options are refused before anything is measured.
		List<Part> parts = options.choices("parts", PARTS, PARTS).stream().map((name) -> part(name, options)).toList();
		try (RawFigures raw = new RawFigures(RAW_FIGURES, List.of("figure", "number", "value"))) {
			for (Part part : parts) {
				try (RedisProcess redis = RedisProcess.start()) {
					System.out.printf("%n%s%n%n", Machine.describe(redis.version()));
					part.measure(redis, raw).forEach(System.out::println);
				}
			}
		}
	}

	static Part part(String name, Options options) {
		return switch (name) {
			case "state" -> {
				int entries = options.number("state-entries", 100_000, 1);
				yield (redis, raw) -> new LargeState(redis, entries).measure(raw);
			}
			case "commits" -> {
				int shards = options.number("busy-shards", 1000, 1);
				int seconds = options.number("busy-seconds", 20, 1);
				yield (redis, raw) -> new ManyCommits(redis, shards, seconds).measure(raw);
			}
			case "slow" -> {
				int shards = options.number("slow-shards", 100, 1);
				int records = options.number("slow-records", 60, 1);
				yield (redis, raw) -> new SlowHandler(redis, shards, records).measure(raw);
			}
			default -> throw new IllegalArgumentException("There is no part '" + name + "'");
		};
	}

	/** A part of the benchmark. */
	@FunctionalInterface
	interface Part {

		/** Measures it; returns a Markdown table. */
		List<String> measure(RedisProcess redis, Consumer<String> raw) throws Exception;

	}

}
