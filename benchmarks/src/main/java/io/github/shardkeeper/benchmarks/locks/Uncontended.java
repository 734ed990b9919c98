package io.github.shardkeeper.benchmarks.locks;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * One thread that locks and unlocks a lock that nobody else wants. Confined to its
 * thread.
 */
final class Uncontended {

	private final Map<Contender, Samples> micros = new EnumMap<>(Contender.class);

	private final Map<Contender, Samples> processorMicros = new EnumMap<>(Contender.class);

	private final Map<Contender, Samples> redisMicros = new EnumMap<>(Contender.class);

	/**
	 * Measures it.
	 * @param pairs the number of times in a round
	 * @param raw receives the figures of each round
	 */
	static Uncontended measure(List<Contender> contenders, Processes processes, RedisFigures redis, int pairs,
			int warmUp, int rounds, Consumer<String> raw) throws Exception {
		Uncontended measured = new Uncontended();
		Processes.alternate(contenders, warmUp, rounds, (contender, round) -> {
			ChildProcess process = processes.first(contender);
			double redisMillis = redis.processorMillis();
			process.request(LockProcess.uncontendedRequest(pairs));
			Map<String, Double> figures = process.await();
			double redisMicros = 1000 * (redis.processorMillis() - redisMillis) / pairs;
			if (round > 0) {
				double micros = figures.get("micros");
				double processorMicros = figures.get("processorMicros");
				measured.add(contender, micros, processorMicros, redisMicros);
				raw.accept(String.format(Locale.ROOT, "uncontended,\"%s\",0,%d,%.1f,,,,,%.1f,%.1f,%.2f",
						contender.text(), round, micros, processorMicros, redisMicros, Machine.load()));
			}
		});
		return measured;
	}

	void add(Contender contender, double micros, double processorMicros, double redisMicros) {
		this.micros.computeIfAbsent(contender, (unseen) -> new Samples()).add(micros);
		this.processorMicros.computeIfAbsent(contender, (unseen) -> new Samples()).add(processorMicros);
		this.redisMicros.computeIfAbsent(contender, (unseen) -> new Samples()).add(redisMicros);
	}

	List<String> lines() {
		List<String> lines = new ArrayList<>(List.of("",
				"| nobody else wants the lock | us per lock and unlock, times Shardkeeper's: median (lowest-highest round) | us per lock and unlock: median | lowest-highest | its processor, us: median | Redis' processor, us: median |",
				"|---|---:|---:|---:|---:|---:|"));
		Samples ours = this.micros.get(Contender.SHARDKEEPER);
		this.micros.forEach((contender, samples) -> {
			String times = "–";
			if (ours != null) {
				Samples ratios = samples.dividedBy(ours);
				times = String.format(Locale.ROOT, "%.2f (%.2f-%.2f)", ratios.median(), ratios.lowest(),
						ratios.highest());
			}
			lines.add(String.format(Locale.ROOT, "| %s | %s | %.0f | %.0f-%.0f | %.0f | %.0f |", contender.text(),
					times, samples.median(), samples.lowest(), samples.highest(),
					this.processorMicros.get(contender).median(), this.redisMicros.get(contender).median()));
		});
		return lines;
	}

	void addGoals(GoalTable goals) {
		Fastest.of(this.micros, Samples::median)
			.ifPresent((fastest) -> goals.atMost("uncontended: us, beside " + fastest.peer().text(), fastest.ours(),
					fastest.figure()));
	}

}
