package io.github.shardkeeper.benchmarks.timers;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Timers that are set by records of Redis Streams: how many per second are set, and fire
 * when they are due at the same time; and how late they fire at a steady rate. All
 * contenders read the same records.
 */
public final class TimersBenchmark implements Benchmark {

	/** Figure: timers set per second, which are due much later. */
	static final String SET = "set/s";

	/** Figure: timers fired per second, which were due at the same time. */
	static final String FIRED = "fired/s";

	/** Figure: how late half of them fired, at a steady rate. */
	static final String LATENESS = "lateness, ms (median)";

	/** Figure: how late 99 % of them fired, at a steady rate. */
	static final String LATENESS_P99 = "lateness, ms (99 %)";

	private static final int APPENDED_AT_ONCE = 1000;

	/** Due long after the measurement. */
	private static final Duration LATER = Duration.ofHours(1);

	/** Time from a record of the steady rate until its timer is due. */
	private static final Duration AHEAD = Duration.ofSeconds(2);

	/**
	 * As many times longer than the first timers took to be set, the next ones wait until
	 * they are due.
	 */
	private static final int MARGIN = 3;

	@Override
	public String description() {
		return """
				Timers set and fired per second, and how late they fire, beside a sorted set by hand and Redisson.
				--shards=1,8 --timers=20000 --rate=1000 (per second, for the lateness) --seconds=5
				--rounds=3 --warm-up=1 --contenders=… (parts of their names)
				The raw figures are left in timers.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "timers", "rate", "seconds", "rounds", "warm-up", "contenders"));
		List<Integer> shards = options.numbers("shards", List.of(1, 8), 1);
		int timers = options.number("timers", 20_000, 1);
		int rate = options.number("rate", 1000, 1);
		int seconds = options.number("seconds", 5, 1);
		int rounds = options.number("rounds", 3, 1);
		int warmUp = options.number("warm-up", 1);
		List<Scheduler> contenders = options.matching("contenders", List.of(Scheduler.values()));
		try (RawFigures raw = new RawFigures(Path.of("timers.csv"))) {
			Machine.print();
			for (int number : shards) {
				Sizes sizes = new Sizes(number, timers, rate, seconds);
				Rounds<Scheduler> measured = Rounds.run("%d shards, %,d timers".formatted(number, timers), contenders,
						warmUp, rounds, raw, (contender, round) -> measure(contender, sizes));
				measured.table().forEach(System.out::println);
				for (String figure : List.of(SET, FIRED)) {
					measured.ratios(figure, contenders).forEach(System.out::println);
				}
			}
		}
	}

	static Map<String, Double> measure(Scheduler contender, Sizes sizes) throws Exception {
		Alarms alarms = new Alarms();
		System.gc();
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				ConfigurableApplicationContext sender = Applications.start(redis.port(), new Object(),
						Scheduler.properties("sender", sizes.shards()))) {
			alarms.beginSetting(sizes.timers(), () -> Instant.now().plus(LATER));
			append(sender, sizes, 0, sizes.timers());
			Map<String, Double> figures;
			Runnable stop = contender.start(redis.port(), sizes.shards(), alarms);
			try {
				figures = measure(sender, alarms, sizes);
			}
			finally {
				stop.run();
			}
			alarms.verify();
			return figures;
		}
	}

	private static Map<String, Double> measure(ConfigurableApplicationContext sender, Alarms alarms, Sizes sizes)
			throws Exception {
		Map<String, Double> figures = new LinkedHashMap<>();
		double rate = alarms.awaitSet();
		figures.put(SET, rate);
		Instant due = Instant.now()
			.plusMillis(1000 + (long) (MARGIN * 1000 * sizes.timers() / rate))
			.truncatedTo(ChronoUnit.MILLIS);
		alarms.begin(sizes.timers(), () -> due);
		append(sender, sizes, sizes.timers(), 2 * sizes.timers());
		alarms.awaitSet();
		if (Instant.now().isAfter(due)) {
			throw new IllegalStateException("Timers were due before all were set: the machine has other work");
		}
		Duration firing = Duration.between(due, alarms.awaitFired());
		figures.put(FIRED, sizes.timers() * 1e9 / firing.toNanos());
		int first = 2 * sizes.timers();
		int end = first + sizes.rate() * sizes.seconds();
		alarms.begin(end - first, () -> Instant.now().plus(AHEAD));
		appendSteadily(sender, sizes, first, end);
		alarms.awaitFired();
		Samples lateness = alarms.latenessMillis(first, end);
		figures.put(LATENESS, lateness.median());
		figures.put(LATENESS_P99, lateness.quantile(0.99));
		figures.put("lateness, ms (longest)", lateness.highest());
		return figures;
	}

	private static void appendSteadily(ConfigurableApplicationContext sender, Sizes sizes, int first, int end) {
		long begin = System.nanoTime();
		for (int number = first; number < end; number++) {
			long intended = begin + (number - first) * 1_000_000_000L / sizes.rate();
			for (long left = intended - System.nanoTime(); left > 0; left = intended - System.nanoTime()) {
				LockSupport.parkNanos(left);
			}
			append(sender, sizes, number, number + 1);
		}
	}

	private static void append(ConfigurableApplicationContext sender, Sizes sizes, int first, int end) {
		List<NewRecord> records = new ArrayList<>();
		for (int number = first; number < end; number++) {
			records.add(new NewRecord(ShardId.of(Scheduler.TOPIC, number % sizes.shards()), String.valueOf(number),
					Scheduler.payload(number)));
			if (records.size() == APPENDED_AT_ONCE) {
				Applications.append(sender, records);
				records.clear();
			}
		}
		Applications.append(sender, records);
	}

	/**
	 * Sizes of each run.
	 *
	 * @param timers the number of timers that are set, and of those that fire at once
	 * @param rate the steady rate, in timers per second
	 */
	record Sizes(int shards, int timers, int rate, int seconds) {
	}

}
