package io.github.shardkeeper.benchmarks.latency;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * The time from the sending of a record to the call of its handler, at a rate that leaves
 * the machine idle most of the time. Contenders run one after the other, each with fresh
 * processes, in every second round in reverse order.
 */
public final class LatencyBenchmark implements Benchmark {

	static final List<String> COLUMNS = List.of("contender", "instances", "round", "records", "p50_micros",
			"p99_micros", "p999_micros", "max_micros", "warm_up_seconds", "compilation_millis", "load_average");

	private static final Path RAW_FIGURES = Path.of("latency.csv");

	/** So that the compiler has seen enough calls. */
	private static final int WARM_UP_TIMES = 4;

	private static final double MEDIAN_LIMIT = 1.2;

	private static final double P99_LIMIT = 1.5;

	@Override
	public String description() {
		return """
				Time from the sending of a record to its handler, beside bare Lettuce, Spring Data Redis and Kafka.
				--shards=32 --rate=1000 (records per second) --instances=1,3 --rounds=1
				--seconds=8 --contenders=… (parts of their names)
				--warm-up=40 (seconds at most, at four times the rate, and half as many at the rate itself: each
				ends when hardly anything is compiled any more)
				The raw figures are left in latency.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "rate", "instances", "rounds", "seconds", "warm-up", "contenders"));
		Sizes sizes = new Sizes(options.number("shards", 32, 1), options.number("rate", 1000, 1),
				options.number("seconds", 8, 1), options.number("warm-up", 40), options.number("rounds", 1, 1));
		List<Integer> instances = options.numbers("instances", List.of(1, 3), 1);
		List<Contender> contenders = options.matching("contenders", List.of(Contender.values()), Contender::text);
		try (RedisProcess redis = RedisProcess.start()) {
			System.out.printf("%n%s%n",
					Machine.describeWith("Redis " + redis.version() + ", " + KafkaProcess.version()));
		}
		System.out.printf(Locale.ROOT, "%d shards, %,d records of %d bytes per second, %d rounds of %d s%n",
				sizes.shards(), sizes.rate(), Payloads.BYTES, sizes.rounds(), sizes.seconds());
		try (RawFigures raw = new RawFigures(RAW_FIGURES, COLUMNS)) {
			measure(contenders, instances, sizes, raw).forEach(System.out::println);
		}
	}

	static List<String> measure(List<Contender> contenders, List<Integer> instances, Sizes sizes, Consumer<String> raw)
			throws Exception {
		List<String> lines = new ArrayList<>();
		GoalTable goals = new GoalTable("times as long as bare XREAD: median of the rounds", "at most");
		for (int number : instances) {
			Map<Contender, Figures> measured = measure(contenders, number, sizes, raw);
			lines.addAll(table(number, measured));
			Figures bare = measured.get(Contender.BARE);
			Figures ours = measured.get(Contender.SHARDKEEPER);
			if (bare != null && ours != null) {
				goals.atMost(title(number) + ", median", ours.median().dividedBy(bare.median()).median(), MEDIAN_LIMIT);
				goals.atMost(title(number) + ", 99 %", ours.p99().dividedBy(bare.p99()).median(), P99_LIMIT);
			}
		}
		lines.addAll(goals.lines());
		return lines;
	}

	private static Map<Contender, Figures> measure(List<Contender> contenders, int instances, Sizes sizes,
			Consumer<String> raw) throws Exception {
		Map<Contender, Figures> measured = new EnumMap<>(Contender.class);
		List<Contender> order = new ArrayList<>(contenders);
		for (int round = 1; round <= sizes.rounds(); round++) {
			for (Contender contender : order) {
				Round one = once(contender, instances, sizes);
				long[] nanos = one.sortedNanos();
				Figures figures = measured.computeIfAbsent(contender, (unseen) -> new Figures());
				figures.add(nanos);
				String line = String.format(Locale.ROOT, "%.1f,%.1f,%.1f,%.1f", micros(nanos, 0.5), micros(nanos, 0.99),
						micros(nanos, 0.999), micros(nanos, 1));
				raw.accept(String.format(Locale.ROOT, "\"%s\",%d,%d,%d,%s,%d,%d,%.2f", contender.text(), instances,
						round, nanos.length, line, one.warmUpSeconds(), one.compilationMillis(), Machine.load()));
				System.out.printf(
						"  %s, round %d: %s us (median, 99 %%, 99.9 %%, longest), after %d s, %d ms compiled  %s%n",
						title(instances), round, line, one.warmUpSeconds(), one.compilationMillis(), contender.text());
			}
			Collections.reverse(order);
		}
		return measured;
	}

	private static Round once(Contender contender, int instances, Sizes sizes) throws Exception {
		try (Run run = new Run(contender, sizes.shards(), instances)) {
			int warmUp = run.warmUp(sizes.rate() * WARM_UP_TIMES, sizes.warmUpSeconds());
			warmUp += run.warmUp(sizes.rate(), sizes.warmUpSeconds() / 2);
			long before = run.compilationMillis();
			long[] nanos = run.latencies(sizes.rate() * sizes.seconds(), sizes.rate());
			return new Round(nanos, warmUp, run.compilationMillis() - before);
		}
	}

	private static String title(int instances) {
		return (instances == 1) ? "one instance" : instances + " instances";
	}

	private static List<String> table(int instances, Map<Contender, Figures> measured) {
		List<String> lines = new ArrayList<>(List.of("", "| " + title(instances)
				+ " | times as long as bare XREAD, median: median (lowest-highest round) | 99 % | us: median | 99 % | 99.9 % | longest |",
				"|---|---:|---:|---:|---:|---:|---:|"));
		Figures bare = measured.get(Contender.BARE);
		measured.forEach((contender,
				figures) -> lines.add(String.format(Locale.ROOT, "| %s | %s | %s | %,.0f | %,.0f | %,.0f | %,.0f |",
						contender.text(), ratio(figures.median(), (bare != null) ? bare.median() : null),
						ratio(figures.p99(), (bare != null) ? bare.p99() : null), figures.median().median(),
						figures.p99().median(), figures.p999().median(), figures.longest().highest())));
		return lines;
	}

	private static String ratio(Samples figures, Samples bare) {
		if (bare == null) {
			return "–";
		}
		Samples ratios = figures.dividedBy(bare);
		return String.format(Locale.ROOT, "%.2f (%.2f-%.2f)", ratios.median(), ratios.lowest(), ratios.highest());
	}

	/** Returns the latency that a part of all does not exceed. */
	static double micros(long[] sortedNanos, double part) {
		int index = (int) Math.ceil(part * sortedNanos.length) - 1;
		return sortedNanos[Math.max(0, index)] / 1e3;
	}

	/**
	 * What one run has shown.
	 *
	 * @param compilationMillis the time of all compilers meanwhile
	 */
	private record Round(long[] sortedNanos, int warmUpSeconds, long compilationMillis) {

	}

	/**
	 * Sizes of each run.
	 *
	 * @param rate records per second
	 * @param warmUpSeconds at most
	 */
	record Sizes(int shards, int rate, int seconds, int warmUpSeconds, int rounds) {

	}

	/** Figures of a contender in microseconds, round by round. */
	private record Figures(Samples median, Samples p99, Samples p999, Samples longest) {

		Figures() {
			this(new Samples(), new Samples(), new Samples(), new Samples());
		}

		void add(long[] sortedNanos) {
			this.median.add(micros(sortedNanos, 0.5));
			this.p99.add(micros(sortedNanos, 0.99));
			this.p999.add(micros(sortedNanos, 0.999));
			this.longest.add(micros(sortedNanos, 1));
		}

	}

}
