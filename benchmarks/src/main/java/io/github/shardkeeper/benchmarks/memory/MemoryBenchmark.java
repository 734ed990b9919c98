package io.github.shardkeeper.benchmarks.memory;

import java.util.List;
import java.util.Set;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * What shards cost one instance: those with a large state, busy ones that commit, and
 * those whose handler cannot keep up. Each part has a Redis of its own.
 */
public final class MemoryBenchmark implements Benchmark {

	@Override
	public String description() {
		return """
				What shards cost: large states, many commits, handlers that do not keep up.
				--parts=state,commits,slow
				--state-entries=100000 --busy-shards=1000 --busy-seconds=20
				--slow-shards=100 --slow-records=60 (for each shard, of 50,000 bytes)""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(
				Set.of("parts", "state-entries", "busy-shards", "busy-seconds", "slow-shards", "slow-records"));
		for (String part : options.list("parts", List.of("state", "commits", "slow"))) {
			try (RedisProcess redis = RedisProcess.start()) {
				System.out.printf("%n%s%n%n", Machine.describe(redis.version()));
				measure(part, redis, options).forEach(System.out::println);
			}
		}
	}

	/** Measures one part; returns a Markdown table. */
	static List<String> measure(String part, RedisProcess redis, Options options) throws Exception {
		return switch (part) {
			case "state" -> new LargeState(redis, options.number("state-entries", 100_000)).measure();
			case "commits" ->
				new ManyCommits(redis, options.number("busy-shards", 1000), options.number("busy-seconds", 20))
					.measure();
			case "slow" ->
				new SlowHandler(redis, options.number("slow-shards", 100), options.number("slow-records", 60))
					.measure();
			default -> throw new IllegalArgumentException("There is no part '" + part + "'");
		};
	}

}
