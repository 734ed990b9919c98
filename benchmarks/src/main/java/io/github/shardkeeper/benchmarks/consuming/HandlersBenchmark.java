package io.github.shardkeeper.benchmarks.consuming;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.consuming.HandlerProcess.HandlerKind;

/**
 * What a handler's state, and web and actuator on the class path, cost of the records per
 * second. Each contender has a process of its own for the whole run, which reads all
 * records in every round; every second round has the reverse order.
 */
public final class HandlersBenchmark implements Benchmark {

	private static final Path RAW_FIGURES = Path.of("handlers.csv");

	@Override
	public String description() {
		return """
				Records per second by what a handler keeps, with and without web and actuator.
				--shards=32 --records=800000 --rounds=5 --warm-up=2
				The raw figures are left in handlers.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "records", "rounds", "warm-up"));
		int shards = options.number("shards", 32, 1);
		int records = options.number("records", 800_000, shards);
		int warmUp = options.number("warm-up", 2);
		int rounds = options.number("rounds", 5, 1);
		try (RedisProcess redis = RedisProcess.start();
				RawFigures raw = new RawFigures(RAW_FIGURES, List.of("application", "state", "round",
						"records_per_second", "processor_micros_per_record", "load_average"))) {
			System.out.printf("%n%s%n", Machine.describe(redis.version()));
			System.out.printf(Locale.ROOT, "%d shards, %,d records of %d bytes, %d rounds after %d for warming up%n",
					shards, records, Records.PAYLOAD_BYTES, rounds, warmUp);
			Streams streams = new Streams(redis, "records", shards, records / shards);
			streams.fill();
			lines(measure(streams, warmUp, rounds, raw)).forEach(System.out::println);
		}
	}

	static List<Contender> contenders() {
		List<Contender> all = new ArrayList<>();
		for (boolean withActuator : List.of(false, true)) {
			for (HandlerKind handler : HandlerKind.values()) {
				all.add(new Contender(withActuator, handler));
			}
		}
		return all;
	}

	static Map<Contender, Figures> measure(Streams streams, int warmUp, int rounds, RawFigures raw) throws Exception {
		Map<Contender, Figures> measured = new LinkedHashMap<>();
		Map<Contender, ChildProcess> processes = new LinkedHashMap<>();
		try {
			for (Contender contender : contenders()) {
				processes.put(contender, contender.start(streams));
				measured.put(contender, new Figures());
			}
			List<Contender> order = new ArrayList<>(processes.keySet());
			for (int round = 1 - warmUp; round <= rounds; round++) {
				for (Contender contender : order) {
					ChildProcess process = processes.get(contender);
					process.request("%s-%d".formatted(contender.group(), round));
					Map<String, Double> figures = process.await();
					System.out.printf(Locale.ROOT, "  round %2d  %,9.0f/s  %5.2f us CPU  %s%n", round,
							figures.get("rate"), figures.get("micros"), contender.text());
					if (round > 0) {
						measured.get(contender).rates().add(figures.get("rate"));
						measured.get(contender).processorMicros().add(figures.get("micros"));
						raw.accept(String.format(Locale.ROOT, "%s,\"%s\",%d,%.0f,%.3f,%.2f",
								contender.withActuator() ? "actuator" : "plain", contender.handler().text(), round,
								figures.get("rate"), figures.get("micros"), Machine.load()));
					}
				}
				Collections.reverse(order);
			}
		}
		finally {
			processes.values().forEach(ChildProcess::close);
		}
		return measured;
	}

	static List<String> lines(Map<Contender, Figures> measured) {
		List<String> lines = new ArrayList<>(List.of("",
				"| one record per call | times as fast as without state: median (lowest-highest round) | times as fast as without actuator | records/s (median) | lowest-highest | processor time per record, us |",
				"|---|---:|---:|---:|---:|---:|"));
		measured.forEach((contender,
				figures) -> lines.add(String.format(Locale.ROOT, "| %s | %s | %s | %,.0f | %,.0f-%,.0f | %.2f |",
						contender.text(), text(contender.withoutState(measured)),
						contender.withActuator() ? text(contender.withoutActuator(measured)) : "",
						figures.rates().median(), figures.rates().lowest(), figures.rates().highest(),
						figures.processorMicros().median())));
		GoalTable goals = new GoalTable("times as fast", "at least");
		goals.atLeast("with web, actuator and Prometheus, beside without",
				new Contender(true, HandlerKind.NO_STATE).withoutActuator(measured).median(), 0.85);
		for (Contender contender : contenders()) {
			switch (contender.handler()) {
				case TYPED -> goals.atLeast(contender.text() + ", beside no state",
						contender.withoutState(measured).median(), 0.8);
				case RECORD -> goals.atLeast(contender.text() + ", beside no state",
						contender.withoutState(measured).median(), 0.6);
				default -> {
				}
			}
		}
		lines.addAll(goals.lines());
		return lines;
	}

	private static String text(Samples ratios) {
		return String.format(Locale.ROOT, "%.2f (%.2f-%.2f)", ratios.median(), ratios.lowest(), ratios.highest());
	}

	/**
	 * An application.
	 *
	 * @param withActuator whether web, actuator and a registry for Prometheus are on its
	 * class path
	 * @param handler its handler
	 */
	record Contender(boolean withActuator, HandlerKind handler) {

		String text() {
			return this.handler.text() + (this.withActuator ? ", with web and actuator" : "");
		}

		String group() {
			return this.handler.name().toLowerCase(Locale.ROOT) + (this.withActuator ? "-actuator" : "-plain");
		}

		ChildProcess start(Streams streams) throws IOException {
			List<String> classPath = this.withActuator ? ClassPath.allEntries() : ClassPath.entries();
			return ChildProcess.start(classPath, HandlerProcess.class, Integer.toString(streams.redis().port()),
					streams.topic(), Integer.toString(streams.shards()), Integer.toString(streams.recordsPerShard()),
					this.handler.name());
		}

		Samples withoutState(Map<Contender, Figures> measured) {
			return rates(measured, this)
				.dividedBy(rates(measured, new Contender(this.withActuator, HandlerKind.NO_STATE)));
		}

		Samples withoutActuator(Map<Contender, Figures> measured) {
			return rates(measured, this).dividedBy(rates(measured, new Contender(false, this.handler)));
		}

		private static Samples rates(Map<Contender, Figures> measured, Contender contender) {
			return measured.get(contender).rates();
		}

	}

}
