package io.github.shardkeeper.benchmarks.assignment;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Options;

/**
 * Runs {@link AssignmentBenchmark} and prints a table: for each group the time of each
 * contender beside that of Kafka's group coordinator, the moves beside the fewest that
 * are possible, and what a plan allocates. The raw figures are left in
 * {@code assignment.json}.
 */
public final class AssignmentBenchmarks implements Benchmark {

	/** Our own strategies that are not measured at every size. */
	static final String[] OTHERS = { "Shardkeeper: range", "Shardkeeper: round-robin", "Shardkeeper: circle",
			"Shardkeeper: consistent-hash", "Shardkeeper: incremental" };

	private static final List<String> EVENTS = List.of(Scenario.FRESH, Scenario.LEFT, Scenario.JOINED);

	@Override
	public String description() {
		return """
				The time and the moves of one plan of a whole group, beside Kafka's assignors.
				[sizes, such as 1000x100000]
				The raw figures are left in assignment.json.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws RunnerException {
		options.requireOnly(Set.of(), Scenario.SIZE, "1000x100000");
		String[] sizes = options.words().toArray(String[]::new);
		List<RunResult> results = new ArrayList<>(new Runner(options("assignment.json", sizes).build()).run());
		if (sizes.length == 0) {
			results
				.addAll(new Runner(options("assignment-other.json", "1000x100000").param("contender", OTHERS).build())
					.run());
		}
		System.out.printf("%s, %s, %d processors%n", System.getProperty("java.vm.name"), Runtime.version(),
				Runtime.getRuntime().availableProcessors());
		results.sort(Comparator.<RunResult>comparingInt((result) -> param(result, "size").length())
			.thenComparingInt((result) -> EVENTS.indexOf(param(result, "event"))));
		table(results).forEach(System.out::println);
	}

	private static ChainedOptionsBuilder options(String file, String... sizes) {
		ChainedOptionsBuilder options = new OptionsBuilder().include(AssignmentBenchmark.class.getName())
			.addProfiler(GCProfiler.class)
			.shouldFailOnError(true)
			.resultFormat(ResultFormatType.JSON)
			.result(file)
			.verbosity(VerboseMode.SILENT);
		if (sizes.length > 0) {
			options.param("size", sizes);
		}
		return options;
	}

	private static List<String> table(Collection<RunResult> results) {
		Map<String, Double> uniform = new LinkedHashMap<>();
		for (RunResult result : results) {
			if (param(result, "contender").equals(Contender.UNIFORM)) {
				uniform.put(group(result), median(result.getPrimaryResult()));
			}
		}
		List<String> lines = new ArrayList<>();
		lines.add(
				"| members x shards | event | contender | ms (median) | lowest-highest | times uniform | moves (fewest) | MB allocated |");
		lines.add("|---|---|---|---:|---:|---:|---:|---:|");
		for (RunResult result : results) {
			lines.add(line(result, uniform.getOrDefault(group(result), Double.NaN)));
		}
		return lines;
	}

	private static String line(RunResult result, double uniform) {
		Scenario scenario = Scenario.of(param(result, "size"), param(result, "event"), param(result, "contender"));
		Contender contender = Contender.of(param(result, "contender"), scenario);
		int moves = scenario.moves(contender.owners(contender.plan()));
		Result<?> time = result.getPrimaryResult();
		double bytes = result.getSecondaryResults().get("gc.alloc.rate.norm").getScore();
		return String.format(Locale.ROOT, "| %s | %s | %s | %.2f | %.2f-%.2f | %.2f | %,d (%,d) | %.1f |",
				param(result, "size"), param(result, "event"), param(result, "contender"), median(time) / 1000,
				time.getStatistics().getMin() / 1000, time.getStatistics().getMax() / 1000, median(time) / uniform,
				moves, scenario.fewestMoves(), bytes / 1e6);
	}

	private static double median(Result<?> result) {
		return result.getStatistics().getPercentile(50);
	}

	private static String group(RunResult result) {
		return param(result, "size") + param(result, "event");
	}

	private static String param(RunResult result, String name) {
		return result.getParams().getParam(name);
	}

}
