package io.github.shardkeeper.benchmarks.footprint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.Libraries;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.benchmarks.Table;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * The additional time that an application with the starter takes to start, and its
 * resources then. Each start is a JVM of its own, with the class path of that
 * application.
 */
public final class StartupBenchmark implements Benchmark {

	private static final String STARTED = "ms until started";

	@Override
	public String description() {
		return """
				What the starter adds to an application's start: time, classes, threads, connections.
				--rounds=10 --warm-up=1
				The raw figures are left in startup.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("rounds", "warm-up"));
		int warmUp = options.number("warm-up", 1);
		int rounds = options.number("rounds", 10, 1);
		Path directory = Files.createTempDirectory("shardkeeper-benchmark-startup");
		try (RawFigures raw = new RawFigures(Path.of("startup.csv")); EmbeddedRedis redis = EmbeddedRedis.start()) {
			copy(directory);
			Machine.print();
			Rounds<Application> measured = Rounds.run("an application starts", List.of(Application.values()), warmUp,
					rounds, raw, (application, round) -> measure(application, directory, redis));
			measured.table().forEach(System.out::println);
			Table added = new Table("Shardkeeper adds", STARTED);
			for (Application application : Application.values()) {
				if (application.main == ShardApplication.class) {
					added.row(application.text,
							measured.of(application, STARTED).minus(measured.of(application.without(), STARTED)));
				}
			}
			added.lines().forEach(System.out::println);
		}
		finally {
			FileSystemUtils.deleteRecursively(directory);
		}
	}

	/** Copies the applications, so that they can do without the other benchmarks. */
	static void copy(Path directory) throws IOException {
		ClassPath.copy(List.of(RedisApplication.class, ShardApplication.class, FootprintProcess.class,
				ChildProcess.class, Machine.class), directory);
	}

	/** Starts an application, and ends it. */
	static Map<String, Double> measure(Application application, Path directory, EmbeddedRedis server)
			throws IOException, InterruptedException {
		Map<String, Double> figures = new LinkedHashMap<>();
		try (RedisFigures redis = new RedisFigures(server);
				ChildProcess process = ChildProcess.start(application.classPath(directory), application.main,
						"--spring.data.redis.port=" + server.port(), "--server.port=0",
						"--spring.application.name=started", "--" + ShardApplication.SHARDS + "=4")) {
			Map<String, Double> start = process.await();
			figures.put(STARTED, start.get("started"));
			figures.put("ms until it does its work", start.get("ready"));
			figures.put("classes", start.get("classes"));
			figures.put("threads", start.get("threads"));
			figures.put("connections", redis.connections());
		}
		return figures;
	}

	/** The applications, each with only the libraries of its starters. */
	enum Application implements Contender {

		REDIS("spring-boot-starter-data-redis, one PING", Libraries.REDIS, RedisApplication.class),

		SHARDKEEPER("+ Shardkeeper, a handler with 4 shards", Libraries.SHARDKEEPER, ShardApplication.class),

		WEB("web, actuator, spring-boot-starter-data-redis, one PING", Libraries.WEB, RedisApplication.class),

		SHARDKEEPER_WEB("web, actuator, + Shardkeeper, a handler with 4 shards", Libraries.SHARDKEEPER_WEB,
				ShardApplication.class);

		private final String text;

		private final Libraries libraries;

		private final Class<?> main;

		Application(String text, Libraries libraries, Class<?> main) {
			this.text = text;
			this.libraries = libraries;
			this.main = main;
		}

		@Override
		public String text() {
			return this.text;
		}

		/** Returns the application to which Shardkeeper is added. */
		Application without() {
			return (this == SHARDKEEPER_WEB) ? WEB : REDIS;
		}

		/** Returns the libraries that it needs, and no others. */
		List<String> classPath(Path directory) {
			List<String> entries = new ArrayList<>(ClassPath.allEntries());
			entries.removeIf((entry) -> !this.libraries.contain(Path.of(entry)));
			entries.add(0, directory.toString());
			return entries;
		}

	}

}
