package io.github.shardkeeper.benchmarks.locks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.locks.LockProcess.Turns;

/**
 * Locks beside those of Redisson, Spring Integration and ShedLock: alone, with others
 * that wait, and with nothing to do but wait. Each contender has two processes for the
 * whole run, and all use one Redis; contenders take turns, in every second round in the
 * reverse order.
 */
public final class LocksBenchmark implements Benchmark {

	private static final Path RAW_FIGURES = Path.of("locks.csv");

	static final String UNCONTENDED = "uncontended";

	static final String CONTENDED = "contended";

	static final String IDLE = "idle";

	private static final List<String> PARTS = List.of(UNCONTENDED, CONTENDED, IDLE);

	/** So that each thread asks again while the next one still holds the lock. */
	private static final Turns UNHURRIED = new Turns(TimeUnit.MILLISECONDS.toNanos(2),
			TimeUnit.MILLISECONDS.toNanos(1));

	private static final Turns AT_ONCE = new Turns(0, 0);

	static final List<String> COLUMNS = List.of("part", "contender", "waiters", "round", "micros", "p99_micros",
			"per_second", "again_part", "longest_wait_millis", "processor_micros", "redis_micros", "load_average");

	@Override
	public String description() {
		return """
				Cluster locks beside Redisson, Spring Integration's RedisLockRegistry and ShedLock.
				--parts=uncontended,contended,idle --contenders=… (parts of their names)
				--rounds=5 --warm-up=2 --pairs=5000 (of lock and unlock, in a round)
				--waiters=2,8,64 --millis=2000 (a round with waiters)
				--idle-waiters=64 --monitor-seconds=60
				The raw figures are left in locks.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("parts", "contenders", "rounds", "warm-up", "pairs", "waiters", "millis",
				"idle-waiters", "monitor-seconds"));
		List<Contender> contenders = options.matching("contenders", List.of(Contender.values()), Contender::text);
		Sizes sizes = new Sizes(options.choices("parts", PARTS, PARTS), options.number("rounds", 5, 1),
				options.number("warm-up", 2), options.number("pairs", 5000, 1),
				options.numbers("waiters", List.of(2, 8, 64), 1), options.number("millis", 2000, 1),
				options.number("idle-waiters", 64, 1), options.number("monitor-seconds", 60, 1));
		try (RawFigures raw = new RawFigures(RAW_FIGURES, COLUMNS)) {
			measure(contenders, sizes, raw).forEach(System.out::println);
		}
	}

	static List<String> measure(List<Contender> contenders, Sizes sizes, Consumer<String> raw) throws Exception {
		List<Contender> waiting = contenders.stream().filter(Contender::waits).toList();
		List<String> lines = new ArrayList<>();
		GoalTable goals = new GoalTable("seen", "at most");
		try (RedisProcess redis = RedisProcess.start(); RedisFigures figures = new RedisFigures(redis)) {
			lines.addAll(List.of("", Machine.describe(redis.version())));
			try (Processes processes = Processes.start(contenders, redis)) {
				if (sizes.parts().contains(UNCONTENDED)) {
					System.out.println("Nobody else wants the lock");
					Uncontended uncontended = Uncontended.measure(contenders, processes, figures, sizes.pairs(),
							sizes.warmUp(), sizes.rounds(), raw);
					lines.addAll(uncontended.lines());
					uncontended.addGoals(goals);
				}
				if (sizes.parts().contains(CONTENDED)) {
					Contended unhurried = contended("hand-over", UNHURRIED, waiting, processes, sizes, raw);
					lines.addAll(unhurried.lines());
					unhurried.addGoals(goals);
					lines.addAll(contended("at-once", AT_ONCE, waiting, processes, sizes, raw).ratesAndWaits());
				}
			}
		}
		if (sizes.parts().contains(IDLE)) {
			System.out.printf("%d threads wait for a lock that is held%n", sizes.idleWaiters());
			IdleWaiters idle = new IdleWaiters(sizes.idleWaiters());
			idle.measure(waiting, sizes.monitorSeconds(), raw);
			lines.addAll(idle.lines());
			idle.addGoals(goals);
		}
		if (contenders.contains(Contender.SHARDKEEPER) && contenders.size() > 1) {
			lines.addAll(goals.lines());
		}
		return lines;
	}

	private static Contended contended(String part, Turns turns, List<Contender> contenders, Processes processes,
			Sizes sizes, Consumer<String> raw) throws Exception {
		Contended contended = new Contended(part, turns);
		for (int waiters : sizes.waiters()) {
			System.out.printf("%d threads wait for one lock: %s%n", waiters, part);
			contended.measure(contenders, processes, waiters, sizes.millis(), 1, sizes.rounds(), raw);
		}
		return contended;
	}

	/**
	 * How much is measured.
	 *
	 * @param parts the names of the parts
	 * @param rounds the rounds that count
	 * @param warmUp the rounds before them, of those without waiters
	 * @param pairs the number of locks and unlocks in a round
	 * @param waiters the numbers of threads that wait
	 * @param millis the duration of a round with waiters
	 * @param idleWaiters the number of threads that wait for a lock that is not unlocked
	 * @param monitorSeconds the time for which their commands are counted
	 */
	record Sizes(List<String> parts, int rounds, int warmUp, int pairs, List<Integer> waiters, int millis,
			int idleWaiters, int monitorSeconds) {

	}

}
