package io.github.shardkeeper.benchmarks.scale;

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
 * A group of a thousand members and a hundred thousand shards, and one of ten members
 * whose topic grows: the time of a change until every member has its new assignment, and
 * its cost for Redis and the leader. The members are in this process; Redis is real, and
 * so are all requests of members.
 */
public final class ScaleBenchmark implements Benchmark {

	private static final Path RAW_FIGURES = Path.of("scale.csv");

	private static final List<String> COLUMNS = List.of("event", "round", "millis", "millis_from_end", "shards_taken",
			"load_average");

	private static final List<String> PARTS = List.of("large", "growing");

	@Override
	public String description() {
		return """
				1,000 members and 100,000 shards on one Redis: joins, leaves, crashes, more shards.
				--parts=large,growing --members=1000 --shards=100000 --rounds=5 --connections=8
				--growing-members=10 --growing-shards=100 --more-shards=900
				The raw figures are left in scale.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("parts", "members", "shards", "rounds", "connections", "growing-members",
				"growing-shards", "more-shards"));
		// Invalid options are refused before anything is measured.
		List<Part> parts = options.choices("parts", PARTS, PARTS).stream().map((name) -> part(name, options)).toList();
		try (RawFigures raw = new RawFigures(RAW_FIGURES, COLUMNS)) {
			for (Part part : parts) {
				try (RedisProcess redis = RedisProcess.start()) {
					System.out.printf("%n%s%n", Machine.describe(redis.version()));
					part.measure(redis, raw).forEach(System.out::println);
				}
			}
		}
	}

	static Part part(String name, Options options) {
		int connections = options.number("connections", 8, 1);
		int rounds = options.number("rounds", 5, 1);
		return switch (name) {
			case "large" -> {
				// One that leads, and one that goes.
				int members = options.number("members", 1000, 2);
				int shards = options.number("shards", 100_000, 1);
				yield (redis, raw) -> new LargeGroup(redis, members, shards, rounds, connections).measure(raw);
			}
			case "growing" -> {
				int members = options.number("growing-members", 10, 1);
				int shards = options.number("growing-shards", 100, 1);
				int more = options.number("more-shards", 900, 1);
				yield (redis, raw) -> new GrowingTopic(redis, members, shards, more, rounds, connections).measure(raw);
			}
			default -> throw new IllegalArgumentException("There is no part '" + name + "'");
		};
	}

	/** A part of the benchmark. */
	@FunctionalInterface
	interface Part {

		/** Measures it; returns Markdown tables. */
		List<String> measure(RedisProcess redis, Consumer<String> raw) throws Exception;

	}

}
