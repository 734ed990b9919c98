package io.github.shardkeeper.benchmarks.startup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * The additional time that an application with the starter takes to start, and its
 * resources then. Each start is a JVM of its own, with the class path of that
 * application; every second round has the reverse order.
 */
public final class StartupBenchmark implements Benchmark {

	private static final Path RAW_FIGURES = Path.of("startup.csv");

	private static final double ADDED_LIMIT_MILLIS = 250;

	private static final List<String> NAMES = List.of("started", "ready", "classes", "threads", "connections");

	@Override
	public String description() {
		return """
				What the starter adds to an application's start: time, classes, threads, connections.
				--rounds=10 --warm-up=1
				The raw figures are left in startup.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("rounds", "warm-up"));
		int warmUp = options.number("warm-up", 1);
		int rounds = options.number("rounds", 10, 1);
		List<String> columns = new ArrayList<>(List.of("application", "round"));
		columns.addAll(NAMES);
		columns.add("load_average");
		try (RedisProcess redis = RedisProcess.start(); RawFigures raw = new RawFigures(RAW_FIGURES, columns)) {
			System.out.printf("%n%s%n%n", Machine.describe(redis.version()));
			measure(redis, warmUp, rounds, raw).forEach(System.out::println);
		}
	}

	/** Copies the applications, so that they can do without the other benchmarks. */
	static Path copy(Path directory) throws IOException {
		ClassPath.copy(List.of(PlainApplication.class, RedisApplication.class, ShardApplication.class,
				StartupFigures.class, ChildProcess.class), directory);
		return directory;
	}

	static List<String> measure(RedisProcess redis, int warmUp, int rounds, Consumer<String> raw) throws Exception {
		Path directory = Files.createTempDirectory("shardkeeper-benchmark-startup");
		try {
			return measure(redis, copy(directory), warmUp, rounds, raw);
		}
		finally {
			FileSystemUtils.deleteRecursively(directory);
		}
	}

	private static List<String> measure(RedisProcess redis, Path applications, int warmUp, int rounds,
			Consumer<String> raw) throws Exception {
		Map<Contender, Map<String, Samples>> measured = new EnumMap<>(Contender.class);
		List<Contender> order = new ArrayList<>(Arrays.asList(Contender.values()));
		try (RedisFigures figures = new RedisFigures(redis)) {
			for (int round = 1 - warmUp; round <= rounds; round++) {
				System.out.printf((round > 0) ? "Round %d of %d%n" : "Warming up%n", round, rounds);
				for (Contender contender : order) {
					Map<String, Double> start = once(contender, applications, redis, figures);
					if (round > 0) {
						Map<String, Samples> samples = measured.computeIfAbsent(contender, (unseen) -> new HashMap<>());
						start.forEach(
								(name, value) -> samples.computeIfAbsent(name, (unseen) -> new Samples()).add(value));
						raw.accept("\"" + contender.text() + "\"," + round + ","
								+ String.join(",", NAMES.stream().map((name) -> start.get(name).toString()).toList())
								+ "," + Machine.load());
					}
				}
				Collections.reverse(order);
			}
		}
		return table(measured);
	}

	/** Starts an application, and ends it. */
	static Map<String, Double> once(Contender contender, Path applications, RedisProcess redis, RedisFigures figures)
			throws IOException, InterruptedException {
		double before = figures.of("clients", "connected_clients");
		try (ChildProcess application = ChildProcess.start(contender.classPath(applications), contender.main(),
				"--spring.data.redis.port=" + redis.port(), "--server.port=0", "--spring.application.name=started",
				"--shardkeeper.topics." + ShardApplication.TOPIC + ".shards=" + ShardApplication.SHARDS)) {
			Map<String, Double> start = application.await();
			start.put("connections", figures.of("clients", "connected_clients") - before);
			return start;
		}
	}

	private static List<String> table(Map<Contender, Map<String, Samples>> measured) {
		List<String> lines = new ArrayList<>(List.of(
				"| application | times as long as empty: median (lowest-highest round) | ms until started: median | lowest-highest | ms that Shardkeeper adds: median (lowest-highest round) | ms until it consumes: median | classes | threads | connections |",
				"|---|---:|---:|---:|---:|---:|---:|---:|---:|"));
		GoalTable goals = new GoalTable("ms", "at most");
		Samples empty = measured.get(Contender.EMPTY).get("started");
		measured.forEach((contender, samples) -> {
			Samples started = samples.get("started");
			Samples ratios = started.dividedBy(empty);
			lines.add(
					String.format(Locale.ROOT,
							"| %s | %.2f (%.2f-%.2f) | %,.0f | %,.0f-%,.0f | %s | %s | %,.0f | %.0f | %.0f |",
							contender.text(), ratios.median(), ratios.lowest(), ratios.highest(), started.median(),
							started.lowest(), started.highest(), added(started, contender, measured, goals),
							contender.consumes() ? String.format(Locale.ROOT, "%,.0f", samples.get("ready").median())
									: "",
							samples.get("classes").median(), samples.get("threads").median(),
							samples.get("connections").median()));
		});
		lines.addAll(goals.lines());
		return lines;
	}

	private static String added(Samples started, Contender contender, Map<Contender, Map<String, Samples>> measured,
			GoalTable goals) {
		Contender without = contender.without();
		if (without == contender) {
			return "";
		}
		Samples added = started.minus(measured.get(without).get("started"));
		goals.atMost("%s, beside '%s': added until started".formatted(contender.text(), without.text()), added.median(),
				ADDED_LIMIT_MILLIS);
		return String.format(Locale.ROOT, "%,.0f (%,.0f-%,.0f)", added.median(), added.lowest(), added.highest());
	}

}
