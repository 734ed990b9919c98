package io.github.shardkeeper.benchmarks.footprint;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Cost of one instance that waits for records: commands and bytes to and from Redis,
 * processor time, heap, threads, connections. Each is a process of its own, with a Redis
 * of its own.
 */
public final class IdleBenchmark implements Benchmark {

	static final String COMMANDS = "commands per second";

	@Override
	public String description() {
		return """
				What one instance costs that waits for records, beside Spring Data Redis.
				--shards=10,10000 --contenders=… (parts of their names)
				--rest-seconds=32 (before it is measured) --seconds=20 --rounds=1
				The raw figures are left in idle.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "contenders", "rest-seconds", "seconds", "rounds"));
		int rest = options.number("rest-seconds", 32);
		int seconds = options.number("seconds", 20, 1);
		int rounds = options.number("rounds", 1, 1);
		List<Waiting> contenders = options.matching("contenders",
				Waiting.all(options.numbers("shards", List.of(10, 10_000), 1)));
		try (RawFigures raw = new RawFigures(Path.of("idle.csv"))) {
			Machine.print();
			Rounds<Waiting> measured = Rounds.run("waiting for records", contenders, 0, rounds, raw,
					(contender, round) -> measure(contender, rest, seconds));
			measured.table().forEach(System.out::println);
			measured.ratios(COMMANDS, contenders.subList(0, 1)).forEach(System.out::println);
		}
	}

	/**
	 * Measures one.
	 * @param rest seconds before, so that threads that have become idle end
	 * @param seconds the duration; a multiple of the two seconds that a blocking read of
	 * the container waits, or a part of one is measured
	 */
	static Map<String, Double> measure(Waiting contender, int rest, int seconds) throws Exception {
		Map<String, Double> figures = new LinkedHashMap<>();
		try (EmbeddedRedis server = EmbeddedRedis.start();
				RedisFigures redis = new RedisFigures(server);
				ChildProcess process = contender.start(server.port())) {
			process.await();
			TimeUnit.SECONDS.sleep(rest);
			double connections = redis.connections();
			// The same requests follow at the end, so that their cost cancels out.
			double first = bytes(redis);
			double redisMillis = redis.processorMillis();
			double begun = bytes(redis);
			double processorNanos = process.processorTime().toNanos();
			TimeUnit.SECONDS.sleep(seconds);
			processorNanos = process.processorTime().toNanos() - processorNanos;
			redisMillis = redis.processorMillis() - redisMillis;
			double bytes = bytes(redis) - begun - (begun - first);
			figures.put(COMMANDS, redis.commandsPerSecond(seconds));
			figures.put("bytes per second", bytes / seconds);
			figures.put("processor ms per second", processorNanos / 1e6 / seconds);
			figures.put("processor ms of Redis per second", redisMillis / seconds);
			Map<String, Double> own = process.ask("");
			figures.put("heap, MB", own.get("heap") / 1e6);
			figures.put("threads", own.get("threads"));
			figures.put("connections", connections);
		}
		return figures;
	}

	private static double bytes(RedisFigures redis) {
		return redis.of("stats", "total_net_input_bytes") + redis.of("stats", "total_net_output_bytes");
	}

	/**
	 * A process that waits for records.
	 *
	 * @param main its main class
	 * @param pooled whether its connections are from a pool
	 */
	record Waiting(String text, Class<?> main, int shards, boolean pooled) implements Contender {

		/** More streams would be more threads and connections than one machine has. */
		private static final int MOST_OF_CONTAINER = 1000;

		static List<Waiting> all(List<Integer> shards) {
			return Stream
				.of(new Waiting("Shardkeeper", ShardApplication.class, 0, false),
						new Waiting("Spring container", ContainerProcess.class, 0, false),
						new Waiting("Spring container, pooled connections", ContainerProcess.class, 0, true))
				.flatMap((contender) -> shards.stream()
					.filter((number) -> contender.main == ShardApplication.class || number <= MOST_OF_CONTAINER)
					.map((number) -> new Waiting("%s, %,d".formatted(contender.text, number), contender.main, number,
							contender.pooled)))
				.toList();
		}

		ChildProcess start(int redis) throws Exception {
			return (this.main == ContainerProcess.class)
					? ChildProcess.start(ClassPath.entries(), this.main, redis, this.shards, this.pooled)
					: ChildProcess.start(ClassPath.entries(), this.main, "--spring.data.redis.port=" + redis,
							"--spring.application.name=idle", "--" + ShardApplication.SHARDS + "=" + this.shards);
		}

	}

}
