package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Monitor;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * What the profiles of sessions cost and bring: crashes, pauses of a process and of
 * Redis, and commands of an idle instance.
 */
public final class LeasesBenchmark implements Benchmark {

	/** As many run at once, and each is to have some. */
	private static final int MOST_INSTANCES = 3;

	private static final int LAPS = 2;

	private static final long QUIET_MILLIS = 3000;

	/** Until threads that only a start needs have ended. */
	private static final int REST_SECONDS = 3;

	private static final int IDLE_SECONDS = 20;

	@Override
	public String description() {
		return """
				Profiles of sessions: kill -9, processes and Redis stopped for 1 s, and commands while idle.
				--contenders=… (parts of the profiles' names) --kills=6 --stalls=8 (of a process, and of Redis)
				--work-millis=2 (duration of each call) --shards=32
				The raw figures are left in leases.csv, with -part before the dot if not all was asked for.
				""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("contenders", "kills", "stalls", "work-millis", "shards"));
		int shards = options.number("shards", 32, MOST_INSTANCES);
		LeasesScenario scenario = new LeasesScenario(QUIET_MILLIS, options.number("kills", 6, 1),
				options.number("stalls", 8, 1));
		List<Contender> contenders = options.matching("contenders",
				Contender.profiles(options.number("work-millis", 2)), Contender::name);
		Path raw = HandoverBenchmark.rawFigures("leases", options);
		Map<String, Double> idle = new LinkedHashMap<>();
		for (Contender contender : contenders) {
			idle.put(contender.name(), idleCommands(contender, shards));
		}
		List<ContenderResults> all = new Rotation(shards, LAPS).run(contenders,
				(turn, group, results) -> scenario.part(turn, LAPS).run(group, results),
				(seen) -> Files.write(raw, new LeasesTable(seen, idle).raw()));
		new LeasesTable(all, idle).lines().forEach(System.out::println);
		all.forEach(ContenderResults::verify);
	}

	/** Counts the commands of an instance that leads a group and has no records. */
	private static double idleCommands(Contender profile, int shards) throws IOException, InterruptedException {
		Waiting handler = new Waiting(new CountDownLatch(shards));
		try (RedisProcess redis = RedisProcess.start();
				ConfigurableApplicationContext instance = Applications.start(redis, handler, Map.of("shardkeeper.group",
						"idle", ShardkeeperInstance.SHARDS, shards, Contender.PROFILE, profile.name()))) {
			handler.missing.await();
			TimeUnit.SECONDS.sleep(REST_SECONDS);
			return Monitor.watch(redis.port(), IDLE_SECONDS).values().stream().mapToInt(Integer::intValue).sum()
					/ (double) IDLE_SECONDS;
		}
	}

	/** Waits for records that never come. */
	record Waiting(CountDownLatch missing) {

		@OnShardAssigned
		public void assigned(ShardContext shard) {
			this.missing.countDown();
		}

		@ShardConsumer(ShardkeeperInstance.TOPIC)
		public void handle(byte[] payload) {
			throw new IllegalStateException("There are no records");
		}

	}

}
