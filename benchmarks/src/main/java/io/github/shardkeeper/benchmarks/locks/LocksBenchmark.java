package io.github.shardkeeper.benchmarks.locks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Locks beside those of Redisson, Spring Integration and ShedLock: alone, and with others
 * that wait. Each library has two processes for the whole run, and all use one Redis.
 */
public final class LocksBenchmark implements Benchmark {

	static final String PAIR = "us per lock and unlock";

	static final String HAND_OVER = "us from unlock() to lock() in another thread: median";

	/** Time until all threads have asked once. */
	private static final long BEGIN_NANOS = 200_000_000;

	@Override
	public String description() {
		return """
				Cluster locks beside Redisson, Spring Integration's RedisLockRegistry and ShedLock.
				--contenders=… (parts of their names) --rounds=5 --warm-up=2 --pairs=5000 (of lock and unlock)
				--waiters=2,8,64 --millis=1000 (a round with waiters)
				The raw figures are left in locks.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("contenders", "rounds", "warm-up", "pairs", "waiters", "millis"));
		List<LockLibrary> libraries = options.matching("contenders", List.of(LockLibrary.values()));
		List<LockLibrary> waiting = libraries.stream().filter(LockLibrary::waits).toList();
		int warmUp = options.number("warm-up", 2);
		int rounds = options.number("rounds", 5, 1);
		int pairs = options.number("pairs", 5000, 1);
		List<Integer> waiters = options.numbers("waiters", List.of(2, 8, 64), 1);
		int millis = options.number("millis", 1000, 1);
		Map<LockLibrary, List<ChildProcess>> processes = new EnumMap<>(LockLibrary.class);
		try (RawFigures raw = new RawFigures(Path.of("locks.csv"));
				EmbeddedRedis server = EmbeddedRedis.start();
				RedisFigures redis = new RedisFigures(server)) {
			Machine.print();
			for (LockLibrary library : libraries) {
				processes.put(library, start(library, server.port()));
			}
			print(Rounds.run("nobody else wants the lock", libraries, warmUp, rounds, raw,
					(library, round) -> uncontended(processes.get(library).get(0), redis, pairs)), PAIR);
			for (int number : waiters) {
				print(Rounds.run(number + " waiters", waiting, 1, rounds, raw,
						(library, round) -> contended(processes.get(library), number, millis)), HAND_OVER);
			}
		}
		finally {
			processes.values().forEach((both) -> both.forEach(ChildProcess::close));
		}
	}

	private static void print(Rounds<LockLibrary> measured, String figure) {
		measured.table().forEach(System.out::println);
		measured.ratios(figure, List.of(LockLibrary.SHARDKEEPER)).forEach(System.out::println);
	}

	/** Starts two processes, one if the library's threads cannot wait. */
	static List<ChildProcess> start(LockLibrary library, int redis) throws IOException, InterruptedException {
		List<ChildProcess> processes = new ArrayList<>();
		for (int i = 0; i < (library.waits() ? 2 : 1); i++) {
			processes.add(ChildProcess.start(ClassPath.entries(), LockProcess.class, redis, library.name()));
			processes.get(i).await();
		}
		return processes;
	}

	/** One thread locks and unlocks. */
	static Map<String, Double> uncontended(ChildProcess process, RedisFigures redis, int pairs) throws Exception {
		double redisMillis = redis.processorMillis();
		Map<String, Double> own = process.ask(LockProcess.uncontendedRequest(pairs));
		Map<String, Double> figures = new LinkedHashMap<>();
		figures.put(PAIR, own.get("micros"));
		figures.put("its processor, us", own.get("processor"));
		figures.put("Redis' processor, us", 1000 * (redis.processorMillis() - redisMillis) / pairs);
		return figures;
	}

	/** Threads of two processes want one lock, one more of them than wait for it. */
	static Map<String, Double> contended(List<ChildProcess> both, int waiters, int millis) throws Exception {
		Path file = Trace.create();
		try (Trace trace = Trace.open(file)) {
			String lock = file.getFileName().toString();
			long begin = System.nanoTime() + BEGIN_NANOS;
			long end = begin + millis * 1_000_000L;
			int inFirst = (waiters + 2) / 2;
			both.get(0).request(LockProcess.contendedRequest(lock, 0, inFirst, end, file));
			both.get(1).request(LockProcess.contendedRequest(lock, inFirst, waiters + 1 - inFirst, end, file));
			double acquired = both.get(0).await().get("acquired") + both.get(1).await().get("acquired");
			Contention contention = Contention.of(trace.read(), (long) acquired, begin, end);
			Map<String, Double> figures = new LinkedHashMap<>();
			figures.put(HAND_OVER, contention.handOverMicros().median());
			figures.put("99 %", contention.handOverMicros().quantile(0.99));
			figures.put("longest wait, ms", contention.longestWaitMillis());
			figures.put("acquisitions per second", contention.perSecond());
			return figures;
		}
		finally {
			Files.delete(file);
		}
	}

}
